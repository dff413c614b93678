"""Coordinates only ever seen together against the problem with all of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from oracles.linear import averaged_min_norm
from oracles.sparse import as_matrix, gram_of
from sparselaw.data.factor import factorise, left_out
from sparselaw.data.scaled_gram import ScaledGram, told_apart
from sparselaw.data.sparse_samples import SparseData
from sparselaw.inputs import SparseInputs
from sparselaw.trials.linear_problem import draw_embedding
from sparselaw.trials.linear_readout import inverse_traces


def with_collinear():
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


def test_collinear_coordinates_leave_the_traces_of_the_problem_as_they_are():
    """Rank, variance outside the span, tr(Sigma G^+) and tr(G^+): turning coordinates changes none."""
    problem = SparseInputs(alpha1=1.0, alpha2=0.3)
    data = with_collinear()
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


def test_loss_with_collinear_is_the_loss_with_all_coordinates():
    """N = 1 feature, 2,000 draws of u each way, |z| < 4 (once in 16,000); unmerged variances must fail."""
    problem, rng = SparseInputs(alpha1=1.0, alpha2=0.3), np.random.default_rng(4)
    data, s = with_collinear(), np.array([0.2, 0.2, 1.0, 2.0, 1.5, 0.5])
    seen = told_apart(gram_of(problem, data), s)
    X, F = as_matrix(problem, data), factorise(seen.gram).dense()
    plain, turned, wrong = [], [], []
    for _ in range(2_000):
        plain.append(averaged_min_norm(X, draw_embedding(1, 6, rng), s, 0.1, 1, 0.0))
        u = draw_embedding(1, 4, rng)
        turned.append(averaged_min_norm(F, u, seen.variance, 0.1 + seen.across, 1, 0.0))
        wrong.append(averaged_min_norm(F, u, s[:4], 0.1, 1, 0.0))
    error = np.hypot(np.std(plain), np.std(turned)) / np.sqrt(2_000)
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
