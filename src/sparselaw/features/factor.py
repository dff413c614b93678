"""A factor F of the data's second moments, G = F F^T, with as many columns as the rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, qr, svd

from sparselaw.data.arrays import FloatArray, IntArray
from sparselaw.data.gram import ScaledGram
from sparselaw.features.elimination import Triangle, dense, solve_transposed, upper_factor

PIVOT = 1e-10  # squared distance of a unit-length row from the span of the others, below which it is in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """G = values values^T."""

    values: Triangle  # (K, r)
    length: FloatArray  # (K,) of the rows
    null: FloatArray | None  # (K, K - r), an orthonormal basis of the null space of G, where it is at hand

    @property
    def rank(self) -> int:
        return int(self.values.shape[1])

    @property
    def full_rank(self) -> bool:
        """No rows of X_A are dependent, and ``values`` is upper triangular."""
        return self.null is not None and self.rank == self.length.size

    def dense(self) -> FloatArray:
        return dense(self.values)


def factorise(gram: ScaledGram) -> Factor:
    """Cholesky of the correlation matrix; with pivoting where its dense rest has dependent rows."""
    found = upper_factor(gram.correlation, gram.length, PIVOT)
    if found is not None:
        return Factor(values=found[0], length=gram.length, null=_null_space(*found))
    packed, pivots, rank, _ = lapack.dpstrf(gram.correlation.toarray().T, tol=PIVOT, overwrite_a=1)
    order = pivots - 1
    values = np.empty((gram.length.size, rank))
    values[order] = gram.length[order, None] * np.triu(packed).T[:, :rank]
    return Factor(values=values, length=gram.length, null=None)


def _null_space(values: Triangle, independent: IntArray) -> FloatArray:
    """The independent rows are a triangle; each other row is a combination of them, hence a null vector."""
    size, rank = values.shape
    null = np.zeros((size, size - rank))
    if rank == size:
        return null
    others = np.setdiff1d(np.arange(size), independent)
    triangle = values[independent]
    if not isinstance(triangle, np.ndarray):
        triangle.sort_indices()
    null[independent] = -solve_transposed(triangle, dense(values[others]).T)
    null[others, np.arange(others.size)] = 1.0
    null /= np.abs(null).max(axis=0)  # first, since squares may overflow
    null /= np.linalg.norm(null, axis=0)
    return np.asarray(qr(null, mode="economic", check_finite=False)[0], dtype=np.float64)


def without_small(factor: Factor, rtol: float) -> FloatArray:
    """A factor (K, r') without the singular values of X_A at or below ``rtol`` times the largest."""
    basis, singular, _ = svd(factor.dense(), full_matrices=False, check_finite=False)
    kept = singular > rtol * singular[0]
    return np.asarray(basis[:, kept] * singular[kept])


def left_out(factor: Factor, variances: FloatArray) -> float:
    """tr(Sigma (I - P)) over the active coordinates, P the projection on the column space of G.

    From a basis Q of the space it is sum_j s_j |e_j - Q Q_j^T|^2: the same as s_j (1 - |Q_j|^2), but without
    its cancellation for the leading coordinates. Those beyond twice the rank have none to fear.
    """
    if factor.null is not None:
        return float(variances @ np.einsum("ij,ij->i", factor.null, factor.null))
    values = factor.dense()
    scale = np.linalg.norm(values, axis=0)
    basis = np.asarray(qr(values / scale, mode="economic", check_finite=False)[0], dtype=np.float64)
    head = min(2 * factor.rank, values.shape[0])
    error = -(basis @ basis[:head].T)
    error[np.diag_indices(head)] += 1.0
    beyond = 1.0 - np.einsum("ij,ij->i", basis[head:], basis[head:])
    return float(np.einsum("ij,ij->j", error, error) @ variances[:head] + beyond @ variances[head:])
