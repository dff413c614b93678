"""Draws sparse data in time proportional to its nonzeros, with infinitely many coordinates if need be.

Bernoulli(p) is the event that a Poisson variable of rate f = -log(1-p) is at least one. So the nonzeros are
the events of a Poisson process over (coordinate, sample), repeats dropped. Three groups, by how often:

  frequent, p_j >= 1/2        one Bernoulli draw per sample, since Poisson events would mostly be repeats;
  common, down to p_j ~ 1/D   the process runs along the samples of one coordinate after the other, its gaps
                              exponential: the events come in order;
  rare, all the others        one Poisson number of events, a random coordinate and a uniform sample for each.

The law is exact, also when the dimension is infinite.

Most sparse samples repeat: ``distinct_patterns`` has the distinct ones with how often each occurs, and
``preactivations`` is u x of samples from their few nonzeros. scipy is loaded when there is something to sort:
what only asks for sizes starts without it.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.compiled import lazy_njit
from sparselaw.inputs import ActivationInputs

if TYPE_CHECKING:
    from scipy import sparse

FREQUENT = 0.5
RARE = 1.0 / 16.0  # never rare above it: the proposal for rare coordinates would fit badly
FREQUENT_BLOCK = 1 << 23  # uniform numbers held at once
COMMON_BLOCK = 1 << 16  # events in a sum of gaps, so that rounding never moves one by a sample

Group = tuple[FloatArray, IntArray, IntArray]  # coordinates, how often each is active, and in which samples


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseData:
    """D sparse samples as a list of nonzeros, ordered by coordinate and then by sample."""

    samples: int  # D
    active: FloatArray  # (K,) the coordinates seen, ascending; floats, since j may exceed 2^63
    sample: IntArray  # (nonzeros,) 0 .. D-1
    column: IntArray  # (nonzeros,) index into active
    sign: IntArray  # (nonzeros,) -1 or +1


def draw_sparse(inputs: ActivationInputs, D: int, rng: np.random.Generator) -> SparseData:
    """D independent samples of the sparse inputs."""
    inputs.check_drawable()
    frequent, common = inputs.last_above(FREQUENT), inputs.last_above(min(RARE, 1.0 / D))
    groups = [_draw_frequent(inputs, frequent, D, rng)]
    if common > frequent:
        groups.append(_draw_common(inputs, frequent, common, D, rng))
    if inputs.dimension > common:
        groups.append(_draw_rare(inputs, common, D, rng))
    coordinates, counts, samples = (np.concatenate(parts) for parts in zip(*groups, strict=True))
    seen = counts > 0
    column = np.repeat(np.arange(np.count_nonzero(seen), dtype=samples.dtype), counts[seen])
    return SparseData(
        samples=D, active=coordinates[seen], sample=samples, column=column, sign=_signs(samples.size, rng)
    )


def _draw_frequent(inputs: ActivationInputs, last: int, D: int, rng: np.random.Generator) -> Group:
    """Coordinates 1, ..., last, each sample with its own uniform number; x_1 may always be active."""
    p = inputs.probabilities(np.arange(1.0, last + 1.0))
    counts, samples = [np.empty(0, np.int64)], [np.empty(0, _index_type(D))]
    if p.size and p[0] >= 1.0:
        counts, samples, p = [np.array([D])], [np.arange(D, dtype=_index_type(D))], p[1:]
    block = max(1, FREQUENT_BLOCK // D)
    for start in range(0, p.size, block):
        part = p[start : start + block]
        active = rng.random((part.size, D)) < part[:, None]
        counts.append(np.count_nonzero(active, axis=1))
        samples.append(np.nonzero(active)[1].astype(_index_type(D)))
    return np.arange(1.0, last + 1.0), np.concatenate(counts), np.concatenate(samples)


def _draw_common(inputs: ActivationInputs, first: int, last: int, D: int, rng: np.random.Generator) -> Group:
    """Coordinates first+1, ..., last, a block of them at a time."""
    coordinates = np.arange(first + 1.0, last + 1.0)
    rates = -np.log1p(-inputs.probabilities(coordinates))
    block = np.floor(np.cumsum(D * rates) / COMMON_BLOCK)
    parts = np.split(rates, np.flatnonzero(np.diff(block)) + 1)
    counts, samples = zip(*(_cells_hit(part, D, rng) for part in parts), strict=True)
    return coordinates, np.concatenate(counts), np.concatenate(samples)


def _cells_hit(rates: FloatArray, D: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Poisson processes of these rates on [0, D): how many of the D unit cells of each are hit, and which.

    Laid end to end and scaled by their rates they are one process of rate one.
    """
    ends = np.cumsum(D * rates)
    times = _arrivals(ends[-1], rng)
    which = np.repeat(np.arange(rates.size), np.diff(np.searchsorted(times, ends), prepend=0))
    times = times[: which.size]
    cell: IntArray = ((times - (ends - D * rates)[which]) / rates[which]).astype(_index_type(D))
    np.clip(cell, 0, D - 1, out=cell)  # rounding at the two ends
    once = np.ones(cell.size, dtype=bool)
    once[1:] = (cell[1:] != cell[:-1]) | (which[1:] != which[:-1])
    return np.bincount(which[once], minlength=rates.size), cell[once]


def _arrivals(end: float, rng: np.random.Generator) -> FloatArray:
    """The arrival times of a Poisson process of rate one, up to and beyond ``end``."""
    times = np.cumsum(rng.standard_exponential(int(end + 4.0 * math.sqrt(end)) + 16))
    while times[-1] < end:
        more = times[-1] + np.cumsum(rng.standard_exponential(int(math.sqrt(end)) + 16))
        times = np.concatenate([times, more])
    return times


