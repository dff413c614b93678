"""Sums of floating-point numbers that come out the same to the last bit, in whatever order they are added.

A double is m 2^q with whole m below 2^53. Cut at multiples of 32 bits it is three words of at most 32 bits,
and words of the same place are added as 64-bit integers, which is exact and knows no order. A cell keeps the
three words from the place ``top`` downwards, ``top`` being that of its largest number; what lies below is cut
off number by number. So the sum depends on the set of numbers alone: neither on their order, nor on how they
were split among machines. At most 2^31 numbers go into a cell.

A cell is four whole numbers, the three words and top + 1, so that zeros are a cell without numbers and a
number costs one visit to the memory.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.compiled import lazy_njit

SIZE = 4
Cells = NDArray[np.int64]  # (..., SIZE)


def empty(shape: tuple[int, ...]) -> Cells:
    """Cells without numbers."""
    return np.zeros((*shape, SIZE), np.int64)


@lazy_njit()
def add_numbers(block, column, bits, cells):  # type: ignore[no-untyped-def]
    """Add doubles, given by their 64 bits, to the cells (block, column)."""
    mask = (1 << 32) - 1
    for i in range(len(bits)):
        size = bits[i] & 0x7FFFFFFFFFFFFFFF
        if size == 0:
            continue
        cell = cells[block[i], column[i]]
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
        new, old = place + 3, cell[3]
        if new > old:
            up = new - old
            if old == 0 or up > 2:
                cell[0], cell[1], cell[2] = 0, 0, 0
            elif up == 1:
                cell[0], cell[1], cell[2] = cell[1], cell[2], 0
            else:
                cell[0], cell[1], cell[2] = cell[2], 0, 0
            cell[3] = new
            old = new
        down = old - new  # chosen without branches: which place a number falls into cannot be foreseen
        none = np.int64(0)
        cell[0] += first if down == 0 else second if down == 1 else third if down == 2 else none
        cell[1] += second if down == 0 else third if down == 1 else none
        cell[2] += third if down == 0 else none


@lazy_njit()
def merge_cells(cells, place, others):  # type: ignore[no-untyped-def]
    """Add another row of cells to the cells ``place`` of this one."""
    for i in range(len(place)):
        other = others[i]
        new = other[3]
        if new == 0:
            continue
        cell = cells[place[i]]
        old = cell[3]
        if new > old:
            up = new - old
            for k in range(3):
                cell[k] = cell[k + up] if old > 0 and k + up < 3 else 0
            cell[3] = new
            old = new
        down = old - new
        for k in range(down, 3):
            cell[k - down] += other[k]


def ones(count: NDArray[np.uint32]) -> Cells:
    """``count`` times the number one in each cell."""
    place, shift = (1023 - 1) >> 5, (1023 - 1) & 31
    m = 1 << 52
    rest = m >> (32 - shift)
    one = (((m & ((1 << (32 - shift)) - 1)) << shift), rest & ((1 << 32) - 1), rest >> 32, 0)
    cells = empty(count.shape)
    some = count > 0
    cells[some] = count[some].astype(np.int64)[:, None] * np.array(one, dtype=np.int64)
    cells[some, 3] = place + 3
    return cells


def totals(cells: Cells) -> FloatArray:
    """The sums as doubles."""
    result = np.zeros(cells.shape[:-1])
    _totals(np.ascontiguousarray(cells).reshape(-1, SIZE), result.reshape(-1))
    return result


@lazy_njit()
def _totals(cells, result):  # type: ignore[no-untyped-def]
    for i in range(len(cells)):
        top = cells[i, 3]
        if top == 0:
            continue
        carry = cells[i, 0] >> 32
        low = cells[i, 0] - (carry << 32)
        middle = cells[i, 1] + carry
        carry = middle >> 32
        middle = middle - (carry << 32)
        high = cells[i, 2] + carry
        value = high * 2.0**32 + middle + low * 2.0**-32
        result[i] = math.ldexp(value, 32 * (top - 2) - 1074)
