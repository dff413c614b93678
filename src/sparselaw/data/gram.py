"""The second moments of the data over the active coordinates, G = X_A X_A^T, kept in scaled form.

Coordinates differ by many orders of magnitude, but after scaling each to length one G becomes a correlation
matrix of small integers over square roots of counts: its rank is read off with no doubt, and its Cholesky
factor is accurate however small the amplitudes are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparselaw.data.arrays import FloatArray
from sparselaw.data.patterns import sign_matrix
from sparselaw.data.sparse import SparseData
from sparselaw.data.spectrum import amplitudes
from sparselaw.problem import SparseInputs


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledGram:
    """G = diag(length) correlation diag(length)."""

    length: FloatArray  # (K,) sqrt(G_jj)
    correlation: FloatArray  # (K, K), ones on the diagonal


def scaled_gram(problem: SparseInputs, data: SparseData) -> ScaledGram:
    """From the co-activations of pairs: the cost is the sum over samples of their nonzeros squared."""
    signs = sign_matrix(data).astype(np.float64)
    coactivation = (signs @ signs.T).toarray()
    root = np.sqrt(np.diag(coactivation))
    coactivation /= root[:, None]
    coactivation /= root
    return ScaledGram(length=root * amplitudes(problem, data.active), correlation=coactivation)
