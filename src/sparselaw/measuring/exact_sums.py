"""Sums of floating-point numbers that come out the same to the last bit, in whatever order they are added.

A double is m 2^q with whole m below 2^53. Cut at multiples of 32 bits it is three words of at most 32 bits,
and words of the same place are added as 64-bit integers, which is exact and knows no order. A cell keeps the
three words from the place ``top`` downwards, ``top`` being that of its largest number; what lies below is cut
off number by number. So the sum depends on the set of numbers alone: neither on their order, nor on how they
were split among machines. At most 2^31 numbers go into a cell.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.lazy_njit import lazy_njit

WORDS = 3
EMPTY = -1  # the top of a cell without numbers
Top = NDArray[np.int8]
Words = NDArray[np.int64]


@lazy_njit()
def add_numbers(block, column, bits, top, words):  # type: ignore[no-untyped-def]
    """Add doubles, given by their 64 bits, to the cells (block, column)."""
    mask = (1 << 32) - 1
    for i in range(len(bits)):
        b, j = block[i], column[i]
        size = bits[i] & 0x7FFFFFFFFFFFFFFF
        if size == 0:
            continue
        sign = 1 if bits[i] >= 0 else -1
        exponent = size >> 52
        m = size & 0xFFFFFFFFFFFFF
        if exponent > 0:
            m |= 1 << 52
        else:
            exponent = 1
        place, shift = (exponent - 1) >> 5, (exponent - 1) & 31
        first = sign * ((m & ((1 << (32 - shift)) - 1)) << shift)
        rest = m >> (32 - shift)
        second, third = sign * (rest & mask), sign * (rest >> 32)
        new, old = place + 2, top[b, j]
        if new > old:
            up = new - old
            if old < 0 or up > 2:
                words[b, j, 0], words[b, j, 1], words[b, j, 2] = 0, 0, 0
            elif up == 1:
                words[b, j, 0], words[b, j, 1], words[b, j, 2] = words[b, j, 1], words[b, j, 2], 0
            else:
                words[b, j, 0], words[b, j, 1], words[b, j, 2] = words[b, j, 2], 0, 0
            top[b, j] = new
            old = new
        down = old - new
        if down == 0:
            words[b, j, 0] += first
            words[b, j, 1] += second
            words[b, j, 2] += third
        elif down == 1:
            words[b, j, 0] += second
            words[b, j, 1] += third
        elif down == 2:
            words[b, j, 0] += third


@lazy_njit()
def merge_cells(top, words, place, other_top, other_words):  # type: ignore[no-untyped-def]
    """Add the cells of another row of cells to the cells ``place`` of this one."""
    for i in range(len(place)):
        j, new, old = place[i], other_top[i], top[place[i]]
        if new < 0:
            continue
        if new > old:
            up = new - old
            for k in range(3):
                words[j, k] = words[j, k + up] if old >= 0 and k + up < 3 else 0
            top[j] = new
            old = new
        down = old - new
        for k in range(down, 3):
            words[j, k - down] += other_words[i, k]


def ones(count: NDArray[np.uint32]) -> tuple[Top, Words]:
    """``count`` times the number one in each cell."""
    place, shift = (1023 - 1) >> 5, (1023 - 1) & 31
    m = 1 << 52
    rest = m >> (32 - shift)
    one = (((m & ((1 << (32 - shift)) - 1)) << shift), rest & ((1 << 32) - 1), rest >> 32)
    words = count.astype(np.int64)[..., None] * np.array(one, dtype=np.int64)
    return np.where(count > 0, place + 2, EMPTY).astype(np.int8), words


def totals(top: Top, words: Words) -> FloatArray:
    """The sums as doubles."""
    carry = words[..., 0] >> 32
    low = words[..., 0] - (carry << 32)
    middle = words[..., 1] + carry
    carry = middle >> 32
    middle = middle - (carry << 32)
    high = words[..., 2] + carry
    value = high.astype(np.float64) * 2.0**32 + middle + low * 2.0**-32
    place = 32 * (top.astype(np.int64) - 1) - 1074
    result = np.ldexp(value, np.where(top == EMPTY, 0, place))
    return np.asarray(np.where(top == EMPTY, 0.0, result), dtype=np.float64)
