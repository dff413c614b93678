"""A factor F of the data's second moments, G = F F^T, with as many columns as the rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, qr, solve_triangular, svd

from sparselaw.data.arrays import FloatArray
from sparselaw.data.gram import ScaledGram

PIVOT = 1e-10  # squared distance of a unit-length row from the span of the others, below which it is in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """G = values values^T; ``null`` is an orthonormal basis of the directions that G does not see."""

    values: FloatArray  # (K, r)
    null: FloatArray  # (K, K - r)
    triangular: bool = False  # values is lower triangular
    cut: int = 0  # directions that are there but below a solver's rank tolerance, counted in ``null``

    @property
    def rank(self) -> int:
        return int(self.values.shape[1])


def resolve(factor: Factor, rtol: float) -> Factor:
    """Give up the singular values of X_A at or below ``rtol`` times the largest, as a solver would.

    Row lengths bound them: where the shortest row is a thousand times above the cut, nothing is near it and
    the SVD is spared.
    """
    lengths = np.linalg.norm(factor.values, axis=1)
    if lengths.min() > 1e3 * rtol * np.linalg.norm(lengths):
        return factor
    basis, singular, _ = svd(factor.values, full_matrices=True, check_finite=False)
    kept = int(np.count_nonzero(singular > rtol * singular[0]))
    return Factor(values=basis[:, :kept] * singular[:kept], null=basis[:, kept:], cut=factor.rank - kept)


def factorise(gram: ScaledGram) -> Factor:
    """Cholesky of the correlation matrix; with pivoting where rows of X_A are dependent.

    Dependent rows are common: two rare coordinates seen once each, in the same sample, already are.
    """
    size = gram.length.size
    lower, info = lapack.dpotrf(gram.correlation.T, lower=1, clean=1)
    if info == 0 and np.diag(lower).min() ** 2 > PIVOT:
        return Factor(values=gram.length[:, None] * lower, null=np.empty((size, 0)), triangular=True)
    packed, pivots, rank, _ = lapack.dpstrf(gram.correlation, tol=PIVOT, lower=1)
    order = pivots - 1
    lower = np.tril(packed)[:, :rank]
    values = np.empty((size, rank))
    values[order] = gram.length[order, None] * lower
    # After pivoting L = [L1; L2]: the correlations' null vectors are [-L1^-T L2^T; I], G's those over length.
    null = np.zeros((size, size - rank))
    null[order[:rank]] = -solve_triangular(lower[:rank], lower[rank:].T, lower=True, trans="T")
    null[order[rank:]] = np.eye(size - rank)
    null /= gram.length[:, None]
    null /= np.linalg.norm(null, axis=0)
    basis = np.asarray(qr(null, mode="economic", check_finite=False)[0], dtype=np.float64)
    return Factor(values=values, null=basis)
