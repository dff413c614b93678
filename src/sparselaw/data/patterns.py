"""The distinct samples with how often each occurs: most sparse samples repeat.

scipy is loaded when there is something to sort: what only asks for sizes starts without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.data.sparse_samples import SparseData
from sparselaw.inputs import ActivationInputs

if TYPE_CHECKING:
    from scipy import sparse


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
    salt = np.uint64(1)
    while True:
        digest = _digests(_scramble(code + (salt << np.uint64(40))), indptr)
        _, first, inverse = np.unique(digest, return_index=True, return_inverse=True)
        if _same_patterns(indptr, code, first[inverse]):
            break
        salt += np.uint64(1)
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


def _digests(hashed: np.ndarray, indptr: IntArray) -> np.ndarray:
    """The sum of the hashes of each sample; zero for a sample without nonzeros."""
    full = np.diff(indptr) > 0
    digest = np.zeros(indptr.size - 1, np.uint64)
    if full.any():
        digest[full] = np.add.reduceat(hashed, indptr[:-1][full])
    return digest


def _scramble(x: np.ndarray) -> np.ndarray:
    """A bijection of 64-bit integers that looks random, so that sums of its values seldom coincide."""
    x = (x + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xD1342543DE82EF95)
    x ^= x >> np.uint64(32)
    x *= np.uint64(0xDABA0B6EB09322E3)
    x ^= x >> np.uint64(29)
    x *= np.uint64(0xAF251AF3B0F025B5)
    return x ^ (x >> np.uint64(32))


def _same_patterns(indptr: IntArray, code: np.ndarray, twin: IntArray) -> bool:
    """Whether each sample equals the sample ``twin`` it was grouped with."""
    lengths = np.diff(indptr)
    if not np.array_equal(lengths, lengths[twin]):
        return False
    return bool(np.array_equal(code, code[_ranges(indptr[twin], lengths)]))


def _ranges(starts: IntArray, lengths: IntArray) -> IntArray:
    """start, start+1, ... for each start, one after the other."""
    ends = np.cumsum(lengths)
    positions: IntArray = np.arange(ends[-1]) + np.repeat(starts - (ends - lengths), lengths)
    return positions
