"""The second moments of the data over the active coordinates, G = X_A X_A^T, kept in scaled form.

Coordinates differ by many orders of magnitude, but after scaling each to length one G becomes a correlation
matrix of small integers over square roots of counts: its rank is read off with no doubt, and its Cholesky
factor is accurate however small the amplitudes are. Most pairs of coordinates never meet: it is kept sparse.

Coordinates only ever seen together are collinear rows: the data cannot tell them apart, and they count as one
(``told_apart``). Let a group of coordinates be active in the same samples with the same relative signs, with
amplitudes x_j. Only the direction d = x/|x| was ever shown. Turn the coordinates of the group so that d is
one of them: the columns of u and the teacher stay Gaussian. Across d nothing was seen, so that the readout is
independent of what is across, which averages like the coordinates never seen; its cross terms with d average
to zero. So the group is one coordinate of length |x| and variance sum_j d_j^2 s_j, and the rest, sum_j (1 -
d_j^2) s_j, is unseen.

Two rare coordinates seen once each, in the same sample, are the usual reason for dependent rows of X_A.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import blas, lapack

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.compiled import FREE_STEPS, lazy_njit
from sparselaw.data.sparse_samples import SparseData

EQUAL = 1.0 - 1e-12  # correlations of other pairs of integer rows stay below 1 - 1/(2D)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledGram:
    """G = diag(length) correlation diag(length)."""

    length: FloatArray  # (K,) sqrt(G_jj)
    correlation: sparse.csr_array  # (K, K), the lower triangle; the ones of the diagonal end the rows


def scaled_gram(data: SparseData, amplitudes: FloatArray) -> ScaledGram:
    """From the co-activations of pairs: the cost is the sum over samples of their nonzeros squared."""
    counts = np.diff(np.searchsorted(data.column, np.arange(data.active.size + 1)))
    index = np.int32 if data.sign.size < 2**31 else np.int64
    starts = np.zeros(data.samples + 1, index)
    filled = np.zeros(data.samples, np.uint16 if data.active.size < 2**16 else np.int32)
    steps = math.inf
    if data.sign.size <= FREE_STEPS:
        nonzeros = np.bincount(data.sample)  # of each sample
        steps = float(nonzeros @ nonzeros) / 2 + 2 * data.samples + data.active.size**2 / 2
    co_activations = _co_activations.after(steps)
    plain = co_activations is _co_activations.plain
    sign = data.sign.astype(np.int64) if plain else data.sign  # numpy's own small integers would overflow
    row_starts, column, value = co_activations(data.sample, sign, counts, starts, filled)
    shape = (data.active.size, data.active.size)
    correlation = sparse.csr_array((value, column, row_starts), shape=shape)
    return ScaledGram(length=np.sqrt(counts) * amplitudes, correlation=correlation)


@lazy_njit()
def _co_activations(sample, sign, counts, starts, filled):  # type: ignore[no-untyped-def]
    """The sums of sign * sign over the samples two coordinates share, divided by the roots of their counts.

    The nonzeros come by coordinate; the first may be active in every sample. Each sample lists those of the
    other coordinates that came so far: the partners of its next.
    """
    D, K = len(filled), len(counts)
    always = 1 if counts[0] == D else 0
    for i in sample[always * D :]:
        starts[i + 1] += 1
    for i in range(D):
        starts[i + 1] += starts[i]
    partners = np.empty(len(sample) - always * D, np.int32)  # coordinate + 1, with the sign of the nonzero
    row, row_starts = np.zeros(K), np.zeros(K + 1, np.int64)
    column, value = np.empty(8 * K, np.int32), np.empty(8 * K)
    at, done = 0, 0
    if always == 1:
        column[0], value[0], row_starts[1] = 0, 1.0, 1
        at, done = 1, D
    for k in range(always, K):
        for e in range(done, done + counts[k]):
            i, s = sample[e], sign[e]
            if always == 1:
                row[0] += s * sign[i]
            start, end = starts[i], starts[i] + filled[i]
            for a in range(start, end):
                row[abs(partners[a]) - 1] += s if partners[a] > 0 else -s
            partners[end] = s * (k + 1)
            filled[i] += 1
        done += counts[k]
        if at + k + 1 > len(value):
            column, value = _larger(column, 2 * at + K), _larger(value, 2 * at + K)
        for c in range(k):
            if row[c] != 0.0:
                column[at], value[at] = c, row[c] / np.sqrt(counts[c] * counts[k])
                row[c] = 0.0
                at += 1
        column[at], value[at] = k, 1.0
        at += 1
        row_starts[k + 1] = at
    return row_starts, column[:at], value[:at]


@lazy_njit()
def _larger(array, size):  # type: ignore[no-untyped-def]
    larger = np.empty(size, array.dtype)
    for e in range(len(array)):  # numba takes seconds to compile the assignment of a slice
        larger[e] = array[e]
    return larger


@dataclass(frozen=True, slots=True, kw_only=True)
class Directions:
    """What the data told apart: coordinates, and groups under the place of their first."""

    gram: ScaledGram
    variance: FloatArray  # (K,)
    across: float  # variance within groups that was never seen


def told_apart(gram: ScaledGram, variance: FloatArray) -> Directions:
    """Each group of collinear coordinates reduced to one coordinate."""
    # The first coordinate with which each is in step, itself if there is none before it.
    lower, leader = gram.correlation, np.arange(gram.length.size)
    in_step = np.flatnonzero(np.abs(lower.data) > EQUAL)[::-1]  # backwards: the first is written last
    leader[np.searchsorted(lower.indptr, in_step, side="right") - 1] = lower.indices[in_step]
    kept = leader == np.arange(leader.size)
    if kept.all():
        return Directions(gram=gram, variance=variance, across=0.0)
    squares = gram.length**2
    total = np.bincount(leader, squares, minlength=leader.size)
    share = squares / total[leader]
    return Directions(
        gram=ScaledGram(length=np.sqrt(total[kept]), correlation=lower[np.ix_(kept, kept)]),
        variance=np.bincount(leader, share * variance, minlength=leader.size)[kept],
        across=float(np.sum((1.0 - share) * variance)),
    )


# Cholesky factor of a sparse correlation matrix, and systems with it: work in proportion to the nonzeros.
#
# Rare coordinates meet few others. Eliminated first, from the last coordinate to the first, they leave almost
# no fill-in: C = U U^T with U upper triangular has a handful of nonzeros a column, not K/2 as a dense factor.
# What remains when the rest has become dense goes to LAPACK.


DENSE = 0.25  # share of nonzeros above which plain dense code is faster
ELIMINATED_WHOLE = 64  # matrices this small are eliminated to the end
OUT_OF_ROOM = -1

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
    room, core = 2 * correlation.nnz, OUT_OF_ROOM
    eliminate = _eliminate.after(K**3 / 6)
    while core == OUT_OF_ROOM:
        starts, index, value = np.zeros(K + 1, np.int64), np.empty(room, np.int32), np.empty(room)
        distance = np.empty(K)
        core = eliminate(*lower, pivot, starts, index, value, distance)
        room *= 2
    return _Columns(core=core, starts=starts, index=index, value=value, distance=distance[core:])


def solve(triangle: Triangle, right: FloatArray, transposed: bool = False) -> FloatArray:
    """F^-1 right, or F^-T right."""
    if isinstance(triangle, np.ndarray):
        return np.asarray(blas.dtrsm(1.0, triangle, right, trans_a=int(transposed)))
    solution = np.array(right, order="C")
    kernel = _solve_transposed if transposed else _solve
    substitute = kernel.after(triangle.nnz * right.size / len(right))
    substitute(triangle.indptr, triangle.indices, triangle.data, solution)
    return solution


@lazy_njit()
def _eliminate(row_starts, columns, entries, pivot, starts, index, value, distance):  # type: ignore[no-untyped-def]
    """Columns K-1, K-2, ... of U, written from the end of the arrays; the number of those left to be done.

    Not zero where the rest is dense. OUT_OF_ROOM if the arrays are too small. A row within ``pivot`` of the
    span of the later ones has an empty column: others are eliminated as if it were not there.
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
            return OUT_OF_ROOM
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
        if k > ELIMINATED_WHOLE and starts[k + 1] - at > DENSE * k:
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
