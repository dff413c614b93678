"""What a solver's tolerance cuts against singular value decompositions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import sparselaw.data.factor as factor_of_rows
import sparselaw.data.tolerance as tolerance
from oracles.exact import jacobi
from oracles.sparse import as_matrix, gram_of
from sparselaw.data.factor import factorise, left_out, sparse_factor, without_small
from sparselaw.data.scaled_gram import ScaledGram, told_apart
from sparselaw.data.sparse_samples import draw_sparse
from sparselaw.data.tolerance import doubtful_rows, largest_singular_value, outside_kept
from sparselaw.inputs import SparseInputs


@pytest.fixture(autouse=True)
def sparse_however_small(monkeypatch):
    monkeypatch.setattr(factor_of_rows, "LAPACK_ROWS", 0)


def seen_apart(alpha1, alpha2, dimension, D, seed):
    inputs = SparseInputs(alpha1=alpha1, alpha2=alpha2, dimension=dimension)
    data = draw_sparse(inputs, D, np.random.default_rng(seed))
    return told_apart(gram_of(inputs, data), inputs.variances(data.active))


@pytest.mark.parametrize(
    ("alpha1", "alpha2", "D", "rtol"),
    [
        (1.0, 0.3, 3000, 1e-3),
        (1.0, 8.0, 500, 1e-6),
        (0.8, 0.8, 4000, 1e-5),
        (2.0, 10.0, 5000, 1e-3),
    ],
)
def test_independent_rows_are_cut_as_an_svd_would(alpha1, alpha2, D, rtol):
    seen = seen_apart(alpha1, alpha2, np.inf, D, 10)
    factor = sparse_factor(seen.gram)
    assert factor.triangular
    basis, singular, _ = np.linalg.svd(factor.dense(), full_matrices=False)
    small = singular <= rtol * singular[0]
    assert 0 < np.count_nonzero(small) <= doubtful_rows(factor, rtol) < singular.size
    assert largest_singular_value(factor) == pytest.approx(singular[0], rel=1e-12)
    rank, outside = outside_kept(factor, seen.variance, rtol)
    assert rank == np.count_nonzero(~small)
    along = seen.variance @ (basis[:, small] ** 2).sum(axis=1)
    assert outside == pytest.approx(along, rel=1e-9, abs=0.0)
    kept = without_small(factor, rtol)
    assert (kept.rank, left_out(kept, seen.variance)) == (rank, pytest.approx(along, rel=1e-9, abs=0.0))


@pytest.mark.parametrize("seed", range(5, 10))
def test_amplitudes_that_rise_leave_short_rows_among_long_ones(seed):
    seen = seen_apart(0.7, -1.5, np.inf, 2000, seed)
    factor = sparse_factor(seen.gram)
    singular = np.linalg.svd(factor.dense(), compute_uv=False)
    assert 0 < doubtful_rows(factor, 2.5e-3) < singular.size
    large = np.count_nonzero(singular > 2.5e-3 * singular[0])
    assert outside_kept(factor, seen.variance, 2.5e-3)[0] == large


@pytest.mark.parametrize(
    ("alpha1", "alpha2", "dimension", "D", "rtol"),
    [
        (0.1, 1.0, 200, 60, 1e-3),
        (0.2, 0.3, np.inf, 100, 1e-3),
        (0.3, 1.0, np.inf, 300, 1e-5),
        (0.3, 1.0, 2000, 300, 1e-4),
        (0.4, -1.0, 2000, 600, 0.05),
        (0.5, 2.0, np.inf, 600, 1e-6),
    ],
)
def test_dependent_rows_are_cut_as_an_svd_would(alpha1, alpha2, dimension, D, rtol):
    """All outside the kept singular vectors is left out, null space and cut together."""
    seen = seen_apart(alpha1, alpha2, dimension, D, 2)
    factor = sparse_factor(seen.gram)
    assert factor.dependence is not None
    plain = without_small(factorise(seen.gram), rtol)
    rank, outside = outside_kept(factor, seen.variance, rtol)
    assert rank == plain.rank < factor.rank
    assert outside == pytest.approx(left_out(plain, seen.variance), rel=1e-9, abs=0.0)


STEEP = [(0.3, 3.0, np.inf, 40, 1e-6), (0.2, 10.0, 60, 60, 1e-10), (0.5, 8.0, np.inf, 80, 1e-10)]


@pytest.mark.parametrize(("alpha1", "alpha2", "dimension", "D", "rtol"), STEEP)
def test_steep_amplitudes_keep_their_digits(alpha1, alpha2, dimension, D, rtol, monkeypatch):
    """Amplitudes down to 1e-20 and rows of one sample: singular vectors by one-sided Jacobi rotations.

    Coordinate by coordinate, of which the smallest diagonal entries of I - P are 1e-20 or less.
    """
    inputs = SparseInputs(alpha1=alpha1, alpha2=alpha2, dimension=dimension)
    data = draw_sparse(inputs, D, np.random.default_rng(1))
    gram = gram_of(inputs, data)
    factor = sparse_factor(gram)
    assert factor.dependence is not None
    basis, singular = jacobi(as_matrix(inputs, data))
    large = singular > rtol * singular.max()
    exact = (basis[:, ~large] ** 2).sum(axis=1)
    coordinates = np.eye(data.active.size)
    for j in range(data.active.size):
        rank, outside = outside_kept(factor, coordinates[j], rtol)
        assert rank == np.count_nonzero(large) < factor.rank
        assert outside == pytest.approx(exact[j], rel=1e-6, abs=1e-40)
    s = inputs.variances(data.active)
    assert outside_kept(factor, s, rtol)[1] == pytest.approx(s @ exact, rel=1e-10, abs=0.0)
    monkeypatch.setattr(tolerance, "SWEEPS", 0)
    assert outside_kept(factor, s, rtol)[1] != pytest.approx(s @ exact, rel=1e-10, abs=0.0)


@pytest.mark.parametrize("rtol", [1e-10, 1e-8, 1e-5])
def test_many_rows_far_below_are_cut_together(rtol, monkeypatch):
    """The same with and without the space of the longer rows being found first."""
    seen = seen_apart(0.4, 8.0, np.inf, 800, 4)
    factor, calls = sparse_factor(seen.gram), []
    without = tolerance._without
    monkeypatch.setattr(tolerance, "_without", lambda *a: calls.append(1) or without(*a))
    rank, outside = outside_kept(factor, seen.variance, rtol)
    assert calls
    monkeypatch.setattr(tolerance, "CUT_FIRST", 1.0)
    assert outside_kept(factor, seen.variance, rtol) == (rank, pytest.approx(outside, rel=1e-11, abs=0.0))
    assert len(calls) == 1


def test_amplitudes_far_below_the_tolerance_are_cut():
    """Lengths from 1 to 1e-90, correlated: their squares span 180 orders of magnitude."""
    correlation = np.full((6, 6), 0.3) + 0.7 * np.eye(6)
    length = np.array([1.0, 0.5, 1e-5, 1e-30, 1e-60, 1e-90])
    factor = sparse_factor(ScaledGram(length=length, correlation=sparse.csr_array(np.tril(correlation))))
    unit = np.eye(6)
    for j in (3, 4, 5):
        assert outside_kept(factor, unit[j], 1e-10) == (3, pytest.approx(1.0, rel=1e-12))
    along = outside_kept(factor, unit[2], 1e-10)[1]
    assert 1e-26 < np.sqrt(along) < 1e-25  # the ratio of lengths, times their correlation


@pytest.mark.parametrize("seed", range(1, 4))
def test_nearly_singular_data_need_a_wider_margin(seed):
    """As many rows as samples and no sparsity: singular values lie far below the lengths of all rows."""
    seen = seen_apart(-0.5, 1.0, 100, 100, seed)
    factor = sparse_factor(seen.gram)
    assert factor.triangular
    basis, singular, _ = np.linalg.svd(factor.dense())
    small = singular <= 1e-4 * singular[0]
    rank, outside = outside_kept(factor, seen.variance, 1e-4)
    assert rank == np.count_nonzero(~small) < 100
    assert outside == pytest.approx(seen.variance @ (basis[:, small] ** 2).sum(axis=1), rel=1e-7)
