"""Means of heavy-tailed losses, some of them known to no better than a factor."""

import math

import pytest

from sparselaw.experiments.paper.beyond_passes import _exponent, _ratios


def row(passes, low, loss, high, D=100):
    return {
        "alpha1": 2.0, "alpha2": 0.0, "N": "38", "D": D, "passes": passes,
        "low": low, "loss": loss, "high": high, "theory": loss,
    }  # fmt: skip


def test_an_interval_that_reaches_below_zero_is_wide_and_finite():
    """Six seeds, one of them far above the others: Student's interval of the mean has no logarithm."""
    (wide,) = _ratios([row(1, -0.5, 1.0, 2.5), row(4, 1.8, 2.0, 2.2)])
    assert wide.measured.best == 2.0
    assert wide.measured.low < 0.2
    assert wide.measured.high > 20.0
    slope = _exponent([row(1, -0.5, 1.0, 2.5), row(1, 0.4, 0.5, 0.6, D=400)], 1)
    assert slope.measured.best == pytest.approx(0.5)
    assert math.isfinite(slope.measured.high - slope.measured.low)
    assert slope.measured.high - slope.measured.low > 2.0


def test_an_interval_above_zero_is_what_it_was():
    (found,) = _ratios([row(1, 0.9, 1.0, 1.1), row(4, 1.8, 2.0, 2.2)])
    half = math.sqrt(2.0) * 0.5 * math.log(1.1 / 0.9)
    assert found.measured.low == pytest.approx(2.0 * math.exp(-half))
    assert found.measured.high == pytest.approx(2.0 * math.exp(half))
