"""Second moments, coordinates that are told apart, and the factor of G: against plain linear algebra."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from oracles.linear import averaged_min_norm
from oracles.sparse import as_matrix, sequences
from sparselaw.data.gram import ScaledGram, scaled_gram
from sparselaw.data.sparse_samples import SparseData, draw_sparse
from sparselaw.data.twins import told_apart
from sparselaw.inputs import SparseInputs
from sparselaw.linalg.elimination import solve, solve_transposed, upper_factor
from sparselaw.linalg.factor import PIVOT, factorise, left_out, without_small
from sparselaw.linalg.tolerance import cut_directions, doubtful_rows, largest_singular_value
from sparselaw.trials.linear.closed import inverse_traces
from sparselaw.trials.linear.problem import draw_embedding


def gram_of(problem, data):
    return scaled_gram(data, problem.amplitudes(data.active))


def in_full(gram):
    lower = gram.correlation.toarray()
    assert np.array_equal(lower, np.tril(lower))
    return gram.length[:, None] * (lower + np.tril(lower, -1).T) * gram.length


@pytest.mark.parametrize(
    ("alpha1", "dimension", "D"),
    [(1.0, 1e9, 3000), (0.3, 30, 150), (-0.5, 40, 400), (2.0, 1, 7), (1.0, 30, 1)],
)
def test_gram_is_that_of_the_matrix(alpha1, dimension, D):
    problem = SparseInputs(alpha1=alpha1, alpha2=0.8, dimension=dimension)
    data = draw_sparse(problem, D, np.random.default_rng(5))
    X = as_matrix(problem, data)
    assert np.allclose(in_full(gram_of(problem, data)), X @ X.T, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize(
    ("alpha1", "dimension", "D", "kept_sparse", "core"),
    [
        (1.0, 1e9, 3000, True, False),
        (0.8, 300, 3000, True, False),
        (0.35, 300, 3000, True, True),
        (-0.5, 150, 2000, False, True),
        (1.0, 1, 9, False, False),
    ],
)
def test_factor_is_triangular_and_solves(alpha1, dimension, D, kept_sparse, core, monkeypatch):
    problem = SparseInputs(alpha1=alpha1, alpha2=0.8, dimension=dimension)
    data = draw_sparse(problem, D, np.random.default_rng(1))
    gram = told_apart(gram_of(problem, data), problem.variances(data.active)).gram
    calls = []
    potrf = upper_factor.__globals__["lapack"].dpotrf
    monkeypatch.setattr(
        upper_factor.__globals__["lapack"], "dpotrf", lambda *a, **k: calls.append(1) or potrf(*a, **k)
    )
    F = upper_factor(gram.correlation, gram.length, PIVOT)
    assert (not isinstance(F, np.ndarray), bool(calls)) == (kept_sparse, core)
    full = F.toarray() if kept_sparse else F
    assert np.array_equal(full, np.triu(full))
    G = in_full(gram)
    assert np.allclose(full @ full.T, G, rtol=1e-12, atol=1e-13 * G.max())
    right = np.random.default_rng(2).standard_normal((len(G), 7))
    before = right.copy()
    assert np.allclose(solve(F, right), np.linalg.solve(full, right), rtol=1e-9)
    assert np.allclose(solve_transposed(F, right), np.linalg.solve(full.T, right), rtol=1e-9)
    assert np.array_equal(right, before)


def test_factor_with_far_more_fill_than_entries():
    """The last coordinate meets all others: eliminated first, it makes everything full."""
    lower = np.eye(60)
    lower[-1, :-1] = 0.1
    F = upper_factor(sparse.csr_array(lower), np.ones(60), PIVOT)
    assert isinstance(F, np.ndarray)
    assert np.allclose(F @ F.T, lower + np.tril(lower, -1).T, atol=1e-14)


def test_dependent_rows_have_no_triangular_factor():
    lower = np.array([[1.0, 0, 0], [0.6, 1.0, 0], [-0.6, -1.0, 1.0]])
    assert upper_factor(sparse.csr_array(lower), np.ones(3), PIVOT) is None


@pytest.mark.parametrize(("alpha1", "D"), [(0.35, 400), (0.3, 500), (0.2, 300)])
def test_many_dependent_rows(alpha1, D):
    """Dependent rows beyond twins; rank and what is left out are those of an SVD."""
    problem = SparseInputs(alpha1=alpha1, alpha2=0.5, dimension=5000)
    data = draw_sparse(problem, D, np.random.default_rng(6))
    seen = told_apart(gram_of(problem, data), problem.variances(data.active))
    factor, G = factorise(seen.gram), in_full(seen.gram)
    assert factor.rank == np.linalg.matrix_rank(as_matrix(problem, data)) < seen.variance.size
    assert np.allclose(factor.dense() @ factor.dense().T, G, rtol=1e-12, atol=1e-13 * G.max())
    inside = np.linalg.svd(factor.dense(), full_matrices=False)[0]
    outside = seen.variance @ (1.0 - (inside**2).sum(axis=1))
    assert left_out(factor, seen.variance) == pytest.approx(outside, rel=1e-9)


def test_rank_never_exceeds_the_samples():
    """Dense data with more coordinates than samples, where rounding may grow without pivoting."""
    problem = SparseInputs(alpha1=-0.8, alpha2=1.0, dimension=40)
    rng = np.random.default_rng(0)
    for _ in range(2000):
        assert factorise(gram_of(problem, draw_sparse(problem, 30, rng))).rank <= 30


def test_null_vectors_that_share_a_tiny_coordinate():
    """x_2 = x_3 + x_5 and x_4 = x_3 + x_6 in unit amplitudes, that of x_3 being 1e-30.

    Both null vectors point along x_3 to 30 digits; the second direction is still found. Reference: exact
    projection by rational numbers.
    """
    signs = np.zeros((6, 8))
    signs[0], signs[2, 0], signs[4, 1], signs[5, 2] = 1.0, 1.0, 1.0, 1.0
    signs[1], signs[3] = signs[2] + signs[4], signs[2] + signs[5]
    amplitude = [1.0, 0.5, 1e-30, 0.25, 0.125, 0.0625]
    unit = signs / np.linalg.norm(signs, axis=1)[:, None]
    length = np.array(amplitude) * np.linalg.norm(signs, axis=1)
    gram = ScaledGram(length=length, correlation=sparse.csr_array(np.tril(unit @ unit.T)))
    s = np.array([1.0, 0.3, 1e-40, 0.1, 0.02, 0.01])
    null = [[Fraction(c) / Fraction(a) for c, a in zip(v, amplitude, strict=True)]
            for v in ([0, 1, -1, 0, -1, 0], [0, 0, -1, 1, 0, -1])]  # fmt: skip
    (a, b), (c, d) = [[sum(x * y for x, y in zip(u, v, strict=True)) for v in null] for u in null]
    inverse = [[d, -b], [-c, a]]
    exact = sum(
        Fraction(s[j]) * null[i][j] * inverse[i][k] * null[k][j]
        for j in range(6)
        for i in (0, 1)
        for k in (0, 1)
    ) / (a * d - b * c)
    factor = factorise(gram)
    assert factor.rank == 4
    assert left_out(factor, s) == pytest.approx(float(exact), rel=1e-10)


@pytest.mark.parametrize("D", [1, 2, 5, 12])
def test_factor_rank_and_null_space_when_rows_are_dependent(D):
    problem = SparseInputs(alpha1=0.1, alpha2=0.8, dimension=30)
    data = draw_sparse(problem, D, np.random.default_rng(8))
    X = as_matrix(problem, data)
    factor = factorise(gram_of(problem, data))
    assert factor.rank == np.linalg.matrix_rank(X) <= min(D, 30)
    assert np.allclose(factor.dense() @ factor.dense().T, X @ X.T, atol=1e-13)
    outside = np.eye(len(X)) - X @ np.linalg.pinv(X)
    s = sequences(problem, 30)[2][data.active.astype(int) - 1]
    assert left_out(factor, s) == pytest.approx(s @ np.diag(outside), rel=1e-10, abs=1e-15)


@pytest.mark.parametrize(
    ("alpha1", "alpha2", "D", "rtol"),
    [
        (1.0, 0.3, 3000, 1e-3),
        (1.0, 8.0, 500, 1e-6),
        (0.8, 0.8, 4000, 1e-5),
        (2.0, 10.0, 5000, 1e-3),
    ],
)
def test_tolerance_cuts_what_an_svd_would(alpha1, alpha2, D, rtol):
    problem = SparseInputs(alpha1=alpha1, alpha2=alpha2)
    data = draw_sparse(problem, D, np.random.default_rng(10))
    seen = told_apart(gram_of(problem, data), problem.variances(data.active))
    factor = factorise(seen.gram)
    assert factor.triangular
    basis, singular, _ = np.linalg.svd(factor.dense(), full_matrices=False)
    small = singular <= rtol * singular[0]
    assert 0 < np.count_nonzero(small) <= doubtful_rows(factor, rtol) < singular.size
    assert largest_singular_value(factor) == pytest.approx(singular[0], rel=1e-12)
    cut = cut_directions(factor, rtol)
    assert np.allclose(cut.T @ cut, np.eye(np.count_nonzero(small)), atol=1e-13)
    along = seen.variance @ (cut**2).sum(axis=1)
    assert along == pytest.approx(seen.variance @ (basis[:, small] ** 2).sum(axis=1), rel=1e-9)
    kept = without_small(factor, rtol).dense()
    assert kept.shape[1] == np.count_nonzero(~small)
    assert np.allclose(cut.T @ kept, 0.0, atol=1e-12 * singular[0])


@pytest.mark.parametrize("seed", range(5, 10))
def test_amplitudes_that_rise_leave_short_rows_among_long_ones(seed):
    problem = SparseInputs(alpha1=0.7, alpha2=-1.5)
    data = draw_sparse(problem, 2000, np.random.default_rng(seed))
    factor = factorise(told_apart(gram_of(problem, data), problem.variances(data.active)).gram)
    singular = np.linalg.svd(factor.dense(), compute_uv=False)
    assert 0 < doubtful_rows(factor, 2.5e-3) < singular.size
    assert cut_directions(factor, 2.5e-3).shape[1] == np.count_nonzero(singular <= 2.5e-3 * singular[0])


def test_tolerance_with_dependent_rows():
    """What is left out is all outside the kept singular vectors, null space and cut together."""
    problem = SparseInputs(alpha1=0.5, alpha2=3.0, dimension=200)
    data = draw_sparse(problem, 30, np.random.default_rng(9))
    X, s = as_matrix(problem, data), problem.variances(data.active)
    factor = factorise(gram_of(problem, data))
    assert not factor.triangular
    basis, singular, _ = np.linalg.svd(X, full_matrices=False)
    large = singular > 1e-3 * singular[0]
    kept = without_small(factor, 1e-3)
    assert kept.rank == np.count_nonzero(large) < factor.rank
    outside = s @ (1.0 - (basis[:, large] ** 2).sum(axis=1))
    assert left_out(kept, s) == pytest.approx(outside, rel=1e-9)


def test_amplitudes_far_below_the_tolerance_are_cut():
    """Lengths from 1 to 1e-90, correlated: their squares span 180 orders of magnitude."""
    correlation = np.full((6, 6), 0.3) + 0.7 * np.eye(6)
    length = np.array([1.0, 0.5, 1e-5, 1e-30, 1e-60, 1e-90])
    factor = factorise(ScaledGram(length=length, correlation=sparse.csr_array(np.tril(correlation))))
    cut = cut_directions(factor, 1e-10)
    assert cut.shape[1] == 3
    assert np.allclose(cut[3:].T @ cut[3:], np.eye(3), atol=1e-12)
    assert 1e-26 < np.abs(cut[2]).max() < 1e-25  # the ratio of lengths, times their correlation


def with_twins():
    """Coordinates 1, ..., 6; 3 and 5 always together, 4 and 6 only once, with opposite signs."""
    rows = [np.array([0, 1, 2, 3, 4, 5, 6, 7]), [1, 4, 6], [0, 2], [5], [0, 2], [5]]
    signs = [[1, -1, 1, 1, -1, 1, 1, 1], [1, 1, -1], [1, 1], [1], [-1, -1], [-1]]
    return SparseData(
        samples=8,
        active=np.arange(1.0, 7.0),
        sample=np.concatenate(rows).astype(np.int32),
        column=np.repeat(np.arange(6, dtype=np.int32), [len(row) for row in rows]),
        sign=np.concatenate(signs).astype(np.int8),
    )


def test_twins_leave_the_traces_of_the_problem_as_they_are():
    """Rank, variance outside the span, tr(Sigma G^+) and tr(G^+): turning coordinates changes none."""
    problem = SparseInputs(alpha1=1.0, alpha2=0.3)
    data = with_twins()
    gram, s = gram_of(problem, data), problem.variances(data.active)
    seen = told_apart(gram, s)
    whole, merged = factorise(gram), factorise(seen.gram)
    assert (whole.rank, merged.rank, seen.variance.size) == (4, 4, 4)
    assert seen.across > 0.0
    assert seen.across + seen.variance.sum() == pytest.approx(s.sum(), rel=1e-14)
    assert seen.across + left_out(merged, seen.variance) == pytest.approx(left_out(whole, s), rel=1e-12)
    X = as_matrix(problem, data)
    P = X @ np.linalg.pinv(X)
    assert seen.across == pytest.approx(s @ np.diag(np.eye(6) - P), rel=1e-12)
    traces = inverse_traces(merged.dense(), seen.variance)
    assert traces == pytest.approx(inverse_traces(whole.dense(), s), rel=1e-12)
    assert traces == pytest.approx(
        (s @ np.diag(np.linalg.pinv(X @ X.T)), np.trace(np.linalg.pinv(X @ X.T))), rel=1e-10
    )


def test_loss_with_twins_is_the_loss_with_all_coordinates():
    """N = 1 feature, 20,000 draws of u each way, |z| < 4 (once in 16,000); unmerged variances must fail."""
    problem, rng = SparseInputs(alpha1=1.0, alpha2=0.3), np.random.default_rng(4)
    data, s = with_twins(), np.array([0.2, 0.2, 1.0, 2.0, 1.5, 0.5])
    seen = told_apart(gram_of(problem, data), s)
    X, F = as_matrix(problem, data), factorise(seen.gram).dense()
    plain, turned, wrong = [], [], []
    for _ in range(20_000):
        plain.append(averaged_min_norm(X, draw_embedding(1, 6, rng), s, 0.1, 1, 0.0))
        u = draw_embedding(1, 4, rng)
        turned.append(averaged_min_norm(F, u, seen.variance, 0.1 + seen.across, 1, 0.0))
        wrong.append(averaged_min_norm(F, u, s[:4], 0.1, 1, 0.0))
    error = np.hypot(np.std(plain), np.std(turned)) / np.sqrt(20_000)
    assert abs(np.mean(plain) - np.mean(turned)) < 4 * error
    assert abs(np.mean(plain) - np.mean(wrong)) > 4 * error


def test_groups_of_any_size_have_one_leader():
    correlation = np.array([[1.0, 0, 0, 0], [0.5, 1, 0, 0], [-0.5, -1, 1, 0], [0.5, 1, -1, 1]])
    length = np.array([1.0, 2.0, 2.0, 1.0])
    seen = told_apart(ScaledGram(length=length, correlation=sparse.csr_array(correlation)), np.ones(4))
    assert seen.gram.length.tolist() == pytest.approx([1.0, 3.0])
    assert seen.gram.correlation.toarray().tolist() == [[1.0, 0.0], [0.5, 1.0]]
    assert seen.variance.tolist() == pytest.approx([1.0, 1.0])
    assert seen.across == pytest.approx(2.0)
