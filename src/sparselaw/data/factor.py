"""A factor F of the data's second moments, G = F F^T, with as many columns as the rank.

**Dependent rows** (``longest_first``) are combinations of longer ones. Of every set of dependent rows the
shortest goes: row j of the rest J is sum_i T_ji times row i of the independent rows I, and T_ji = 0 unless
row i is at least as long. Unit rows differ from each other's spans by far more than rounding, so that T is of
order one whatever the amplitudes. Then the column space of G holds the vectors x with x_J = T x_I, and its
complement has the basis x_I = -T^T y, x_J = y: with I + T T^T = L L^T the columns of [-T^T; I] L^-T are
orthonormal. Nothing cancels.

The rows are found in two steps. Rare coordinates eliminated first, as the factor wants it, leave a
set of dependent rows that may be long; each is a vector of the left null space. Gaussian elimination of
these few vectors, the shortest row first, exchanges the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import cholesky, lapack, qr, solve_triangular, svd

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.compiled import lazy_njit
from sparselaw.data.scaled_gram import (
    DENSE,
    ScaledGram,
    Triangle,
    dependent_rows,
    solve,
    upper_factor,
)

LAPACK_ROWS = 200  # rows that LAPACK pivots in less time than the sparse code needs,
SHORTEST_FOR_LAPACK = 1e-6  # and at no loss of digits where the shortest is not too short beside the longest
CLEAR = 1e-6  # a pivot below it calls for pivoting to decide: without, rounding may have grown as large
PIVOT = 1e-10  # squared distance of a unit-length row from the span of the others, below which it is in it
NOISE = 1e-9  # coefficients of unit rows are ratios of small integers and roots of counts, or zero
ROOM = 5e7  # entries of the null vectors; more are left to dense code


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
        return self.values if isinstance(self.values, np.ndarray) else np.asarray(self.values.toarray())


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
    few = gram.length.size <= LAPACK_ROWS and gram.length.min() > SHORTEST_FOR_LAPACK * gram.length.max()
    dependence = None if few else longest_first(gram)
    if dependence is None:
        return _pivoted(gram)
    mixture, triangle = dependence.mixture, dependence.triangle
    order = np.argsort(np.concatenate([dependence.independent, dependence.dependent]))
    values: Triangle
    if isinstance(triangle, np.ndarray) and mixture.nnz > DENSE * mixture.shape[0] * mixture.shape[1]:
        values = np.concatenate([triangle, mixture.toarray() @ triangle])[order]
    else:
        rows = sparse.csr_array(triangle)
        values = sparse.csc_array(sparse.csr_array(sparse.vstack([rows, mixture @ rows]))[order])
        if values.nnz > DENSE * values.shape[0] * values.shape[1]:
            values = np.asarray(values.toarray())
    return Factor(values=values, length=gram.length, triangular=False, dependence=dependence)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependence:
    """X_J = T X_I."""

    gram: ScaledGram
    independent: IntArray  # I, (r,) ascending
    dependent: IntArray  # J, (d,) ascending
    mixture: sparse.csr_array  # T (d, r)
    triangle: Triangle  # F (r, r), upper triangular with G_II = F F^T


def longest_first(gram: ScaledGram) -> Dependence | None:
    """The dependencies of the rows; None where rounding leaves a doubt."""
    found = dependent_rows(gram.correlation, CLEAR, PIVOT)
    if found is None or found.size * gram.length.size > ROOM:
        return None
    first = _combinations(gram, found)
    if first is None:
        return None
    independent, coefficients, _ = first
    null = np.zeros((found.size, gram.length.size))
    null[:, independent], null[np.arange(found.size), found] = -coefficients, 1.0
    shortest = _shortest.after(found.size * null.size)
    rows = np.sort(shortest(null, np.argsort(gram.length, kind="stable")))
    second = _combinations(gram, rows) if rows.size == found.size else None
    if second is None:
        return None
    independent, coefficients, triangle = second
    ratio = gram.length[rows][:, None] / gram.length[independent]
    if (ratio[coefficients != 0.0] > 1.0).any():
        return None
    mixture = sparse.csr_array(coefficients * ratio)
    return Dependence(gram=gram, independent=independent, dependent=rows, mixture=mixture, triangle=triangle)


def variance_across(dependence: Dependence, variances: FloatArray) -> float:
    """tr(Sigma (I - P)), P the projection on the column space of G.

    Where few rows are independent, as with far fewer samples than coordinates seen, by r x r matrices: with
    T = Q R and I + R R^T = L L^T, T^T (I + T T^T)^-1 T = (L^-1 R)^T (L^-1 R), and row j of (I + T T^T)^-1 has
    the diagonal 1 - |C^-1 t_j|^2, I + T^T T = C C^T.
    """
    mixture, number = dependence.mixture, dependence.dependent.size
    T: FloatArray = np.asarray(mixture.toarray())
    if number > T.shape[1]:
        triangle, unit = qr(T, mode="r", check_finite=False)[0][: T.shape[1]], np.eye(T.shape[1])
        share = solve_triangular(cholesky(unit + triangle @ triangle.T, lower=True), triangle, lower=True)
        root = cholesky(unit + triangle.T @ triangle, lower=True)
        explained = solve_triangular(root, T.T, lower=True)
        of_dependent = 1.0 - np.einsum("ij,ij->j", explained, explained)
    else:
        root = cholesky(np.eye(number) + (mixture @ mixture.T).toarray(), lower=True)
        share = solve_triangular(root, T, lower=True)
        own = solve_triangular(root, np.eye(number), lower=True)
        of_dependent = np.einsum("ij,ij->j", own, own)
    of_independent = np.einsum("ij,ij->j", share, share)
    return float(
        variances[dependence.independent] @ of_independent + variances[dependence.dependent] @ of_dependent
    )


def _combinations(gram: ScaledGram, dependent: IntArray) -> tuple[IntArray, FloatArray, Triangle] | None:
    """The other rows, the triangle of their factor, and the coefficients (d, r) of unit rows made of them.

    None if the others are not clearly independent, or do not span the dependent rows.
    """
    others = np.ones(gram.length.size, dtype=bool)
    others[dependent] = False
    independent = np.flatnonzero(others)
    length, lower = gram.length[independent], gram.correlation
    triangle = upper_factor(lower[independent][:, independent], length, CLEAR)
    if triangle is None:
        return None
    side = (lower[independent][:, dependent] + lower[dependent][:, independent].T).toarray()
    inner = solve(triangle, length[:, None] * side)
    coefficients = length[:, None] * solve(triangle, inner, transposed=True)
    coefficients[np.abs(coefficients) < NOISE] = 0.0
    if (np.abs(np.einsum("ij,ij->j", coefficients, side) - 1.0) > NOISE).any():
        return None
    return independent, coefficients.T, triangle


@lazy_njit()
def _shortest(null, order):  # type: ignore[no-untyped-def]
    """The first coordinates in ``order`` that determine a combination of the null vectors (its rows).

    Gaussian elimination with a pivot in each of the coordinates, in place.
    """
    number = len(null)
    used, chosen, found = np.zeros(number, np.bool_), np.empty(number, np.int64), 0
    for c in order:
        if found == number:
            break
        at, largest = -1, NOISE
        for i in range(number):
            if not used[i] and abs(null[i, c]) > largest:
                at, largest = i, abs(null[i, c])
        if at < 0:
            continue
        used[at], chosen[found] = True, c
        found += 1
        entries = np.flatnonzero(null[at])
        for i in range(number):
            if used[i] or null[i, c] == 0.0:
                continue
            factor = null[i, c] / null[at, c]
            for k in entries:
                null[i, k] -= factor * null[at, k]
                if abs(null[i, k]) < NOISE:
                    null[i, k] = 0.0
    return chosen[:found]
