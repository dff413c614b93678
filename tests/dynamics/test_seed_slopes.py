"""A power law's exponent from several seeds: the estimator on exact cases."""

import numpy as np
import pytest

from sparselaw.experiments.dynamics.iterations import exponent


def test_an_exact_power_law():
    sizes = [10, 20, 50]
    values = np.outer([1.0, 7.0, 0.1], np.array(sizes) ** 1.7)
    got = exponent(sizes, values)
    assert got.best == pytest.approx(1.7, rel=1e-12)
    assert got.high - got.low < 1e-9


def test_the_interval_covers():
    """300 repetitions of 8 seeds at 95 %: a count below 268 or above 299 has probability under 1e-4."""
    rng = np.random.default_rng(3)
    sizes = np.array([10.0, 20, 40, 80])
    hits = sum(
        exponent(sizes, sizes**-1.2 * np.exp(0.5 * rng.standard_normal((8, 4)))).contains(-1.2)
        for _ in range(300)
    )
    assert 268 <= hits <= 299


def test_one_seed_has_no_interval():
    got = exponent([1, 2, 4], np.array([[1.0, 2.0, 4.0]]))
    assert (got.low, got.high) == (-np.inf, np.inf)
