"""Plans from the forecast of runs: one loss everywhere, intervals from draws, the valley, what is said."""

import json

import numpy as np
import pytest

import sparselaw as sl
from sparselaw.cli import main
from sparselaw.costs import parse_cost
from sparselaw.fitting import fit
from sparselaw.forecasting import known_runs, predictive, prepare
from sparselaw.laws import CoupledLaw
from sparselaw.planning import allocate, best_sizes, plan, plan_ahead
from sparselaw.planning.budget_curves import valley_of
from sparselaw.planning.from_runs import DRAWS, PART, best_along, lowest, runs_source

TRUTH = CoupledLaw(E=1.7, A=400.0, B=1500.0, alpha=0.33, beta=0.34, g=0.5)
BUDGET = 1e22


def table(seed=0, noise=0.003, law=TRUTH):
    """Six sizes at each of six budgets."""
    C = np.repeat(np.geomspace(1e18, 3e20, 6), 6)
    N = np.sqrt(C / 120.0) * np.tile(np.geomspace(0.25, 4.0, 6), 6)
    D = C / (6.0 * N)
    generator = np.random.Generator(np.random.PCG64(seed))
    return {"N": N, "D": D, "loss": law.loss(N, D) * np.exp(noise * generator.standard_normal(36))}


@pytest.fixture(scope="module")
def runs():
    return known_runs(**table())


@pytest.fixture(scope="module")
def known(runs):
    return predictive(runs)[0]


@pytest.fixture(scope="module")
def found():
    return plan(table(), budget=BUDGET)


def test_the_best_place_is_the_lowest_of_the_forecast(known, found):
    """No place of a fine scan of the forecast's own curve is lower; the true best N lies inside."""
    N = found.N.best * np.geomspace(0.2, 5.0, 2001)
    curve, _ = known.centre_and_scale(N, BUDGET / (6.0 * N))
    assert found.N.best == pytest.approx(N[curve.argmin()], rel=5e-3)
    assert 6.0 * found.N.best * found.D.best == pytest.approx(BUDGET)
    best = allocate(TRUTH.loss, parse_cost("6nd"), BUDGET).best
    assert found.N.contains(best.N)
    assert found.D.contains(best.D)
    assert found.loss.contains(best.loss)
    assert found.N.high / found.N.low < 5.0


def test_intervals_are_those_of_draws_one_by_one(runs, known, found):
    """The lowest place of each draw by a parabola of numpy's own; quantiles of all of them."""
    along, _ = best_along(runs, known, parse_cost("6nd"), BUDGET)
    drawn = known.log_draws(along, BUDGET / 6.0 / along, DRAWS, part=PART, noise=False)
    places = []
    for curve in drawn:
        i = int(np.clip(curve.argmin(), 1, len(curve) - 2))
        x = np.log(along[i - 1 : i + 2])
        c2, c1, _ = np.polyfit(x - x[1], curve[i - 1 : i + 2] - curve[i], 2)
        places.append(np.exp(x[1] - 0.5 * c1 / c2))
    low, high = np.quantile(places, [0.025, 0.975])
    assert [found.N.low, found.N.high] == pytest.approx([low, high], rel=1e-4)
    assert found.D.low == pytest.approx(BUDGET / 6.0 / high, rel=1e-4)
    ratios = [BUDGET / 6.0 / n**2 for n in places]
    assert found.tokens_per_parameter.low == pytest.approx(np.quantile(ratios, 0.025), rel=1e-3)
    narrow = plan(table(), budget=BUDGET, level=0.5)
    assert found.N.low < narrow.N.low <= narrow.N.best == found.N.best <= narrow.N.high < found.N.high
    assert narrow.loss.high - narrow.loss.low < found.loss.high - found.loss.low


def test_one_loss_everywhere(known, found):
    """Headline, table of wrong N, forecast by budget and by sizes: the same number."""
    by_budget = sl.forecast(table(), budget=BUDGET).points[0]
    assert (by_budget.N, by_budget.D) == (found.N.best, found.D.best)
    assert by_budget.loss == found.loss == found.law_loss
    profile = found.isoflop
    assert profile.loss[profile.factor == 1.0][0] == pytest.approx(found.loss.best)
    for n, d, loss in zip(profile.N, profile.D, profile.loss, strict=True):
        assert known.intervals(np.array([n]), np.array([d]))[0].best == pytest.approx(loss)
    assert best_sizes(prepare(known_runs(**table())), [BUDGET], "6nd") == [(found.N.best, found.D.best)]


def test_the_next_run_of_a_fit_is_that_of_the_plan():
    fitted = fit(table(), bootstrap=0)
    ahead = plan_ahead(fitted)
    own = plan(table(), budget=ahead.budget)
    assert (ahead.N, ahead.D, ahead.loss) == (own.N, own.D, own.loss)
    by_law = fit({name: values[::4] for name, values in table().items()}, bootstrap=0)
    assert "conditional on the chinchilla law" in plan_ahead(by_law).intervals
    assert plan_ahead(fit(table(), law="two-power", bootstrap=0)) is None


def test_a_plan_by_a_law_is_conditional_on_it(found):
    given = plan(fit(table(), bootstrap=40), budget=BUDGET)
    assert "conditional on the chinchilla law" in given.intervals
    assert given.loss == given.law_loss
    assert given.isoflop.loss[given.isoflop.factor == 1.0][0] == pytest.approx(given.loss.best)
    assert found.by == "the forecast of 36 runs"
    assert found.as_dict()["by"] == found.by


