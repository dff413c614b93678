"""Which recipe, which runs next: against exact cases and slow twins."""

import json

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import sparselaw as sl
from oracles.deciding import of_draws
from oracles.deciding import variance_after as slow_variance_after
from sparselaw.arrays import on_one_thread
from sparselaw.cli import main
from sparselaw.costs import parse_cost
from sparselaw.deciding import compare, next_runs
from sparselaw.deciding.compare import short_names, weighted_quantiles
from sparselaw.deciding.designs import Target, best_set, variance_after
from sparselaw.deciding.next_runs import candidates
from sparselaw.deciding.recipes import REACH, prior_of
from sparselaw.errors import InputError
from sparselaw.planning.forecast_budgets import prepare_forecast

N, D = (grid.ravel() for grid in np.meshgrid(np.geomspace(5e7, 2e9, 5), np.geomspace(1e9, 6e10, 5)))


def table(scale=1.0, noise=0.002, seed=0):
    """A recipe that makes each parameter count ``scale`` times: the compute multiplier is ``scale``."""
    loss = 1.8 + ((400 * (scale * N) ** -0.34) ** 2 + (1100 * D**-0.36) ** 2) ** 0.5
    drawn = np.random.default_rng(seed).standard_normal(N.size)
    return {"N": N, "D": D, "loss": loss * np.exp(noise * drawn)}


@pytest.fixture(scope="module")
def prepared():
    return prepare_forecast(table())


def test_further_runs_teach_what_conditioning_says(prepared):
    target = Target(
        N=np.array([7e9, 3e9]), D=np.array([1.4e11, 3e10]), weights=np.array([[1.0, 0.0], [-0.5, 0.5]])
    )
    new = np.array([4e9, 1e8]), np.array([6e10, 2e11])
    for n, d in ((new[0][:0], new[1][:0]), new):
        fast = variance_after(prepared.posterior, target, n, d)
        assert np.allclose(fast, slow_variance_after(prepared.posterior, target, n, d), rtol=1e-6)
    before, after = (
        variance_after(prepared.posterior, target, *one) for one in ((new[0][:0], new[1][:0]), new)
    )
    assert np.all(after < before)
    assert np.allclose(before, variance_after(prepared.posterior, target))


def test_the_first_run_is_the_best_of_all(prepared):
    target = Target(N=np.array([7e9]), D=np.array([1.4e11]), weights=np.eye(1))
    n, d, prices = candidates(prepared.runs, None, parse_cost("6nd"), 1e21)
    (chosen,) = best_set(prepared.posterior, target, n, d, prices, 1e21, 1)
    left = [variance_after(prepared.posterior, target, n[[i]], d[[i]])[0] for i in range(n.size)]
    assert left[chosen] <= 1.1 * min(left)  # greedy steps keep the frontier where it is
    assert left[chosen] < 0.8 * np.median(left)


def test_runs_cost_what_is_said_and_narrow_the_interval():
    found = next_runs(table(), at=[(7e9, 1.4e11)], spend=1e21, most=3)
    assert found.spent == pytest.approx(sum(6 * run.N * run.D for run in found.runs))
    assert found.spent <= 1e21
    assert len(found.runs) <= 3
    widths = [found.width_before, *(run.width_after for run in found.runs)]
    assert widths == sorted(widths, reverse=True)
    assert found.width_after <= found.width_single <= found.width_before
    assert found.width_after < found.width_repeated


def test_the_list_is_the_shortest_that_comes_near_the_best():
    """Up to eight runs for this money; those listed come within 5 %, and none of them can be spared."""
    found = next_runs(table(noise=0.004), at=[(7e9, 1.4e11)], spend=2e21)
    prepared = prepare_forecast(table(noise=0.004))
    target = Target(N=np.array([7e9]), D=np.array([1.4e11]), weights=np.eye(1))

    def width(*runs):
        left = variance_after(prepared.posterior, target, *runs)[0]
        half = prepared.predictive.calibration.half_width(0.95)
        return 2.0 * np.sinh(half * np.sqrt(left + prepared.posterior.run_noise[0] ** 2))

    n, d, prices = candidates(prepared.runs, None, parse_cost("6nd"), 2e21)
    best = best_set(prepared.posterior, target, n, d, prices, 2e21, 8)
    chosen = np.array([(one.N, one.D) for one in found.runs])
    assert 1 < len(chosen) < len(best)
    least = min(width(n[best], d[best]), found.width_single)
    assert width(*chosen.T) == pytest.approx(found.width_after, rel=0.02)  # of the components that matter
    assert found.width_after <= 1.02 * least / 0.95
    for i in range(len(chosen)):
        assert width(*np.delete(chosen, i, axis=0).T) > 0.98 * least / 0.95


