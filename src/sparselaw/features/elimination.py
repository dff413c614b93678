"""Cholesky factor of a sparse correlation matrix, and systems with it: work in proportion to the nonzeros.

Rare coordinates meet few others. Eliminated first, from the last coordinate to the first, they leave almost
no fill-in: C = U U^T with U upper triangular has a handful of nonzeros a column, not K/2 as a dense factor.
What remains when the rest has become dense goes to LAPACK.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy import sparse
from scipy.linalg import blas, lapack

from sparselaw.data.arrays import FloatArray, IntArray

DENSE = 0.25  # share of nonzeros above which plain dense code is faster
SMALL = 64  # a rest this small is eliminated to the end
LARGE = 0.4  # share of the coordinates, above which a rest is not worth eliminating by plain loops
FULL = -1

Triangle = FloatArray | sparse.csc_array


def upper_factor(
    correlation: sparse.csr_array, length: FloatArray, pivot: float
) -> tuple[Triangle, IntArray] | None:
    """F = diag(length) U (K, r) with C = U U^T, given the lower triangle of C; and r rows, an upper triangle.

    A row within ``pivot``, as a squared distance, of the span of the later ones adds no column to U. None if
    there is such a row in a large dense rest, which needs pivoting to be fast.
    """
    columns = _sparse_columns(correlation, pivot, SMALL)
    root = _dense_root(correlation, columns, pivot)
    if root is None:
        if columns.left > LARGE * length.size:
            return None
        columns, root = _sparse_columns(correlation, pivot, length.size), np.empty((0, 0))
    triangle = columns.matrix(length)
    independent = columns.left + np.flatnonzero(np.diff(columns.starts[columns.left :]))
    if columns.left > 0:
        block = np.zeros((length.size, columns.left))
        block[: columns.left] = length[: columns.left, None] * root
        triangle = sparse.csc_array(sparse.hstack([sparse.csc_array(block), triangle]))
        independent = np.concatenate([np.arange(columns.left), independent])
    if triangle.nnz > DENSE * length.size**2:
        return np.asarray(triangle.toarray(order="F")), independent
    return triangle, independent


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columns:
    """Columns of U from ``left`` on: the nonzeros of column k are at starts[k] : starts[k + 1]."""

    left: int  # how many are not done, since the rest is dense
    starts: IntArray
    index: IntArray
    value: FloatArray

    def matrix(self, length: FloatArray) -> sparse.csc_array:
        """diag(length) times the columns, empty ones dropped."""
        first, size = self.starts[self.left], self.starts.size - 1
        index, ends = self.index[first:], np.unique(self.starts[self.left :]) - first
        return sparse.csc_array(
            (self.value[first:] * length[index], index, ends), shape=(size, ends.size - 1)
        )


def _sparse_columns(correlation: sparse.csr_array, pivot: float, small: int) -> _Columns:
    lower, size = (correlation.indptr, correlation.indices, correlation.data), correlation.shape[0]
    room, left = 2 * correlation.nnz, FULL
    while left == FULL:
        starts, index, value = np.zeros(size + 1, np.int64), np.empty(room, np.int32), np.empty(room)
        left = _eliminate(*lower, pivot, small, starts, index, value)
        room *= 2
    return _Columns(left=left, starts=starts, index=index, value=value)


def _dense_root(correlation: sparse.csr_array, columns: _Columns, pivot: float) -> FloatArray | None:
    """The remaining columns of U, upper triangular; None if rows are dependent."""
    if columns.left == 0:
        return np.empty((0, 0))
    lower = (correlation.indptr, correlation.indices, correlation.data)
    rest = _rest(*lower, columns.left, columns.starts, columns.index, columns.value)
    root, info = lapack.dpotrf(rest[::-1, ::-1], lower=1, clean=1)
    if info != 0 or np.diag(root).min() ** 2 <= pivot:
        return None
    return np.asarray(root[::-1, ::-1])


def dense(part: Triangle) -> FloatArray:
    return part if isinstance(part, np.ndarray) else np.asarray(part.toarray())


def solve(triangle: Triangle, right: FloatArray) -> FloatArray:
    """F^-1 right."""
    if isinstance(triangle, np.ndarray):
        return np.asarray(blas.dtrsm(1.0, triangle, right))
    solution = np.array(right, order="C")
    _solve(triangle.indptr, triangle.indices, triangle.data, solution)
    return solution


def solve_transposed(triangle: Triangle, right: FloatArray) -> FloatArray:
    """F^-T right."""
    if isinstance(triangle, np.ndarray):
        return np.asarray(blas.dtrsm(1.0, triangle, right, trans_a=1))
    solution = np.array(right, order="C")
    _solve_transposed(triangle.indptr, triangle.indices, triangle.data, solution)
    return solution


@njit(cache=True)
def _eliminate(row_starts, columns, entries, pivot, small, starts, index, value):  # type: ignore[no-untyped-def]
    """Columns K-1, K-2, ... of U, written from the end of the arrays; the number of those left to be done.

    Not zero where the rest is dense. FULL if the arrays are too small. A column whose pivot is zero is empty:
    a positive semidefinite rest has nothing in that row either.
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
        if at < k + 1:
            return FULL
        if row[k] <= pivot:
            row[: k + 1] = 0.0
            starts[k], reach[k] = at, at - 1
            continue
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
        if k > small and starts[k + 1] - at > DENSE * k:
            return k
    return 0


@njit(cache=True)
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


@njit(cache=True)
def _solve(starts, index, value, right):  # type: ignore[no-untyped-def]
    """Back substitution in place; the diagonal is the last nonzero of each column."""
    for k in range(len(right) - 1, -1, -1):
        last = starts[k + 1] - 1
        _divide(right[k], value[last])
        for e in range(starts[k], last):
            _subtract(right[index[e]], value[e], right[k])


@njit(cache=True)
def _solve_transposed(starts, index, value, right):  # type: ignore[no-untyped-def]
    for k in range(len(right)):
        last = starts[k + 1] - 1
        for e in range(starts[k], last):
            _subtract(right[k], value[e], right[index[e]])
        _divide(right[k], value[last])


@njit(cache=True)
def _subtract(row, factor, other):  # type: ignore[no-untyped-def]
    for c in range(len(row)):
        row[c] -= factor * other[c]


@njit(cache=True)
def _divide(row, divisor):  # type: ignore[no-untyped-def]
    for c in range(len(row)):
        row[c] /= divisor
