import numpy as np
import pytest

from oracles.failure import dense_data, top_eigenvalue
from sparselaw.failure import divergence
from sparselaw.failure.divergence import exceeds, top_exceeds_one
from sparselaw.failure.draw import Entries

SETTINGS = [
    (2.0, -1.2, 200, 300),
    (1.5, -2.0, 50, 400),
    (1.0, 0.3, 60, 200),
    (0.2, 0.3, 30, 300),  # more coordinates than samples
    (-0.5, 0.8, 12, 40),
    (-1.0, 1.0, 6, 20),  # everything always on
    (1.0, -1.0, 5, 30),  # all amplitudes equal
    (2.0, -2.0, 1, 50),
]


def entries(X):
    """The nonzeros of coordinates 2, 3, ... of dense X, with the sample's sign taken out."""
    X = X * np.sign(X[0])
    seen = 1 + np.flatnonzero((X[1:] != 0).any(axis=1))
    rows, samples = map(np.ascontiguousarray, np.nonzero(X[seen]))  # as they are in use: compiled once
    values = X[seen][rows, samples]
    squared = np.array([X[k][X[k] != 0][0] ** 2 for k in seen])
    count = np.bincount(rows, minlength=len(seen))
    return Entries(len(samples), X.shape[1], samples, rows, np.sign(values).astype(np.int8), squared, count)


def decide(X, T):
    D = X.shape[1]
    first, rare = np.full(D, -1), np.zeros(D)
    answer = exceeds(entries(X), T, first, rare)
    assert (first == -1).all()
    assert (rare == 0).all()
    return answer


@pytest.mark.parametrize(("alpha1", "alpha2", "D", "M"), SETTINGS)
def test_agrees_with_the_eigenvalue_on_both_sides(alpha1, alpha2, D, M):
    rng = np.random.default_rng(1)
    for _ in range(60):
        X = dense_data(rng, alpha1, alpha2, D, M)
        top = top_eigenvalue(X)
        for factor in (0.7, 0.95, 1 - 1e-8, 1 + 1e-8, 1.05, 1.5):
            T = factor * top
            if T < D and factor > 1:
                continue
            assert decide(X, T) == (factor < 1 or T < D), (factor, top)


def test_equality_is_not_failure_and_coupling_at_threshold_one_is():
    ones = np.ones((2, 2))  # lambda_max = 4 exactly
    assert not decide(ones, 4.0)
    assert decide(ones, 3.999)
    balanced = np.array([[1.0] * 6, [0.3, -0.3, 0.3, 0.3, -0.3, -0.3]])
    assert not decide(balanced, 6.0)  # v = 0: lambda_max is D exactly
    balanced[1, 0] = 0.0
    assert decide(balanced, 6.0)


@pytest.mark.parametrize(("alpha1", "alpha2", "D", "M"), SETTINGS[:6])
def test_lanczos_gives_the_same_answers(alpha1, alpha2, D, M):
    rng = np.random.default_rng(2)
    for _ in range(20):
        X = dense_data(rng, alpha1, alpha2, D, M)
        top = top_eigenvalue(X)
        data = entries(X)
        place = np.where(data.often >= 1, np.arange(len(data.often)), -1)
        for factor in (0.95, 1 - 1e-6, 1 + 1e-6, 1.05):
            found = top_exceeds_one(data, place, len(data.often), factor * top, np.zeros(D), divergence.EQUAL)
            assert found == (factor < 1)


@pytest.mark.parametrize("D", [20, 60, 450])  # fewer samples than coordinates, and more
def test_the_large_branch_is_reached_and_right(D):
    rng = np.random.default_rng(3)
    X = dense_data(rng, -0.7 if D < 100 else -0.3, 0.8, D, 2000)
    assert ((X[1:] != 0).sum(axis=1) >= 2).sum() > divergence.DENSE_LIMIT
    top = top_eigenvalue(X)
    assert decide(X, top * (1 - 1e-6))
    assert not decide(X, top * (1 + 1e-6))