def test_without_a_sum_a_tenth_is_spent_or_the_least_that_helps():
    there = [(7e9, 1.4e11)]
    assert next_runs(table(), at=there).spend == pytest.approx(0.6 * 7e9 * 1.4e11)
    near = [(2e9, 6e10)]  # a tenth of it teaches nothing: the least that helps is asked for, and works
    with pytest.raises(InputError, match="spend at least") as refused:
        next_runs(table(), at=near, spend=0.6 * 2e9 * 6e10)
    found = next_runs(table(), at=near)
    least = float(str(refused.value).partition("spend at least ")[2].split()[0])
    assert found.spend <= least <= 1.01 * found.spend
    assert next_runs(table(), at=near, spend=least).width_after <= 0.95 * found.width_before


def test_a_plan_gives_away_less_afterwards():
    found = next_runs(table(), budget=1e22, spend=1e21, purpose="plan")
    assert 0.0 < found.regret_after < found.regret_before
    assert found.width_after < found.width_before


def test_only_sizes_that_exist_are_run():
    found = next_runs(table(), at=[(7e9, 1.4e11)], spend=3e21, sizes=[3e9, 6e9])
    assert {run.N for run in found.runs} <= {3e9, 6e9}
    pairs = [(3e9, 4e10), (6e9, 5e10)]
    found = next_runs(table(), at=[(7e9, 1.4e11)], spend=3e21, sizes=pairs)
    assert {(run.N, run.D) for run in found.runs} <= set(pairs)


@pytest.fixture(scope="module")
def contest():
    return compare(table(1.5), table(1.0, seed=1), budget=[1e20, 1e21])


def test_a_known_multiplier_is_found(contest):
    inside = contest.points[0]
    assert inside.multiplier.contains(1.5)
    assert not inside.multiplier.contains(1.0)  # a planted error: recipes taken for the same
    assert inside.probability > 0.99
    assert inside.difference.high < 0.0
    far = contest.points[1]
    assert far.difference.high - far.difference.low > inside.difference.high - inside.difference.low


def test_a_multiplier_out_of_reach_is_said_by_its_side():
    worse = table(1.0, seed=1)
    worse["loss"] = worse["loss"] + 1.5
    for found, says in (
        (compare(table(), worse, budget=1e21), "more than 30"),
        (compare(worse, table(), at=[(2e9, 5e10)]), "less than 0.033"),
    ):
        assert f"needs {says} times the compute" in str(found)
        multiplier = found.as_dict()["points"][0]["multiplier"]
        assert multiplier["best"] is None
        assert multiplier["best_reason"] == "the multiplier lies beyond a factor of 30"


def test_draws_are_counted_by_the_prior_on_the_multiplier():
    """Against a sum over sorted draws; infinite multipliers count as those at the end of the reach."""
    generator = np.random.default_rng(3)
    values, logs = generator.standard_normal((2, 301))
    logs[:20], logs[20:40] = np.inf, -np.inf
    ends = [0.025, 0.5, 0.975]
    for of in (values, logs):
        fast = weighted_quantiles(of[:, None], prior_of(logs[:, None]), ends)[:, 0]
        assert fast.tolist() == of_draws(of, logs, 0.3, REACH, ends)
    assert weighted_quantiles(values[:, None], np.ones((301, 1)), ends)[:, 0].tolist() != fast.tolist()


def test_a_difference_that_may_be_chance_is_believed_less_than_without_a_prior(monkeypatch):
    pair = table(1.08, noise=0.004, seed=2), table(1.0, noise=0.004, seed=5)
    found = compare(*pair, budget=1e22).points[0]
    monkeypatch.setattr("sparselaw.deciding.recipes.USUAL", 1e6)
    flat = compare(*pair, budget=1e22).points[0]
    assert abs(found.probability - 0.5) < 0.97 * abs(flat.probability - 0.5)
    widths = [np.log(point.multiplier.high / point.multiplier.low) for point in (found, flat)]
    assert widths[0] < 0.95 * widths[1]