def test_the_valley_is_where_the_loss_is_within_one_per_cent(found):
    low, high = found.valley
    assert low < found.N.best < high
    best = allocate(TRUTH.loss, parse_cost("6nd"), BUDGET).best
    exact = valley_of(TRUTH.loss, parse_cost("6nd"), BUDGET, best)
    for end in exact:
        assert TRUTH.loss(end, BUDGET / 6.0 / end) == pytest.approx(1.01 * best.loss, rel=1e-4)
    assert found.as_dict()["valley"] == {"low": low, "high": high}
    assert plan(TRUTH, BUDGET).valley == pytest.approx(exact)
    theory = plan(sl.SparseInputs(alpha1=1.0, alpha2=0.3), 1e9, surface="leading").as_dict()
    assert theory["valley"] is None
    assert "valley_reason" in theory


def test_lowest_places_by_a_parabola():
    N = np.exp(np.linspace(0.0, 4.0, 41))
    curves = np.array([(np.log(N) - m) ** 2 for m in (0.05, 1.234, 3.98, 9.0)])
    np.testing.assert_allclose(np.log(lowest(N, curves))[:3], [0.05, 1.234, 3.98], atol=1e-9)
    assert lowest(N, curves)[3] == pytest.approx(N[-1])  # falling to the end


def test_runs_that_allow_no_forecast_are_planned_by_a_law():
    few = {name: values[::4] for name, values in table().items()}
    found = plan(few, budget=BUDGET)
    assert any("Chinchilla's law, conditional on it: no forecast, rows=9" in w for w in found.warnings)
    assert "conditional on the chinchilla law" in found.intervals


def test_far_budgets_and_other_costs():
    far = plan(table(), budget=1e27)
    assert any("times the largest in the data" in w for w in far.warnings)
    served = plan(table(), budget=BUDGET, inference_tokens=1e12)
    assert served.N.best < plan(table(), budget=BUDGET).N.best
    limited = plan(table(), budget=BUDGET, unique_data=2e10)
    assert limited.unique.passes.best > 1.0
    with pytest.raises(sl.InputError, match="buys no D/N within 30 times"):
        plan({**table(), "D": 1e6 * table()["D"]}, budget=10.0)
    with pytest.raises(sl.InputError, match="level"):
        plan(table(), budget=BUDGET, level=2.0)


def test_several_budgets_are_read_once():
    many = plan(table(), [BUDGET, 10 * BUDGET])
    assert many.plans[1].as_dict() == plan(table(), budget=10 * BUDGET).as_dict()


def test_the_interval_holds_the_best_N():
    """Twelve tables with g = 0.5 and 1: fewer than 10 inside has chance 2 % at 95 %, and none is far off. A
    planted factor of eight is seen in all."""
    inside, planted = 0, 0
    for seed in range(6):
        for g in (0.5, 1.0):
            law = CoupledLaw(E=1.7, A=400.0, B=1500.0, alpha=0.33, beta=0.34, g=g)
            runs = known_runs(**table(seed, law=law))
            N = plan(runs_source(prepare(runs)), BUDGET).N
            best = allocate(law.loss, parse_cost("6nd"), BUDGET).best.N
            inside += N.contains(best)
            planted += N.contains(8.0 * best)
    assert inside >= 10
    assert planted == 0


def command(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main(["plan", *map(str, arguments)])
    out = capsys.readouterr()
    assert stop.value.code == 0, out.err
    return out


def test_the_command_says_the_same(tmp_path, capsys, found):
    path = tmp_path / "runs.csv"
    rows = zip(*table().values(), strict=True)
    path.write_text("N,D,loss\n" + "\n".join(",".join(map(repr, map(float, row))) for row in rows) + "\n")
    said = json.loads(command(capsys, path, "--budget", "1e22", "--json").out)
    assert said == json.loads(json.dumps(found.as_dict()))
    shown = command(capsys, path, "--budget", "1e22", "--bootstrap", "50")
    assert "by the forecast of 36 runs" in " ".join(shown.out.split())
    assert "N within 1 % of the best loss" in shown.out
    assert "--bootstrap has no effect on a plan by the forecast" in shown.err
    law = command(capsys, path, "--budget", "1e22", "--law", "chinchilla", "--bootstrap", "40").out
    assert "conditional on the chinchilla law" in " ".join(law.split())
    many = command(capsys, path, "--budget", "1e21,1e22", "--approaches", "--bootstrap", "40").out
    assert "approach" in many
    wide, narrow = (
        json.loads(command(capsys, path, "--budget", "1e22", "--level", level, "--json").out)["N"]
        for level in ("0.95", "0.5")
    )
    assert wide["low"] < narrow["low"]
    shown = command(capsys, path, "--budget", "1e22", "--level", "0.5").out
    assert "50 % interval" in shown


def test_by_a_column_each_part_has_its_own_plan(tmp_path, capsys):
    """As if its rows were a table of their own; a part with too few rows is named, not planned."""
    parts = {"a": table(), "b": table(1), "c": {name: values[:2] for name, values in table().items()}}
    path = tmp_path / "runs.csv"
    lines = [
        ",".join([*map(repr, map(float, row)), name])
        for name, part in parts.items()
        for row in zip(*part.values(), strict=True)
    ]
    path.write_text("N,D,loss,optimizer\n" + "\n".join(lines) + "\n")
    said = command(capsys, path, "--budget", "1e22", "--by", "optimizer", "--json")
    answer = json.loads(said.out)
    assert [one["by_value"] for one in answer["plans"]] == ["a", "b"]
    for one in answer["plans"]:
        own = plan(parts[one["by_value"]], budget=BUDGET)
        assert (one["N"], one["loss"]) == (own.N.as_dict(), own.loss.as_dict())
    assert list(answer["refused"]) == ["c"]
    assert "optimizer = c: no plan" in said.err
