"""Cells: trials that differ in nothing but their seed, and no others."""

from __future__ import annotations

import json
import math

import pandas as pd
import pytest

import sparselaw as sl
from sparselaw.inputs import DenseInputs
from sparselaw.solvers import SGD, GradientDescent, Ridge
from sparselaw.sweeps.cells import cells_of, summarise
from sparselaw.sweeps.runs_table import row_of, write_table
from sparselaw.sweeps.simulate import as_frame, grid
from sparselaw.trials.task import Record
from sweeps import functions

SETTINGS = [
    {"solver": GradientDescent(steps=1)},
    {"solver": GradientDescent(steps=1000)},
    {"solver": GradientDescent(steps=1000, step=0.1)},
    {"solver": SGD(passes=1)},
    {"solver": SGD(passes=2)},
    {"solver": SGD(passes=2, batch=8)},
    {"solver": Ridge(ridge=0.1)},
    {"solver": Ridge(ridge=0.2)},
    {"noise": 0.5},
    {"features": "trained"},
    {"estimator": "raw", "n_test": 10},
    {"estimator": "raw", "n_test": 20},
    {},
]


def different_runs():
    """Three seeds of each; loss = its place in the list + 1."""
    return [
        (task, Record(loss=place + 1.0, status="ok"))
        for place, settings in enumerate(SETTINGS)
        for task in grid(functions.INPUTS, N=200, D=50, seeds=3, **settings)  # a cheap point of the theory
    ]


def test_every_setting_makes_a_cell_of_its_own(tmp_path):
    runs = different_runs()
    cells = cells_of(runs)
    assert [(cell.mean, cell.seeds, cell.stderr) for cell in cells] == [
        (place + 1.0, 3, 0.0) for place in range(len(SETTINGS))
    ]
    assert summarise(as_frame(runs)) == cells
    write_table(tmp_path / "a.csv", [row_of(task.identity(), record) for task, record in runs])
    assert summarise(pd.read_csv(tmp_path / "a.csv")) == cells
    write_table(tmp_path / "a.parquet", [row_of(task.identity(), record) for task, record in runs])
    assert summarise(pd.read_parquet(tmp_path / "a.parquet")) == cells


@pytest.mark.parametrize("solver", ["min-norm", SGD(passes=2)])
@pytest.mark.parametrize("estimator", ["raw", "exact"])
def test_noise_whose_squares_no_number_holds(solver, estimator):
    """No warning (an error in the tests), and a reason where there is no mean."""
    runs = sl.simulate(functions.INPUTS, N=4, D=50, seeds=3, noise=1e308, solver=solver, estimator=estimator)
    (cell,) = summarise(runs)
    words = "3 of 3 trials with a loss larger than a number can hold"
    if (solver, estimator) == ("min-norm", "exact"):
        assert math.isfinite(cell.mean)
    else:
        assert (cell.mean, cell.stderr, cell.median) == (None, None, None)
        assert {cell.mean_reason, cell.stderr_reason, cell.median_reason} == {words}


@pytest.mark.parametrize("seeds", [2, 10])
def test_losses_whose_sum_no_number_holds(seeds):
    tasks = grid(functions.INPUTS, N=4, D=50, seeds=seeds)
    (cell,) = cells_of([(task, Record(loss=1.7e308, status="ok")) for task in tasks], theory=False)
    shown = json.loads(json.dumps(cell.as_dict(), allow_nan=False))
    for name in ("mean", "stderr", "median"):
        assert shown[name] is None
        assert shown[f"{name}_reason"] == "larger than a number can hold"


def test_a_frame_carries_the_settings_of_its_solver():
    runs = sl.simulate(functions.INPUTS, N=4, D=50, seeds=1, solver=SGD(passes=2, batch=8))
    assert (runs["passes"][0], runs["batch"][0], runs["solver"][0]) == (2, 8, "sgd")
    steps = pd.concat(
        sl.simulate(functions.INPUTS, N=4, D=50, seeds=2, solver=GradientDescent(steps=count))
        for count in (1, 1000)
    )
    first, last = summarise(steps)
    assert first.seeds == last.seeds == 2
    assert first.mean != last.mean


def test_mixed_inputs_and_infinite_cells_in_one_table():
    dense = grid(DenseInputs(alpha=1.0, dimension=50), N=9, D=9, seeds=2)
    infinite = Record(loss=math.inf, status="infinite")
    runs = [*different_runs()[-3:], *((task, infinite) for task in dense)]
    sparse, spoilt = summarise(as_frame(runs))
    assert (sparse.mean, sparse.theory is not None) == (13.0, True)
    assert (spoilt.mean, spoilt.mean_reason) == (None, "2 of 2 trials infinite")


def test_plain_form():
    (one,) = cells_of([(functions.study()[0], Record(loss=0.5, status="ok", reason="so it goes"))])
    assert one.as_dict() == {
        "N": 1, "D": 100, "mean": 0.5, "stderr": None, "stderr_reason": "one seed", "method": "plain",
        "median": 0.5, "seeds": 1, "theory": one.theory, "caution": one.caution, "note": "so it goes",
    }  # fmt: skip
    (none,) = cells_of([(functions.study()[0], Record(loss=math.nan, status="failed"))])
    plain = none.as_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert (plain["mean"], plain["mean_reason"]) == (None, "1 of 1 trials failed")


@pytest.mark.parametrize(
    ("setting", "choices"), [("features", "linear or relu"), ("estimator", "exact or raw")]
)
def test_words_that_mean_nothing_are_refused(setting, choices):
    with pytest.raises(sl.InputError, match=f"{setting}=foo: is not one of the choices; choose {choices}"):
        sl.simulate(functions.INPUTS, N=4, D=50, seeds=1, **{setting: "foo"})


def test_losses_too_large_to_square_have_a_reason_and_no_warning():
    runs = sl.simulate(sl.SparseInputs(alpha1=1.0, alpha2=0.3), N=8, D=100, seeds=3, noise=1e300, workers=1)
    (cell,) = summarise(runs)
    plain = cell.as_dict()
    assert plain["stderr"] is None
    assert plain["stderr_reason"] == "larger than a number can hold"