def test_files_are_called_by_what_tells_them_apart(files, capsys):
    paths = ["sweep_opt_adamw_best.csv", "sweep_opt_muon_best.csv"]
    for path, own in zip(paths, ("a.csv", "b.csv"), strict=True):
        (files / path).write_text((files / own).read_text())
    assert run(["compare", *(str(files / path) for path in paths), "--budget", "1e21"]) == 0
    said = capsys.readouterr().out
    assert "adamw - muon" in said
    assert "opt_" not in said.rpartition("next: ")[0]
    assert short_names(["x/a.csv", "x/a.csv"]) == ["x a (1)", "x a (2)"]
    long = short_names([f"{letter * 30}.csv" for letter in "ab"])
    assert [len(name) for name in long] == [21, 21]


def test_a_row_far_off_is_named():
    odd = table(1.0, seed=1)
    odd["loss"] = np.where(np.arange(N.size) == 7, 3.0 * odd["loss"], odd["loss"])
    said = compare(table(), odd, budget=1e21).warnings
    assert any(words.startswith("B: far from the law, and hardly counted (row 8: ") for words in said)


def test_a_joint_posterior_knows_the_difference_better_than_two(contest):
    both = [
        sl.forecast(one, at=[contest.points[1].sizes[0]]).points[0]
        for one in (table(1.5), table(1.0, seed=1))
    ]
    apart = np.hypot(*(one.loss.high - one.loss.low for one in both))
    joint = contest.points[1].difference
    assert joint.high - joint.low < 0.8 * apart


def test_changing_sides_turns_the_answer_round(contest):
    turned = compare(table(1.0, seed=1), table(1.5), budget=[1e20]).points[0]
    assert turned.probability == pytest.approx(1.0 - contest.points[0].probability, abs=0.02)
    assert turned.difference.best == pytest.approx(-contest.points[0].difference.best, rel=0.1)
    assert turned.multiplier.best == pytest.approx(1.0 / contest.points[0].multiplier.best, rel=0.1)


def test_same_seed_same_numbers_whatever_the_order_of_the_rows():
    upside_down = {name: values[::-1] for name, values in table(1.5).items()}
    one, other = (compare(a, table(1.0, seed=1), at=[(3e9, 6e10)]) for a in (table(1.5), upside_down))
    assert one.as_dict() == other.as_dict()


def test_one_table_by_a_column_is_two_tables():
    frames = [table(1.5), table(1.0, seed=1)]
    joined = {name: np.concatenate([one[name] for one in frames]) for name in frames[0]}
    joined["recipe"] = ["x"] * N.size + ["y"] * N.size
    by = compare(joined, by="recipe", budget=1e20)
    assert by.contests[0].names == ("x", "y")
    assert by.points == compare(*frames, budget=1e20).points


def run(arguments):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    return stop.value.code


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    import pandas as pd

    folder = tmp_path_factory.mktemp("recipes")
    for name, scale, seed in (("a", 1.5, 0), ("b", 1.0, 1)):
        pd.DataFrame(table(scale, seed=seed)).to_csv(folder / f"{name}.csv", index=False)
    return folder


def test_commands_give_the_contract_and_pictures(files, capsys):
    a, b = str(files / "a.csv"), str(files / "b.csv")
    assert run(["compare", a, b, "--budget", "1e21", "--json", "--plot", str(files / "c.svg")]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {"points", "status", "warnings", "crossing"} <= set(answer)
    assert {"budget", "difference", "probability", "multiplier"} <= set(answer["points"][0])
    assert (
        run(
            [
                "next",
                a,
                "--at",
                "N=7e9,D=1.4e11",
                "--spend",
                "1e21",
                "--json",
                "--report",
                str(files / "n.html"),
            ]
        )
        == 0
    )
    answer = json.loads(capsys.readouterr().out)
    assert {"runs", "width_before", "width_after", "spent"} <= set(answer)
    assert {"N", "D", "cost", "width_after"} <= set(answer["runs"][0])
    assert (files / "c.svg").stat().st_size > 10_000
    assert "Runs to make next" in (files / "n.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["compare", "a", "a", "--budget", "1e21"], "same runs"),
        (["compare", "a", "--budget", "1e21"], "one recipe only"),
        (["compare", "a", "b"], "give --at N=..,D=.. or --budget C"),
        (["compare", "a", "b", "--budget", "1e9"], "below every run"),
        (["compare", "a", "b", "--by", "lr", "--budget", "1e21"], "splits one table"),
        (["compare", "a", "--by", "lr", "--budget", "1e21"], "lr"),
        (["next", "a", "--at", "N=7e9,D=1e11", "--spend", "1e3"], "below the cheapest"),
        (["next", "a", "--at", "N=7e9,D=1e11", "--spend", "1e17"], "spend at least"),
        (["next", "a", "--spend", "1e21"], "--at N=..,D=.. or --budget"),
        (["next", "a", "--at", "N=7e9,D=1e11", "--for", "plan", "--spend", "1e21"], "needs a budget"),
        (
            ["next", "a", "--at", "N=7e9,D=1e11", "--spend", "1e21", "--sizes", "x.csv"],
            "neither a list nor a file",
        ),
    ],
)
def test_bad_input_is_one_line(files, capsys, arguments, says):
    paths = {"a": str(files / "a.csv"), "b": str(files / "b.csv")}
    assert run([paths.get(word, word) for word in arguments]) == 2
    error = capsys.readouterr().err.strip().splitlines()
    assert len(error) == 1
    assert says in error[0]


