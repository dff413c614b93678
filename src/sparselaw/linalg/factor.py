"""A factor F of the data's second moments, G = F F^T, with as many columns as the rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, qr, svd

from sparselaw.arrays import FloatArray
from sparselaw.data.gram import ScaledGram
from sparselaw.linalg.elimination import Triangle, dense, upper_factor

CLEAR = 1e-6  # a pivot below it calls for pivoting to decide: without, rounding may have grown as large
PIVOT = 1e-10  # squared distance of a unit-length row from the span of the others, below which it is in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """G = values values^T."""

    values: Triangle  # (K, r)
    length: FloatArray  # (K,) of the rows
    triangular: bool  # values is square and upper triangular: no rows of X_A are dependent

    @property
    def rank(self) -> int:
        return int(self.values.shape[1])

    def dense(self) -> FloatArray:
        return dense(self.values)


def factorise(gram: ScaledGram) -> Factor:
    """Cholesky of the correlation matrix; with pivoting where rows of X_A are dependent."""
    triangle = upper_factor(gram.correlation, gram.length, CLEAR)
    if triangle is not None:
        return Factor(values=triangle, length=gram.length, triangular=True)
    packed, pivots, rank, _ = lapack.dpstrf(gram.correlation.toarray().T, tol=PIVOT, overwrite_a=1)
    order = pivots - 1
    values = np.empty((gram.length.size, rank))
    values[order] = gram.length[order, None] * np.triu(packed).T[:, :rank]
    return Factor(values=values, length=gram.length, triangular=False)


def without_small(factor: Factor, rtol: float) -> Factor:
    """A factor (K, r') without the singular values of X_A at or below ``rtol`` times the largest."""
    basis, singular, _ = svd(factor.dense(), full_matrices=False, check_finite=False)
    kept = singular > rtol * singular[0]
    return Factor(values=basis[:, kept] * singular[kept], length=factor.length, triangular=False)


def left_out(factor: Factor, variances: FloatArray) -> float:
    """tr(Sigma (I - P)) over the active coordinates, P the projection on the column space of G.

    Zero when G has full rank. Otherwise sum_j s_j |e_j - Q Q_j^T|^2: the same as s_j (1 - |Q_j|^2), but
    without its cancellation for the leading coordinates. Those beyond twice the rank have none to fear.
    """
    if factor.rank == factor.length.size:
        return 0.0
    values = factor.dense()
    scale = np.linalg.norm(values, axis=0)
    basis = np.asarray(qr(values / scale, mode="economic", check_finite=False)[0], dtype=np.float64)
    head = min(2 * factor.rank, values.shape[0])
    error = -(basis @ basis[:head].T)
    error[np.diag_indices(head)] += 1.0
    beyond = 1.0 - np.einsum("ij,ij->i", basis[head:], basis[head:])
    return float(np.einsum("ij,ij->j", error, error) @ variances[:head] + beyond @ variances[head:])
