"""A forecast through Python and the command line: its keys, its refusals, its warnings."""

import json

import numpy as np
import pandas as pd
import pytest

import sparselaw as sl
from sparselaw.cli import main
from sparselaw.forecasting.known_runs import unforeseeable
from sparselaw.laws import ChinchillaLaw

TRUTH = ChinchillaLaw(E=1.8, A=480.0, B=2100.0, alpha=0.35, beta=0.37)


def runs_of(rows=60, seed=0, budgets=(1e18, 1e21)):
    generator = np.random.Generator(np.random.PCG64(seed))
    C = np.exp(generator.uniform(*np.log(budgets), rows))
    N = np.sqrt(C / 120) * np.exp(generator.uniform(-1.5, 1.5, rows))
    D = C / (6 * N)
    loss = TRUTH.loss(N, D) * np.exp(0.003 * generator.standard_normal(rows))
    return pd.DataFrame({"N": N, "D": D, "loss": loss})


@pytest.fixture(scope="module")
def runs():
    return runs_of()


@pytest.fixture(scope="module")
def found(runs):
    return sl.forecast(runs, at=[(1e10, 2e11), (3e10, 6e11)])


def command(capsys, *arguments, code=0):
    with pytest.raises(SystemExit) as stop:
        main(["forecast", *map(str, arguments)])
    out = capsys.readouterr()
    assert stop.value.code == code, out.err
    return out


def test_points_and_what_is_said_of_them(found):
    plain = found.as_dict()
    assert plain["law"] == "coupled"
    assert plain["status"] == "ok"
    assert set(plain["params"]) == {"E", "A", "B", "alpha", "beta", "g"}
    assert plain["coupling"] == plain["params"]["g"]
    for point, (N, D) in zip(plain["points"], [(1e10, 2e11), (3e10, 6e11)], strict=True):
        assert (point["N"], point["D"]) == (N, D)
        assert point["loss"]["low"] < TRUTH.loss(N, D) < point["loss"]["high"]
    assert [test["cutoff"] for test in plain["backtest"]] == [0.5, 0.7]
    assert [test["runs"] for test in plain["backtest"]] == [30, 18]
    assert all(test["covered"] > 0.75 for test in plain["backtest"])
    json.dumps(plain, allow_nan=False)
    frame = found.to_frame()
    assert list(frame.columns) == ["N", "D", "low", "best", "high", "sd", "ahead"]
    assert list(found.backtest_frame()["runs"]) == [30, 18]
    assert "coupling g" in found._repr_html_()
    moves = [abs(pull.moves) for pull in found.points[0].pulls]
    assert len(moves) == 5
    assert moves == sorted(moves, reverse=True)


def test_law_and_parameters_agree(found):
    for name, value in found.params.items():
        assert value.low < value.best < value.high
        assert value.best == getattr(found.law, name)


def test_a_pull_is_what_leaving_the_run_out_does(runs, found):
    """The pull supposes a linear law: the real change is near it."""
    strongest = found.points[1].pulls[0]
    without = runs[~np.isclose(runs["N"], strongest.N)]
    again = sl.forecast(without, at=[(3e10, 6e11)]).points[0].loss.best
    change = found.points[1].loss.best / again - 1.0
    assert change == pytest.approx(strongest.moves, rel=0.6)


def test_budgets_get_the_best_sizes(runs):
    found = sl.forecast(runs, budget=[1e22, 1e23])
    assert [point.budget for point in found.points] == [1e22, 1e23]
    for point in found.points:
        assert 6 * point.N * point.D == pytest.approx(point.budget)
        best = found.law.loss(point.N, point.D)
        for factor in (0.8, 1.25):
            assert found.law.loss(point.N * factor, point.D / factor) > best
    assert sl.forecast(runs, budget=1e22).points[0].N == found.points[0].N


