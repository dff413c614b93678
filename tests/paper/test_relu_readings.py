"""The readings of figure 6, on a small figure, and the rounding behind one of them."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from sparselaw.experiments.paper import grids, panel_figures, precision
from sparselaw.experiments.paper.panel_figures import JOINT
from sparselaw.experiments.paper.precision import loss_ratio_relu
from sparselaw.interval import Interval
from sparselaw.trials.run import run


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(grids, "SWEEP_D", 2000)
    monkeypatch.setattr(panel_figures, "LESS_DATA", 500)
    for name in ("DENSE_COORDINATES", "DENSE_SAMPLES", "WIDE", "TESTS"):
        monkeypatch.setattr(precision, name, 300)


def context():
    return SimpleNamespace(
        quick=False,
        run=lambda tasks: [run(task) for task in tasks],
        map=map,
        remember=lambda _, function, cells: [function(cell) for cell in cells],
    )


def test_every_reading_is_a_row_of_numbers(monkeypatch):
    monkeypatch.setattr(grids, "SPARSE", replace(grids.SPARSE, dimension=400))
    monkeypatch.setattr(grids, "DENSE", replace(grids.DENSE, dimension=400))
    grid = replace(
        grids.CLOSED_FORM, N=(4, 6, 8, 12, 16), D=(10, 14, 20, 28, 40), width=60, seeds=2, last=4, n_test=300
    )
    table = panel_figures.readings(context(), replace(panel_figures.FIGURE_6, grid=grid))
    assert "prints 1.25" in table.title
    assert all(len(row) == len(table.columns) for row in table.rows)
    named = {row[0]: row[1:] for row in table.rows}
    assert len(named) == 9
    for words in ("the last 6 points", "one seed", "one teacher", "rtol", "TF32", "D = 500 ", "all points"):
        assert any(words in name for name in named)
    assert named["the last 6 points"] == named["all points"]  # there are no more
    assert named["rtol = 0.0003 instead of 1e-10"][-1] == table.rows[0][-1]  # nothing is cut at such sizes


def test_a_shift_is_that_of_the_losses():
    """Losses times x^-0.1 make every slope steeper by 0.1; of one sweep alone, the joint one by its share."""
    sizes = dict.fromkeys(JOINT, (1, 4))
    steeper = {name: np.array([[1.0], [4.0**-0.1]]) for name in JOINT}
    moved, shifts = panel_figures._shifted(Interval(1.0, 1.1, 1.2), sizes, steeper)
    assert str(moved) == "1.2 [1.1, 1.3]"
    assert [round(float(shift[0]), 9) for shift in shifts.values()] == [0.1] * 4
    one = {**{name: np.ones((2, 1)) for name in JOINT}, JOINT[1]: steeper[JOINT[1]]}
    moved, shifts = panel_figures._shifted(Interval(1.0, 1.1, 1.2), sizes, one)
    assert str(moved) == "1.133 [1.033, 1.233]"
    assert [round(float(shift[0]), 9) for shift in shifts.values()] == [0.0, 0.1, 0.0, round(0.1 / 3, 9)]


@pytest.mark.parametrize(("sweep", "size"), [(JOINT[0], 40), (JOINT[1], 40), (JOINT[2], 60)])
def test_rounding_hardly_moves_the_loss_of_relu_features(sweep, size, monkeypatch):
    """Ten bits do not; one decimal must be noticed."""
    assert loss_ratio_relu((sweep, size, 0)) == pytest.approx(1.0, abs=0.01)
    monkeypatch.setattr(precision, "tf32", lambda values: np.round(values, 1))
    assert abs(loss_ratio_relu((sweep, size, 0)) - 1.0) > 0.01