def _draw_rare(inputs: ActivationInputs, common: int, D: int, rng: np.random.Generator) -> Group:
    """Coordinates beyond ``common``, those that were hit."""
    events = int(rng.poisson(D * inputs.tail_rate(common)))
    coordinates = inputs.draw_tail(common, events, rng)
    samples = rng.integers(0, D, size=events, dtype=_index_type(D))
    order = np.lexsort((samples, coordinates))
    coordinates, samples = coordinates[order], samples[order]
    once = np.ones(events, dtype=bool)
    once[1:] = (samples[1:] != samples[:-1]) | (coordinates[1:] != coordinates[:-1])
    active, counts = np.unique(coordinates[once], return_counts=True)
    return active, counts, samples[once]


def _signs(count: int, rng: np.random.Generator) -> IntArray:
    """Fair signs, one random bit for each."""
    bits = np.frombuffer(rng.bytes(-(-count // 8)), dtype=np.uint8)
    sign = np.unpackbits(bits, count=count).view(np.int8)
    sign *= 2
    sign -= 1
    return sign


def _index_type(size: int) -> type[np.int32] | type[np.int64]:
    return np.int32 if size < 2**31 else np.int64


@dataclass(frozen=True, slots=True, kw_only=True)
class Patterns:
    """The distinct samples in the order in which they first occur.

    x and -x are different patterns; so is the empty sample, where no coordinate is always active.
    """

    indptr: IntArray  # (P+1,) where each pattern's nonzeros start
    column: IntArray  # (nonzeros,) index into the active coordinates, ascending within a pattern
    value: FloatArray  # (nonzeros,) sign * amplitude
    counts: NDArray[np.int64]  # (P,) how often; the sum is D
    inverse: IntArray  # (D,) which pattern each sample is

    def matrix(self, columns: int) -> sparse.csr_array:
        """The patterns as rows, (P, columns)."""
        from scipy import sparse

        shape = (self.counts.size, columns)
        return sparse.csr_array((self.value, self.column, self.indptr), shape=shape)


def distinct_patterns(inputs: ActivationInputs, data: SparseData) -> Patterns:
    """Group equal samples by a 64-bit hash of their nonzeros; the groups are then checked entry by entry."""
    indptr, column, sign = by_sample(data)
    code = 2 * column.astype(np.uint64) + (sign > 0)
    lengths = np.diff(indptr)
    full, digest = lengths > 0, np.zeros(lengths.size, np.uint64)  # zero for a sample without nonzeros
    for salt in itertools.count(1):
        if full.any():
            hashed = _scramble(code + np.uint64(salt << 40))
            digest[full] = np.add.reduceat(hashed, indptr[:-1][full])
        _, first, inverse = np.unique(digest, return_index=True, return_inverse=True)
        other = first[inverse]  # each sample equals the one it was grouped with, unless hashes met by chance
        if np.array_equal(lengths, lengths[other]) and np.array_equal(
            code, code[_ranges(indptr[other], lengths)]
        ):
            break
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    inverse, first = rank[inverse], first[order]
    lengths = indptr[first + 1] - indptr[first]
    chosen = _ranges(indptr[first], lengths)
    column = column[chosen]
    return Patterns(
        indptr=np.concatenate([[0], np.cumsum(lengths)]),
        column=column,
        value=sign[chosen] * inputs.amplitudes(data.active)[column],
        counts=np.bincount(inverse, minlength=first.size),
        inverse=inverse,
    )


def by_sample(data: SparseData) -> tuple[IntArray, IntArray, IntArray]:
    """The nonzeros ordered by sample: indptr (D+1,), column and sign (nonzeros,)."""
    from scipy import sparse

    columns = sparse.csc_array(sign_matrix(data))  # a counting sort, in compiled code
    return columns.indptr, columns.indices, columns.data


def sign_matrix(data: SparseData) -> sparse.csr_array:
    """The signs as a K x D sparse matrix."""
    from scipy import sparse

    starts = np.searchsorted(data.column, np.arange(data.active.size + 1))
    shape = (data.active.size, data.samples)
    return sparse.csr_array((data.sign, data.sample, starts.astype(data.sample.dtype)), shape=shape)


def _scramble(x: np.ndarray) -> np.ndarray:
    """A bijection of 64-bit integers that looks random, so that sums of its values seldom coincide."""
    x = (x + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xD1342543DE82EF95)
    x ^= x >> np.uint64(32)
    x *= np.uint64(0xDABA0B6EB09322E3)
    x ^= x >> np.uint64(29)
    x *= np.uint64(0xAF251AF3B0F025B5)
    return x ^ (x >> np.uint64(32))


def _ranges(starts: IntArray, lengths: IntArray) -> IntArray:
    """start, start+1, ... for each start, one after the other."""
    ends = np.cumsum(lengths)
    positions: IntArray = np.arange(ends[-1]) + np.repeat(starts - (ends - lengths), lengths)
    return positions


def preactivations(
    indptr: IntArray, column: IntArray, value: FloatArray, embedding: FloatArray
) -> FloatArray:
    """u x for P sparse samples (P, N): row p sums value * embedding[column] over its few nonzeros.

    ``embedding`` holds the drawn columns of u as rows (K, N), so that a sample reads whole rows.
    """
    rows = np.empty((len(indptr) - 1, embedding.shape[1]))
    _sum_columns(indptr, column, value, embedding, rows)
    return rows


@lazy_njit()
def _sum_columns(indptr, column, value, embedding, rows):  # type: ignore[no-untyped-def]
    for p in range(rows.shape[0]):
        row = rows[p]
        row[:] = 0.0
        for k in range(indptr[p], indptr[p + 1]):
            source = embedding[column[k]]
            scale = value[k]
            for i in range(row.size):
                row[i] += scale * source[i]