def test_command_line(runs, found, tmp_path, capsys):
    path = tmp_path / "runs.csv"
    runs.to_csv(path, index=False)
    out = command(capsys, path, "--at", "N=1e10,D=2e11", "--at", "D=6e11,N=3e10", "--json").out
    assert json.loads(out) == json.loads(json.dumps(found.as_dict()))
    shown = command(capsys, path, "--budget", "1e22,1e23").out
    assert "Back-test" in shown
    assert "coupling g" in shown
    doubled = pd.concat([runs.assign(lr=0.1), runs.assign(lr=0.2, loss=1.1 * runs["loss"])])
    doubled.to_csv(path, index=False)
    pooled = json.loads(command(capsys, path, "--at", "N=1e10,D=2e11", "--json").out)
    assert pooled["status"] == "pooled"
    out = command(capsys, path, "--where", "lr=0.1", "--at", "N=1e10,D=2e11", "--json").out
    assert json.loads(out)["points"][0]["loss"] == pytest.approx(found.as_dict()["points"][0]["loss"])
    renamed = runs.rename(columns={"N": "size", "loss": "y"}).assign(run=np.arange(60) // 2)
    renamed.to_csv(path, index=False)
    out = command(
        capsys, path, "--columns", "N=size,loss=y", "--group", "run", "--at", "N=1e10,D=2e11", "--json"
    )
    assert len(json.loads(out.out)["points"]) == 1


def test_each_value_of_a_column_on_its_own(runs, found, tmp_path, capsys):
    path = tmp_path / "runs.csv"
    few = runs.iloc[:5].assign(recipe="c")
    pd.concat([runs.assign(recipe="a"), runs.assign(recipe="b", loss=1.1 * runs["loss"]), few]).to_csv(
        path, index=False
    )
    out = command(capsys, path, "--by", "recipe", "--at", "N=1e10,D=2e11", "--json")
    said = json.loads(out.out)
    assert [one["by_value"] for one in said["forecasts"]] == ["a", "b"]
    assert said["forecasts"][0]["points"][0]["loss"] == pytest.approx(found.as_dict()["points"][0]["loss"])
    assert "rows=5" in said["refused"]["c"]
    assert "recipe = c: no forecast" in out.err
    assert "recipe = b" in command(capsys, path, "--by", "recipe", "--at", "N=1e10,D=2e11").out
    picture = command(
        capsys, path, "--by", "recipe", "--at", "N=1e10,D=2e11", "--plot", tmp_path / "x.svg", code=2
    )
    assert "by=recipe" in picture.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "at=: is missing; give --at N=..,D=.. or --budget"),
        (["--at", "N=1e9"], "at=N=1e9: is not a pair of sizes; write --at N=7e9,D=4e12"),
        (["--at", "N=1e9,D=many"], "D=many: is not a number"),
        (["--at", "N=1e9,D=-1"], "D=-1: must be positive"),
        (["--at", "N=1e9,D=1e9", "--budget", "1e22"], "given together with a budget"),
        (["--budget", "0"], "budget=0: must be positive"),
        (["--budget", "1e22", "--cost", "none"], "cost=none"),
    ],
)
def test_bad_options_are_one_line(runs, tmp_path, capsys, arguments, words):
    path = tmp_path / "runs.csv"
    runs.to_csv(path, index=False)
    error = command(capsys, path, *arguments, code=2).err.strip()
    assert words in error
    assert "\n" not in error


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.iloc[:9], "rows=9: is too few for a forecast"),
        (lambda t: t.assign(N=np.where(t["N"] > 1e9, 1e9, 2e9)), "distinct N=2: is too few"),
        (lambda t: t.assign(D=np.where(t["D"] > 1e10, 1e9, 2e9)), "distinct D=2: is too few"),
        (lambda t: t.assign(D=20 * t["N"]), "correlation of ln N and ln D=1.0000: leaves one size"),
        (lambda t: t.assign(D=1e20 / t["N"] ** 1.02), "add runs at other budgets"),
        (lambda t: t.assign(D=1e20 / t["N"] * (1 + 0.3 * np.sin(np.arange(len(t))))), "compute range=1."),
        (lambda t: t.assign(loss=2.0), "loss=2: is the same in every row"),
    ],
)
def test_refusals(runs, change, words):
    with pytest.raises(sl.InputError, match=words.replace("(", "\\(")):
        sl.forecast(change(runs), at=[(1e10, 2e11)])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "points or budgets"),
        ({"at": [(1e9, 1e9)], "budget": 1e20}, "points or budgets"),
        ({"at": []}, "has no points"),
        ({"at": [1e9, 1e10]}, "is not a pair"),
        ({"at": [(1e9, 0.0)]}, "D=0: must be positive"),
    ],
)
def test_bad_points(runs, options, words):
    with pytest.raises(sl.InputError, match=words):
        sl.forecast(runs, **options)


def test_a_far_target_is_said(runs):
    found = sl.forecast(runs, at=[(1e10, 2e11), (1e13, 1e15)])
    assert found.status == "far"
    assert any("spans of log compute ahead" in words for words in found.warnings)
    assert found.points[0].ahead < 1.5 < found.points[1].ahead


def test_losses_without_a_floor_in_sight_are_said(runs):
    steep = runs.assign(loss=1e6 * runs["N"] ** -0.9 + 1e6 * runs["D"] ** -0.7)
    found = sl.forecast(steep, at=[(1e10, 2e11)])
    assert found.status == "no-floor"
    assert "losses fall by a factor" in unforeseeable(found.runs)


