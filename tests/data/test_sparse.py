"""The sparse sampler against its exact laws, and the sums over coordinates against plain summation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import zeta

from oracles.sparse import as_matrix, sequences
from sparselaw.data.sparse_samples import COMMON_BLOCK, _arrivals, distinct_patterns, draw_sparse
from sparselaw.errors import InputError
from sparselaw.gram.nodes import power_sum
from sparselaw.inputs import SparseInputs

ALPHA1 = [0.2, 0.5, 1.0, 2.0, 3.0]


@pytest.mark.parametrize("exponent", [0.0, 0.3, 1.0, 1.0 + 1e-9, 2.3, 30.0, 120.0])
@pytest.mark.parametrize(("first", "last"), [(1, 1), (1, 40), (3, 5000), (700, 200_000)])
def test_power_sum_is_the_plain_sum(exponent, first, last):
    plain = math.fsum(np.arange(first, last + 1.0) ** -exponent)
    assert power_sum(exponent, first, last) == pytest.approx(plain, rel=1e-13)


@pytest.mark.parametrize("exponent", [1.06, 2.0, 3.3, 50.0])
def test_infinite_power_sum_is_hurwitz_zeta(exponent):
    for first in (1, 7, 10_000):
        assert power_sum(exponent, first, math.inf) == pytest.approx(zeta(exponent, first), rel=1e-12)


@pytest.mark.parametrize(
    ("alpha1", "dimension"), [(1.0, math.inf), (0.2, 10**5), (-0.5, 3000), (3.0, math.inf)]
)
@pytest.mark.parametrize("D", [1, 30, 5000])
def test_expected_unseen_is_the_plain_sum(alpha1, dimension, D):
    problem = SparseInputs(alpha1=alpha1, alpha2=1.0, dimension=dimension)
    M = int(min(dimension, 400_000))
    p, _, s = sequences(problem, M)
    rest = zeta(problem.power_law().spectrum, M + 1) if dimension == math.inf else 0.0
    assert problem.expected_unseen(D) == pytest.approx(s @ (1 - p) ** D + rest, rel=1e-9)


def test_expected_unseen_costs_nothing_for_a_large_dimension():
    near = SparseInputs(alpha1=0.5, alpha2=1.0, dimension=1e15)
    far = SparseInputs(alpha1=0.5, alpha2=1.0)
    assert near.expected_unseen(1000) == pytest.approx(far.expected_unseen(1000), rel=1e-10)


@pytest.mark.parametrize("dimension", [math.inf, 500, 10_000])
def test_unseen_variance_is_the_plain_complement(dimension):
    problem = SparseInputs(alpha1=0.7, alpha2=0.4, dimension=dimension)
    data = draw_sparse(problem, 300, np.random.default_rng(3))
    M = int(min(dimension, 10**6))
    s = sequences(problem, M)[2]
    inside = data.active[data.active <= M].astype(int) - 1
    s[inside] = 0.0
    beyond = zeta(problem.power_law().spectrum, M + 1) if dimension == math.inf else 0.0
    beyond -= np.sum(data.active[data.active > M] ** -problem.power_law().spectrum)
    assert problem.unseen_variance(data.active) == pytest.approx(math.fsum(s) + beyond, rel=1e-12)


def test_nothing_is_unseen_once_all_are_seen():
    problem = SparseInputs(alpha1=-1.0, alpha2=2.0, dimension=12)
    data = draw_sparse(problem, 3, np.random.default_rng(0))
    assert data.active.tolist() == list(range(1, 13))
    assert problem.unseen_variance(data.active) == 0.0


@pytest.mark.parametrize("alpha1", ALPHA1)
@pytest.mark.parametrize("dimension", [math.inf, 700])
@pytest.mark.parametrize("early", [False, True])
def test_rare_coordinates_follow_their_law(alpha1, dimension, early):
    """Beyond the split J, and from j = 2: chi-square of counts in bins against -log(1-p_j), summed exactly.

    p-value above 1e-4: a false alarm once in 10,000; seeds fixed.
    """
    problem = SparseInputs(alpha1=alpha1, alpha2=0.3, dimension=dimension)
    head = 1 if early else problem.last_above(1 / 16)
    draws = problem.draw_tail(head, 200_000, np.random.default_rng(7))
    assert draws.min() > head
    assert draws.max() <= dimension
    edges = np.unique(np.concatenate([np.arange(1, 13), np.geomspace(14, 600, 12).astype(int)])) + head
    edges = edges[edges < dimension]
    j = np.arange(head + 1.0, edges[-1] + 1.0)
    mass = np.cumsum(-np.log1p(-(j ** -(alpha1 + 1))))[edges - head - 1] / problem.tail_rate(head)
    expected = np.diff(np.concatenate([[0.0], mass, [1.0]])) * draws.size
    counts = np.diff(np.concatenate([[0], np.searchsorted(np.sort(draws), edges + 0.5), [draws.size]]))
    kept = expected > 5
    scale = counts[kept].sum() / expected[kept].sum()
    assert stats.chisquare(counts[kept], expected[kept] * scale).pvalue > 1e-4
    if early and alpha1 <= 0.5:  # planted: p_j in place of -log(1-p_j), which differ where p_j is large
        wrong = np.cumsum(j ** -(alpha1 + 1))[edges - head - 1]
        wrong = np.diff(np.concatenate([[0.0], wrong / power_sum(alpha1 + 1, head + 1, dimension), [1.0]]))
        assert stats.chisquare(counts, wrong * draws.size).pvalue < 1e-4


@pytest.mark.parametrize("alpha1", ALPHA1)
def test_far_tail_is_a_power_law(alpha1):
    """Kolmogorov-Smirnov far beyond the split, where j is nearly continuous: P(j > x) ~ x^-alpha1."""
    problem = SparseInputs(alpha1=alpha1, alpha2=0.3)
    draws = problem.draw_tail(2000, 20_000, np.random.default_rng(11))
    jitter = np.random.default_rng(12).random(draws.size) - 0.5
    uniform = ((draws + jitter) / 2000.5) ** -alpha1
    assert stats.kstest(uniform, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("alpha1", ALPHA1)
def test_counts_signs_and_coactivations(alpha1):
    """Each coordinate's count is Binomial(D, p_j); signs are fair; pairs meet with probability p_i p_j.

    |z| < 4.5 for some 60 normal scores: a false alarm once in 2,500.
    """
    problem = SparseInputs(alpha1=alpha1, alpha2=0.3)
    D, repeats, J = 200, 300, 30
    rng = np.random.default_rng(21)
    counts, squares = np.zeros(J + 1), np.zeros(J + 1)
    signs, entries, together, seen = 0, 0, np.zeros((J + 1, J + 1)), []
    for _ in range(repeats):
        data = draw_sparse(problem, D, rng)
        X = np.zeros((J + 1, D))
        near = data.active[data.column] <= J
        X[data.active[data.column[near]].astype(int), data.sample[near]] = data.sign[near]
        counts += np.abs(X).sum(axis=1)
        squares += np.abs(X).sum(axis=1) ** 2
        together += np.abs(X) @ np.abs(X).T
        signs, entries = signs + int(data.sign.sum()), entries + data.sign.size
        seen.append(data.active.size)
    p = np.concatenate([[0.0], sequences(problem, J)[0]])
    assert counts[1] == D * repeats
    total = D * repeats
    z = (counts[2:] - total * p[2:]) / np.sqrt(total * p[2:] * (1 - p[2:]))
    assert np.abs(z).max() < 4.5
    pair = p[2] * p[3]
    assert abs(together[2, 3] - total * pair) < 4.5 * np.sqrt(total * pair * (1 - pair))
    assert abs(signs) < 4.5 * np.sqrt(entries)
    # K: a sum of independent Bernoulli(1 - (1-p_j)^D), so that its mean and variance are exact sums.
    M = 10**6
    q = 1 - (1 - sequences(problem, M)[0]) ** D
    far = D * power_sum(alpha1 + 1, M + 1, math.inf)
    error = math.sqrt((np.sum(q * (1 - q)) + far) / repeats)
    assert abs(np.mean(seen) - np.sum(q) - far) < 4.5 * error
    # A sampler with the repeats kept, or with rates p_j, would miss the mean by many such errors.
    assert D * power_sum(alpha1 + 1, 1, math.inf) - np.sum(q) - far > 4.5 * error


def test_runs_of_a_common_coordinate_are_those_of_coin_tosses():
    """Per coordinate of 20,000 samples: how often it is active in one, in two and in three samples on end.

    |z| < 4.5 for 30 scores with the variances of moving products of coins; a false alarm once in 5,000.
    Repeats kept, or gaps of the wrong scale, would move the first by tens of deviations.
    """
    problem, D = SparseInputs(alpha1=1.0, alpha2=0.3), 20_000
    data = draw_sparse(problem, D, np.random.default_rng(31))
    for j in range(2, 12):
        p, active = j**-2.0, np.zeros(D)
        active[data.sample[data.column == j - 1]] = 1.0
        for run in (1, 2, 3):
            hits = np.prod([active[k : D - run + 1 + k] for k in range(run)], axis=0)
            q = p**run
            overlap = sum(p ** (run + k) - q**2 for k in range(1, run))
            deviation = math.sqrt(hits.size * (q - q**2 + 2 * overlap))
            assert abs(hits.sum() - hits.size * q) < 4.5 * deviation


def test_common_coordinates_fill_many_blocks_evenly():
    """D = 400,000: four blocks. Counts in tenths of the samples, |z| < 4.5 for 400 scores (one in 400)."""
    problem, D = SparseInputs(alpha1=1.0, alpha2=0.3), 400_000
    assert 0.64 * D > 3 * COMMON_BLOCK
    data = draw_sparse(problem, D, np.random.default_rng(32))
    near = data.active[data.column] <= 41
    tenth, j = data.sample[near] // (D // 10), data.active[data.column[near]].astype(int)
    counts = np.zeros((42, 10))
    np.add.at(counts, (j, tenth), 1.0)
    p = np.arange(2.0, 42.0)[:, None] ** -2.0
    z = (counts[2:] - D / 10 * p) / np.sqrt(D / 10 * p * (1 - p))
    assert np.abs(z).max() < 4.5
    assert np.sum(z**2) == pytest.approx(400, abs=4.5 * math.sqrt(800))
    ordered = np.lexsort((data.sample, data.column))
    assert np.array_equal(ordered, np.arange(ordered.size))


def test_arrivals_go_on_until_the_end():
    class Slow:
        def standard_exponential(self, size):
            return np.full(size, 0.25)

    times = _arrivals(100.0, Slow())
    assert times[-1] >= 100.0
    assert np.allclose(np.diff(times, prepend=0.0), 0.25)


@pytest.mark.parametrize(("alpha1", "dimension"), [(0.0, 50), (-0.5, 40), (-1.0, 6), (1.0, 3), (0.5, 1)])
def test_finite_dimensions_have_the_right_means(alpha1, dimension):
    problem = SparseInputs(alpha1=alpha1, alpha2=1.0, dimension=dimension)
    D = 20_000
    data = draw_sparse(problem, D, np.random.default_rng(2))
    counts = np.zeros(dimension)
    counts[data.active.astype(int) - 1] = np.bincount(data.column)
    p = sequences(problem, dimension)[0]
    assert np.all(np.abs(counts - D * p) <= 4.5 * np.sqrt(D * p * (1 - p)))


@pytest.mark.parametrize("alpha1", [0.3, 1.0, -0.5])
def test_patterns_are_those_of_the_matrix(alpha1):
    problem = SparseInputs(alpha1=alpha1, alpha2=0.8, dimension=30)
    data = draw_sparse(problem, 150, np.random.default_rng(5))
    X = as_matrix(problem, data)
    patterns = distinct_patterns(problem, data)
    rows = patterns.matrix(data.active.size).toarray()
    assert np.allclose(rows[patterns.inverse], X.T, rtol=1e-15, atol=0)
    assert len(np.unique(rows, axis=0)) == len(rows) == len(np.unique(X.T, axis=0))
    assert patterns.counts.sum() == data.samples
    assert np.array_equal(patterns.counts, np.bincount(patterns.inverse))


def test_an_infinite_tail_too_heavy_for_floats_is_refused():
    with pytest.raises(InputError, match="finite dimension"):
        draw_sparse(SparseInputs(alpha1=0.01, alpha2=1.0), 10, np.random.default_rng(0))


def test_same_seed_same_bytes():
    problem = SparseInputs(alpha1=0.5, alpha2=0.5)
    first, second = (draw_sparse(problem, 500, np.random.default_rng(4)) for _ in range(2))
    for name in ("active", "sample", "column", "sign"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes()
