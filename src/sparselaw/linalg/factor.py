"""A factor F of the data's second moments, G = F F^T, with as many columns as the rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import lapack, qr, svd

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.data.gram import ScaledGram
from sparselaw.linalg.dependence import CLEAR, PIVOT, Dependence, longest_first, variance_across
from sparselaw.linalg.elimination import DENSE, Triangle, dense, upper_factor

FEW = 200  # rows that LAPACK pivots in less time than the sparse code needs,
ALIKE = 1e-6  # and at no loss of digits where the shortest is not too short beside the longest


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """G = values values^T."""

    values: Triangle  # (K, r)
    length: FloatArray  # (K,) of the rows
    triangular: bool  # values is square and upper triangular: no rows of X_A are dependent
    dependence: Dependence | None = None  # of dependent rows, where it is known

    @property
    def rank(self) -> int:
        return int(self.values.shape[1])

    def dense(self) -> FloatArray:
        return dense(self.values)


def factorise(gram: ScaledGram) -> Factor:
    """Cholesky of the correlation matrix; with pivoting where rows of X_A are dependent."""
    return _triangular(gram) or _pivoted(gram)


def sparse_factor(gram: ScaledGram) -> Factor:
    """As ``factorise``, but sparse also where rows of X_A are dependent: F = [F_I; T F_I].

    Not for draws that depend on the columns of F, and not only on G: those of label noise for one teacher.
    """
    factor = _triangular(gram)
    if factor is not None:
        return factor
    few = gram.length.size <= FEW and gram.length.min() > ALIKE * gram.length.max()
    dependence = None if few else longest_first(gram)
    if dependence is None:
        return _pivoted(gram)
    order = np.argsort(np.concatenate([dependence.independent, dependence.dependent]))
    values = _in_order(_stacked(dependence), order)
    return Factor(values=values, length=gram.length, triangular=False, dependence=dependence)


def _stacked(dependence: Dependence) -> FloatArray | sparse.csr_array:
    """[F_I; T F_I]: the dependent rows below the others."""
    mixture, triangle = dependence.mixture, dependence.triangle
    if isinstance(triangle, np.ndarray) and mixture.nnz > DENSE * mixture.shape[0] * mixture.shape[1]:
        return np.concatenate([triangle, mixture.toarray() @ triangle])
    rows = sparse.csr_array(triangle)
    return sparse.csr_array(sparse.vstack([rows, mixture @ rows]))


def _in_order(stacked: FloatArray | sparse.csr_array, order: IntArray) -> Triangle:
    if isinstance(stacked, np.ndarray):
        return np.asarray(stacked[order])
    values = sparse.csc_array(stacked[order])
    dense = values.nnz > DENSE * values.shape[0] * values.shape[1]
    return np.asarray(values.toarray()) if dense else values


def _triangular(gram: ScaledGram) -> Factor | None:
    values = upper_factor(gram.correlation, gram.length, CLEAR)
    return None if values is None else Factor(values=values, length=gram.length, triangular=True)


def _pivoted(gram: ScaledGram) -> Factor:
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
    if factor.dependence is not None:
        return variance_across(factor.dependence, variances)
    values = factor.dense()
    scale = np.linalg.norm(values, axis=0)
    basis = np.asarray(qr(values / scale, mode="economic", check_finite=False)[0], dtype=np.float64)
    head = min(2 * factor.rank, values.shape[0])
    error = -(basis @ basis[:head].T)
    error[np.diag_indices(head)] += 1.0
    beyond = 1.0 - np.einsum("ij,ij->i", basis[head:], basis[head:])
    return float(np.einsum("ij,ij->j", error, error) @ variances[:head] + beyond @ variances[head:])
