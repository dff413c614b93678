"""The second moments of the data over the active coordinates, G = X_A X_A^T, kept in scaled form.

Coordinates differ by many orders of magnitude, but after scaling each to length one G becomes a correlation
matrix of small integers over square roots of counts: its rank is read off with no doubt, and its Cholesky
factor is accurate however small the amplitudes are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sparselaw.data.arrays import FloatArray
from sparselaw.data.sparse import SparseData
from sparselaw.data.spectrum import amplitudes
from sparselaw.problem import SparseInputs


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledGram:
    """G = diag(length) correlation diag(length)."""

    length: FloatArray  # (K,) sqrt(G_jj)
    correlation: FloatArray  # (K, K), ones on the diagonal


def scaled_gram(problem: SparseInputs, data: SparseData) -> ScaledGram:
    """From the co-activations of pairs: the cost is the sum over samples of their nonzeros squared.

    Most nonzeros are of the first coordinate, which is always active: its row needs no search for partners.
    """
    first, rest = data.sign[: data.samples], slice(data.samples, None)  # x_1 is active in every sample
    with_first = (data.sign[rest] * first[data.sample[rest]]).astype(np.float64)
    row = np.bincount(data.column[rest] - 1, with_first, minlength=data.active.size - 1)
    starts = np.searchsorted(data.column[rest], np.arange(1, data.active.size + 1))
    entries = (data.sign[rest].astype(np.float64), data.sample[rest], starts.astype(data.sample.dtype))
    signs = sparse.csr_array(entries, shape=(data.active.size - 1, data.samples))
    pairs = sparse.coo_array(signs @ signs.T)
    root = np.sqrt(np.diff(starts))
    correlation = np.zeros((data.active.size, data.active.size))
    correlation[0, 0] = 1.0
    correlation[0, 1:] = correlation[1:, 0] = row / (root * np.sqrt(data.samples))
    at, partner = pairs.coords
    correlation[at + 1, partner + 1] = pairs.data / (root[at] * root[partner])
    length = np.concatenate([[np.sqrt(data.samples)], root]) * amplitudes(problem, data.active)
    return ScaledGram(length=length, correlation=correlation)
