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
    co_activations = _co_activations.after(_steps(data))
    plain = co_activations is _co_activations.plain
    sign = data.sign.astype(np.int64) if plain else data.sign  # numpy's own small integers would overflow
    row_starts, column, value = co_activations(data.sample, sign, counts, starts, filled)
    shape = (data.active.size, data.active.size)
    correlation = sparse.csr_array((value, column, row_starts), shape=shape)
    return ScaledGram(length=np.sqrt(counts) * amplitudes, correlation=correlation)


def _steps(data: SparseData) -> float:
    """Of the loop below, about."""
    if data.sign.size > FREE_STEPS:
        return math.inf
    nonzeros = np.bincount(data.sample)  # of each sample
    return float(nonzeros @ nonzeros) / 2 + 2 * data.samples + data.active.size**2 / 2


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
    leader = _leaders(gram.correlation)
    kept = leader == np.arange(leader.size)
    if kept.all():
        return Directions(gram=gram, variance=variance, across=0.0)
    squares = gram.length**2
    total = np.bincount(leader, squares, minlength=leader.size)
    share = squares / total[leader]
    return Directions(
        gram=ScaledGram(
            length=np.sqrt(total[kept]),
            correlation=gram.correlation[np.ix_(kept, kept)],
        ),
        variance=np.bincount(leader, share * variance, minlength=leader.size)[kept],
        across=float(np.sum((1.0 - share) * variance)),
    )


def _leaders(correlation: sparse.csr_array) -> IntArray:
    """The first coordinate with which each is in step, itself if there is none before it."""
    leader = np.arange(correlation.shape[0])
    in_step = np.flatnonzero(np.abs(correlation.data) > EQUAL)[::-1]  # backwards: the first is written last
    rows = np.searchsorted(correlation.indptr, in_step, side="right") - 1
    leader[rows] = correlation.indices[in_step]
    return leader
