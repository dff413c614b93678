"""Cholesky factor of a sparse correlation matrix, and systems with it: work in proportion to the nonzeros.

Rare coordinates meet few others. Eliminated first, from the last coordinate to the first, they leave almost
no fill-in: C = U U^T with U upper triangular has a handful of nonzeros a column, not K/2 as a dense factor.
What remains when the rest has become dense goes to LAPACK.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import blas, lapack

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.compiled import lazy_njit

DENSE = 0.25  # share of nonzeros above which plain dense code is faster
SMALL = 64  # matrices this small are eliminated to the end
FULL = -1

Triangle = FloatArray | sparse.csc_array


def upper_factor(correlation: sparse.csr_array, length: FloatArray, pivot: float) -> Triangle | None:
    """F = diag(length) U, upper triangular with C = U U^T, given the lower triangle of C.

    None if a row is within ``pivot``, as a squared distance, of the span of the later ones.
    """
    columns = _eliminated(correlation, pivot)
    if not (columns.distance > pivot).all():
        return None
    core, first = columns.core, columns.starts[columns.core]
    index, value = columns.index[first:], columns.value[first:]
    triangle = sparse.csc_array(
        (value * length[index], index, columns.starts[core:] - first), shape=(length.size, length.size - core)
    )
    if core > 0:
        root, info = lapack.dpotrf(columns.rest(correlation)[::-1, ::-1], lower=1, clean=1)
        if info != 0 or np.diag(root).min() ** 2 <= pivot:
            return None
        scaled = length[:core, None] * root[::-1, ::-1]
        if core * (core + 1) / 2 > DENSE * length.size**2:
            whole = np.zeros((length.size, length.size), order="F")
            whole[:core, :core] = scaled
            whole[:, core:] = triangle.toarray()
            return whole
        block = np.zeros((length.size, core))
        block[:core] = scaled
        triangle = sparse.csc_array(sparse.hstack([sparse.csc_array(block), triangle]))
    if triangle.nnz > DENSE * length.size**2:
        return np.asarray(triangle.toarray(order="F"))
    return triangle


def dependent_rows(correlation: sparse.csr_array, clear: float, pivot: float) -> IntArray | None:
    """Rows that are combinations of the others, which are independent.

    A squared distance from the span of the later rows up to ``pivot`` is none, one above ``clear`` is one.
    None where a distance lies between: rounding may have grown as large.
    """
    columns = _eliminated(correlation, clear)
    within = ~(columns.distance > clear)
    if not (np.abs(columns.distance[within]) <= pivot).all():
        return None
    rows = columns.core + np.flatnonzero(within)
    if columns.core == 0:
        return rows
    packed, pivots, rank, _ = lapack.dpstrf(columns.rest(correlation), tol=pivot)
    if rank > 0 and np.diag(packed)[:rank].min() ** 2 <= clear:
        return None
    return np.concatenate([np.sort(pivots[rank:] - 1), rows])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columns:
    """Columns core, core + 1, ... of U; that of a dependent row is empty."""

    core: int  # the columns left to be done, since the rest is dense
    starts: IntArray  # (K + 1,) column k has the nonzeros starts[k] : starts[k + 1]
    index: IntArray
    value: FloatArray
    distance: FloatArray  # (K - core,) squared, of each row from the span of the later ones

    def rest(self, correlation: sparse.csr_array) -> FloatArray:
        """What is left of C for the first ``core`` coordinates."""
        lower = (correlation.indptr, correlation.indices, correlation.data)
        return np.asarray(_rest(*lower, self.core, self.starts, self.index, self.value))


def _eliminated(correlation: sparse.csr_array, pivot: float) -> _Columns:
    lower, K = (correlation.indptr, correlation.indices, correlation.data), correlation.shape[0]
    room, core = 2 * correlation.nnz, FULL
    eliminate = _eliminate.after(K**3 / 6)
    while core == FULL:
        starts, index, value = np.zeros(K + 1, np.int64), np.empty(room, np.int32), np.empty(room)
        distance = np.empty(K)
        core = eliminate(*lower, pivot, starts, index, value, distance)
        room *= 2
    return _Columns(core=core, starts=starts, index=index, value=value, distance=distance[core:])


def dense(part: Triangle) -> FloatArray:
    return part if isinstance(part, np.ndarray) else np.asarray(part.toarray())


def solve(triangle: Triangle, right: FloatArray) -> FloatArray:
    """F^-1 right."""
    if isinstance(triangle, np.ndarray):
        return np.asarray(blas.dtrsm(1.0, triangle, right))
    solution = np.array(right, order="C")
    substitute = _solve.after(triangle.nnz * right.size / len(right))
    substitute(triangle.indptr, triangle.indices, triangle.data, solution)
    return solution


def solve_transposed(triangle: Triangle, right: FloatArray) -> FloatArray:
    """F^-T right."""
    if isinstance(triangle, np.ndarray):
        return np.asarray(blas.dtrsm(1.0, triangle, right, trans_a=1))
    solution = np.array(right, order="C")
    substitute = _solve_transposed.after(triangle.nnz * right.size / len(right))
    substitute(triangle.indptr, triangle.indices, triangle.data, solution)
    return solution


@lazy_njit()
def _eliminate(row_starts, columns, entries, pivot, starts, index, value, distance):  # type: ignore[no-untyped-def]
    """Columns K-1, K-2, ... of U, written from the end of the arrays; the number of those left to be done.

    Not zero where the rest is dense. FULL if the arrays are too small. A row within ``pivot`` of the span of
    the later ones has an empty column: others are eliminated as if it were not there.
    Column k of U is row k of C less what the columns after it that reach row k contribute. Each of those is
    in a linked list of the row that is its next.
    """
    K, at = len(starts) - 1, len(value)
    starts[K] = at
    row, reach = np.zeros(K), np.zeros(K, np.int64)
    head, following = np.full(K, -1), np.full(K, -1)
    for k in range(K - 1, -1, -1):
        for e in range(row_starts[k], row_starts[k + 1]):
            row[columns[e]] = entries[e]
        m = head[k]
        while m >= 0:
            factor = value[reach[m]]
            for e in range(starts[m], reach[m] + 1):
                row[index[e]] -= factor * value[e]
            reach[m] -= 1
            after = following[m]
            if reach[m] >= starts[m]:
                following[m] = head[index[reach[m]]]
                head[index[reach[m]]] = m
            m = after
        distance[k] = row[k]
        if not row[k] > pivot:
            row[: k + 1] = 0.0
            starts[k], reach[k] = at, at - 1
            continue
        if at < k + 1:
            return FULL
        root = np.sqrt(row[k])
        at -= 1
        index[at], value[at], row[k] = k, root, 0.0
        for i in range(k - 1, -1, -1):
            if row[i] != 0.0:
                at -= 1
                index[at], value[at], row[i] = i, row[i] / root, 0.0
        starts[k], reach[k] = at, starts[k + 1] - 2
        if reach[k] >= at:
            following[k] = head[index[reach[k]]]
            head[index[reach[k]]] = k
        if k > SMALL and starts[k + 1] - at > DENSE * k:
            return k
    return 0


@lazy_njit()
def _rest(row_starts, columns, entries, core, starts, index, value):  # type: ignore[no-untyped-def]
    """What is left of C for the first ``core`` coordinates once the others are eliminated, in full."""
    rest = np.zeros((core, core))
    for k in range(core):
        for e in range(row_starts[k], row_starts[k + 1]):
            rest[k, columns[e]] = rest[columns[e], k] = entries[e]
    for m in range(core, len(starts) - 1):
        end = starts[m]
        while end < starts[m + 1] and index[end] < core:
            end += 1
        for a in range(starts[m], end):
            for b in range(starts[m], end):
                rest[index[a], index[b]] -= value[a] * value[b]
    return rest


@lazy_njit()
def _solve(starts, index, value, right):  # type: ignore[no-untyped-def]
    """Back substitution in place; the diagonal is the last nonzero of each column."""
    for k in range(len(right) - 1, -1, -1):
        last = starts[k + 1] - 1
        _divide(right[k], value[last])
        for e in range(starts[k], last):
            _subtract(right[index[e]], value[e], right[k])


@lazy_njit()
def _solve_transposed(starts, index, value, right):  # type: ignore[no-untyped-def]
    for k in range(len(right)):
        last = starts[k + 1] - 1
        for e in range(starts[k], last):
            _subtract(right[k], value[e], right[index[e]])
        _divide(right[k], value[last])


@lazy_njit()
def _subtract(row, factor, other):  # type: ignore[no-untyped-def]
    for c in range(len(row)):
        row[c] -= factor * other[c]


@lazy_njit()
def _divide(row, divisor):  # type: ignore[no-untyped-def]
    for c in range(len(row)):
        row[c] /= divisor
