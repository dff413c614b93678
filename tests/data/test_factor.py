"""The factor of G where rows are dependent against plain linear algebra."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.sparse import as_matrix, gram_of, in_full, sequences
from sparselaw.data.factor import factorise, left_out, sparse_factor
from sparselaw.data.scaled_gram import told_apart
from sparselaw.data.sparse_samples import draw_sparse
from sparselaw.inputs import SparseInputs


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


def test_few_rows_of_like_length_are_left_to_lapack():
    inputs = SparseInputs(alpha1=0.1, alpha2=0.0, dimension=60)
    data = draw_sparse(inputs, 30, np.random.default_rng(0))
    gram = gram_of(inputs, data)
    assert sparse_factor(gram).dependence is None
    assert np.array_equal(sparse_factor(gram).dense(), factorise(gram).dense())
    steep = SparseInputs(alpha1=0.1, alpha2=10.0, dimension=60)
    assert sparse_factor(gram_of(steep, data)).dependence is not None
