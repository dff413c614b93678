"""Second moments of the data against those of the whole matrix."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.sparse import as_matrix, gram_of, in_full
from sparselaw.data.sparse_samples import draw_sparse
from sparselaw.inputs import SparseInputs


@pytest.mark.parametrize(
    ("alpha1", "dimension", "D"),
    [(1.0, 1e9, 3000), (0.3, 30, 150), (-0.5, 40, 400), (2.0, 1, 7), (1.0, 30, 1)],
)
def test_gram_is_that_of_the_matrix(alpha1, dimension, D):
    problem = SparseInputs(alpha1=alpha1, alpha2=0.8, dimension=dimension)
    data = draw_sparse(problem, D, np.random.default_rng(5))
    X = as_matrix(problem, data)
    assert np.allclose(in_full(gram_of(problem, data)), X @ X.T, rtol=1e-13, atol=1e-15)