def test_a_failed_back_test_is_said():
    """The expensive half is 10 % worse than the law of the cheaper half has it: status and width say so."""
    runs = runs_of(80, seed=2)
    dear = runs["N"] * runs["D"] > (runs["N"] * runs["D"]).median()
    found = sl.forecast(runs.assign(loss=runs["loss"] * np.where(dear, 1.1, 1.0)), at=[(1e10, 2e11)])
    assert found.status == "back-test"
    assert found.as_dict()["backtest_widening"] == found.widening > 1.3
    assert any(f"{found.widening:.2g} times as wide as without it" in words for words in found.warnings)


def test_a_back_test_that_cannot_be_made_has_a_reason():
    found = sl.forecast(runs_of(16, seed=1), at=[(1e10, 2e11)])
    first = found.as_dict()["backtest"][0]
    assert first["covered"] is None
    assert "rows=8 is too few" in first["covered_reason"]
    assert found.status in {"ok", "back-test"}


def test_the_runs_of_a_fitted_law_are_forecast(runs, found):
    law = sl.fit(runs, bootstrap=0)
    again = sl.forecast(law, at=[(1e10, 2e11)])
    assert again.points[0].loss.as_dict() == pytest.approx(found.points[0].loss.as_dict(), rel=1e-12)
    assert unforeseeable(law.runs.known()) == ""


def test_why_runs_have_no_forecast():
    few = sl.fit(runs_of(9), bootstrap=0).runs.known()
    assert unforeseeable(few) == "rows=9 is too few for a forecast, which needs 10"


def test_checkpoints_of_one_run_share_their_noise():
    """Taken for single rows, what the rows of a run share looks like a discrepancy of the law."""
    generator = np.random.Generator(np.random.PCG64(5))
    runs = runs_of(40, seed=5)
    copies = pd.concat([runs.assign(run=np.arange(40), D=runs["D"] * f) for f in (0.7, 0.8, 0.9, 1.0)])
    shared = 0.01 * generator.standard_normal(40)
    loss = TRUTH.loss(copies["N"], copies["D"]) * np.exp(shared[copies["run"]])
    copies = copies.assign(loss=loss * np.exp(0.001 * generator.standard_normal(160)))
    single = sl.forecast(copies, at=[(1e10, 2e11)])
    grouped = sl.forecast(copies, at=[(1e10, 2e11)], group="run")
    assert grouped.discrepancy < 0.5 * single.discrepancy
    assert any("checkpoints of a schedule are not final losses" in words for words in grouped.warnings)
    assert grouped.points[0].loss.contains(TRUTH.loss(1e10, 2e11))


def test_print_is_a_short_table(found):
    assert repr(found).startswith("<Forecast: ")
    assert len(repr(found)) < 100
    shown = str(found).splitlines()
    assert f"{found.points[0].loss.best:.4g} {found.points[0].loss.ends()}" in shown[1]
    assert any(line.startswith("stopped at the cheapest 50 %") for line in shown)
    assert f"status {found.status}" in shown


def test_a_forecast_warns_as_it_says(runs):
    with pytest.warns(sl.SparselawWarning, match="spans of log compute ahead"):
        found = sl.forecast(runs, at=[(1e13, 1e15)])
    assert found.status == "far"


def test_a_unit_is_said_once(runs):
    table = runs.assign(**{"Tokens (B)": runs["D"] / 1e9}).drop(columns="D")
    notes = sl.forecast(table, at=[(1e10, 2e11)]).warnings
    assert sum("in units of" in words for words in notes) == 1


def test_one_diverged_run_is_named_and_moves_nothing():
    """At the corner of a grid, where a law can bend to it: all others then lie three per cent off."""
    N, D = np.repeat([1e8, 2e8, 4e8, 8e8, 1.6e9, 3.2e9], 4), np.tile([2e9, 6e9, 2e10, 6e10], 6)
    loss = TRUTH.loss(N, D) * np.exp(0.002 * np.random.Generator(np.random.PCG64(1)).standard_normal(24))
    runs = pd.DataFrame({"N": N, "D": D, "loss": loss})
    diverged = pd.concat([runs, pd.DataFrame({"N": [2e7], "D": [1e9], "loss": [11.2]})], ignore_index=True)
    alone, beside = (sl.forecast(table, at=[(7e9, 4e11)]) for table in (runs, diverged))
    assert beside.quantiles([0.025, 0.5, 0.975]) == pytest.approx(
        alone.quantiles([0.025, 0.5, 0.975]), rel=0.01
    )
    assert "row 25: N = 20M, D = 1B, loss 11.2" in beside.warnings[0]
