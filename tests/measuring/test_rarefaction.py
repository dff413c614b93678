"""K(D) and U(D) against every choice of rows, and their slopes."""

import numpy as np
import pytest

from oracles.measure import seen_and_unseen
from sparselaw.measuring.rarefaction import histogram, log_missing, rarefied


def data_of(matrix):
    x = np.asarray(matrix, float)
    return histogram(len(x), (x != 0).sum(axis=0), (x**2).sum(axis=0))


@pytest.fixture(scope="module")
def matrix():
    rng = np.random.default_rng(5)
    return (rng.random((9, 14)) < np.geomspace(0.9, 0.08, 14)) * rng.standard_normal((9, 14))


@pytest.mark.parametrize("D", [1, 2, 4, 7, 8])
def test_equal_to_the_mean_over_every_choice_of_rows(matrix, D):
    seen, unseen = seen_and_unseen(matrix, D)
    found = rarefied(data_of(matrix), D)
    total = (matrix**2).sum() / len(matrix)
    assert found.seen == pytest.approx(seen, rel=1e-12)
    assert found.unseen * total == pytest.approx(unseen, rel=1e-11)
    # the plain frequency in place of the chance without replacement would not pass
    p = (matrix != 0).mean(axis=0)
    plugged = float(((matrix**2).mean(axis=0) * (1 - p) ** D).sum())
    assert abs(plugged / unseen - 1.0) > 0.02


def test_binary_features_have_unseen_variance_of_a_difference(matrix):
    data = data_of(matrix != 0)
    found = [rarefied(data, d) for d in (3.0, 4.0)]
    total = (matrix != 0).sum() / 9
    assert found[0].unseen * total == pytest.approx(found[1].seen - found[0].seen, rel=1e-11)


def test_slopes_are_derivatives():
    rng = np.random.default_rng(2)
    data = data_of((rng.random((900, 300)) < np.geomspace(0.3, 0.001, 300)) * 2.0)
    for D in (5.5, 60.0, 500.0):
        h = 1e-4 * D
        before, at, after = (rarefied(data, d) for d in (D - h, D, D + h))
        width = np.log((D + h) / (D - h))
        assert at.seen_slope == pytest.approx(np.log(after.seen / before.seen) / width, rel=1e-6)
        assert at.unseen_slope == pytest.approx(np.log(after.unseen / before.unseen) / width, rel=1e-5)


@pytest.mark.parametrize("n", [200, 10_007, 10**8])
def test_the_chance_to_miss_keeps_its_digits(n):
    k = np.array([1.0, 3.0, 24.0, 25.0, 60.0, 150.0])
    for D in (1.0, 7.0, 30.0, 0.2 * n):
        D = np.floor(D)
        exact = [np.log1p(-D / (n - np.arange(int(c)))).sum() for c in k]
        np.testing.assert_allclose(log_missing(float(n), k, float(D)), exact, rtol=3e-8)
    assert log_missing(10.0, np.array([6.0]), 5.0)[0] == -np.inf
