"""The sparse Cholesky factor and systems with it against dense linear algebra."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from oracles.sparse import gram_of, in_full
from sparselaw.data.factor import PIVOT
from sparselaw.data.scaled_gram import solve, told_apart, upper_factor
from sparselaw.data.sparse_samples import draw_sparse
from sparselaw.inputs import SparseInputs


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
    assert np.allclose(solve(F, right, transposed=True), np.linalg.solve(full.T, right), rtol=1e-9)
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
