"""The search along the budget curve against made-up losses: two valleys, and a wall between them."""

import numpy as np
import pytest

from sparselaw.costs import parse_cost
from sparselaw.inputs import SparseInputs
from sparselaw.planning import Peak, allocate, plan


def test_two_valleys_and_a_wall_between_them():
    """A made-up double descent: the better valley wins, wherever it is; brute force on a fine grid agrees."""
    cost = parse_cost("6nd")
    for tilt in (-0.3, 0.3):

        def loss(N, D, tilt=tilt):
            gap = np.log(N / np.sqrt(D))
            with np.errstate(divide="ignore"):
                wall = np.where(gap == 0.0, np.inf, 1.0 / np.abs(gap))
            return wall + (gap + 1.0 * np.sign(gap)) ** 2 * 0.1 + tilt * np.tanh(gap) + 2.0

        peak = Peak(threshold=lambda D: float(np.sqrt(D)), name="K")
        found = allocate(loss, cost, 6e12, peak=peak)
        N = np.exp(np.linspace(0, np.log(1e12), 400_001))
        values = loss(N, 1e12 / N)
        assert found.best.loss <= values.min() + 1e-12
        assert found.best.N == pytest.approx(N[np.argmin(values)], rel=1e-3)
        assert found.best.side == ("N>K" if tilt < 0 else "N<K")
        assert found.others[0].side != found.best.side


def test_a_wall_that_a_coarse_grid_would_miss():
    """A narrow deep valley beside the wall is found because the scan looks closely there."""

    def loss(N, D):
        x = np.log(N / np.sqrt(D)) / 1.5
        return np.where(x == 0, np.inf, 1.0 - 0.5 * np.exp(-(((x - 0.02) / 0.01) ** 2)) + 0.01 * x**2)

    peak = Peak(threshold=lambda D: float(np.sqrt(D)), name="K")
    best = allocate(loss, parse_cost("6nd"), 6e12, peak=peak, grid=45).best
    assert best.loss == pytest.approx(0.5, abs=1e-3)


def test_a_wall_of_infinite_loss_is_never_the_answer():
    """Ten coordinates: the rough loss is zero from N = 10 on, the loss itself is infinite there at first."""
    found = plan(SparseInputs(alpha1=1.0, alpha2=0.3, dimension=10), 1e6, "6nd")
    assert found.N.best > 12.0
    assert 0.0 <= found.loss.best < 1e-6