def test_the_mean_of_one_recipe_is_that_of_the_whole_mixture(contest):
    posterior = contest.contests[0].recipes.posterior
    x = posterior.points(np.array([1e8, 3e9, 2e10]), np.array([4e10, 6e9, 4e11]))
    for recipe in (0, 1):
        assert np.allclose(posterior.means(x, recipe), posterior.mixture(x, recipe)[0], rtol=0, atol=1e-12)


def with_seeds(scale, share, own):
    """Three seeds at each size; ``share`` of the noise's variance is common to all recipes with the seed."""
    common, rest = (np.random.default_rng(s).standard_normal(3 * N.size) for s in (5, own))
    runs = {name: np.tile(values, 3) for name, values in table(scale, noise=0.0).items()}
    noise = np.sqrt(share) * common + np.sqrt(1.0 - share) * rest
    return runs | {"loss": runs["loss"] * np.exp(0.004 * noise), "seed": np.repeat([1, 2, 3], N.size)}


def test_runs_of_one_seed_share_their_noise():
    """Found where it is there, and the difference is then known better; not where seeds mean nothing."""
    pairs = [with_seeds(1.2, 0.8, 7), with_seeds(1.0, 0.8, 8)]
    found = compare(*pairs, budget=1e21)
    assert 0.6 < found.as_dict()["noise_correlation"] <= 0.9
    assert "also the seed" in found.contests[0].shared_words()
    unnamed = compare(*({n: v for n, v in one.items() if n != "seed"} for one in pairs), budget=1e21)
    widths = [one.points[0].difference.high - one.points[0].difference.low for one in (found, unnamed)]
    assert widths[0] < 0.9 * widths[1]
    assert (
        compare(with_seeds(1.2, 0.0, 7), with_seeds(1.0, 0.0, 8), budget=1e21).as_dict()["noise_correlation"]
        < 0.3
    )


def test_a_few_hundred_rows_are_for_one_thread():
    def threads():
        return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        assert on_one_thread(threads)() == {1}
        assert threads() == {2}


def test_rows_that_are_left_out_are_said():
    one, other = table(), table(1.3, seed=1)
    one["loss"][3] = np.nan
    assert any("1 row dropped" in said for said in next_runs(one, at=[(7e9, 1.4e11)], spend=1e21).warnings)
    said = compare(one, other, budget=1e21, names=["new", "old"]).warnings
    assert [words for words in said if "dropped" in words] == ["new: 1 row dropped: loss missing"]


@pytest.mark.parametrize(("scale", "next_step"), [(1.0, "sparselaw next "), (1.5, "sparselaw plan ")])
def test_the_next_step_is_a_plan_only_where_one_recipe_is_better(tmp_path, capsys, scale, next_step):
    files = []
    for name, runs in (("a", table(scale, seed=3)), ("b", table(1.0, seed=4))):
        files.append(str(tmp_path / f"{name}.csv"))
        rows = zip(*runs.values(), strict=True)
        text = "N,D,loss\n" + "".join(f"{n!r},{d!r},{loss!r}\n" for n, d, loss in np.array([*rows]).tolist())
        (tmp_path / f"{name}.csv").write_text(text)
    with pytest.raises(SystemExit):
        main(["compare", *files, "--budget", "1e20"])
    assert next_step in capsys.readouterr().out.splitlines()[-1]


def test_a_tenth_of_a_cheap_target_buys_nothing_and_the_least_that_helps_is_spent():
    found = next_runs(table(), at=[(6e7, 1.2e9)])
    assert found.runs
    assert found.spend > 0.1 * 6 * 6e7 * 1.2e9
