"""One pass over the nonzeros: in how many rows each feature is active, and its energy, block by block.

Rows are cut into at most 32 contiguous blocks (fewer where there are very many features), for the jackknife.
How many rows there will be need not be known: a block starts with one row, and when there are too many
blocks, neighbours become one and blocks are twice as long. All sums are whole numbers (``exact_sums``). The
outcome depends on the rows alone: not on the size of the pieces in which they came, nor on how files were
shared among machines.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.compiled import lazy_njit
from sparselaw.errors import InputError
from sparselaw.measuring import exact_sums
from sparselaw.measuring.nonzeros import Nonzeros

BLOCKS = 32
FEWEST_BLOCKS = 8
CELLS = 1 << 24  # blocks times features from which on blocks are fewer
ONE = np.float64(1.0).view(np.int64)


def most_blocks(features: int) -> int:
    """How many blocks are kept for so many features."""
    blocks = BLOCKS
    while blocks > FEWEST_BLOCKS and blocks * features > CELLS:
        blocks //= 2
    return blocks


class Tally:
    """Counts and energies so far. ``first`` is the number of rows in the files before this one."""

    def __init__(self, *, first: int = 0, length: int = 1, center: bool = False) -> None:
        self.first, self.length, self.rows = first, length, 0
        self.features = 0
        self.center = center
        self._empty = True
        self._n = np.zeros((BLOCKS, 0), np.uint32)
        self._squares: exact_sums.Cells | None = None  # None while every square is one
        self._sums: exact_sums.Cells | None = None

    def add(self, part: Nonzeros) -> None:
        """Count these nonzeros."""
        largest = int(part.column.max()) + 1 if part.column.size else 0
        self.reach(rows=part.rows, features=max(largest, part.features))
        if not part.column.size:
            return
        self._empty = False
        rows = self.first + part.row.astype(np.int64)
        block = rows // self.length - self._first_block
        column = np.ascontiguousarray(part.column).astype(np.int64, copy=False)
        count_entries(block, column, self._n)
        squares = (part.value * part.value).view(np.int64)
        if self._squares is None and not (squares == ONE).all():
            self._squares = exact_sums.ones(_without(block, column, self._n))
        if self._squares is not None:
            exact_sums.add_numbers(block, column, squares, self._squares)
        if self.center:
            if self._sums is None:
                self._sums = exact_sums.empty(self._n.shape)
            bits = np.ascontiguousarray(part.value).view(np.int64)
            exact_sums.add_numbers(block, column, bits, self._sums)

    def reach(self, *, rows: int = 0, features: int = 0) -> None:
        """Make room for so many rows of this file and so many features."""
        self.rows = max(self.rows, rows)
        if features > self._n.shape[1]:
            self._widen(max(features, min(2 * self._n.shape[1], features + (1 << 20)), 64))
        self.features = max(self.features, features)
        while self._blocks_needed() > most_blocks(self.features):
            self._fold()

    @property
    def _first_block(self) -> int:
        return self.first // self.length

    def _blocks_needed(self) -> int:
        """From the first row of all files, so that every file comes to the same length."""
        return -(-(self.first + self.rows) // self.length)

    def _fold(self) -> None:
        odd = self._first_block % 2  # the first of a pair may be in another file
        self.length *= 2
        if self._empty:
            return
        for b in range(1, len(self._n)):
            to = (b + odd) // 2
            if to < b:
                self._n[to] += self._n[b]
                self._n[b] = 0
        for cells in (self._squares, self._sums):
            if cells is not None:
                _fold_cells(cells, odd)

    def _widen(self, capacity: int) -> None:
        more = capacity - self._n.shape[1]
        self._n = np.concatenate([self._n, np.zeros((self._n.shape[0], more), np.uint32)], axis=1)
        self._squares = None if self._squares is None else _widened(self._squares, more)
        self._sums = None if self._sums is None else _widened(self._sums, more)

    def counted(self) -> Counted:
        """What was counted, without the room that was left."""
        first, F = self._first_block, self.features
        last = -(-(self.first + self.rows) // self.length)
        used = slice(0, max(last - first, 0))
        n = self._n[used, :F]
        squares = None if self._squares is None else self._squares[used, :F]
        sums = None if self._sums is None else self._sums[used, :F]
        return Counted(rows=self.rows, first=self.first, length=self.length, n=n, squares=squares, sums=sums)


def _fold_cells(cells: exact_sums.Cells, odd: int) -> None:
    """Add pairs of blocks, in place."""
    every = np.arange(cells.shape[1])
    for b in range(1, len(cells)):
        to = (b + odd) // 2
        if to < b and cells[b, :, -1].any():
            exact_sums.merge_cells(cells[to], every, cells[b])
            cells[b] = 0


def _widened(cells: exact_sums.Cells, more: int) -> exact_sums.Cells:
    wider = exact_sums.empty((cells.shape[0], cells.shape[1] + more))
    wider[:, : cells.shape[1]] = cells
    return wider


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The tally of a file: ``n`` (blocks, features), the first block being that of row ``first``."""

    rows: int
    first: int
    length: int
    n: NDArray[np.uint32]
    squares: exact_sums.Cells | None
    sums: exact_sums.Cells | None

    @property
    def features(self) -> int:
        return int(self.n.shape[1])

    def energies(self, block: int) -> FloatArray:
        """sum of x^2 of each feature over a block."""
        if self.squares is None:
            return np.asarray(self.n[block], dtype=np.float64)
        return exact_sums.totals(self.squares[block])

    def sums_of_values(self, block: int) -> FloatArray:
        """sum of x of each feature over a block."""
        if self.sums is None:
            return np.zeros(self.features)
        return exact_sums.totals(self.sums[block])

    def total_energies(self) -> FloatArray:
        """sum of x^2 of each feature over all rows, exact before its last rounding."""
        return self._total(self.squares) if self.squares is not None else self.counts().astype(np.float64)

    def total_sums(self) -> FloatArray:
        return self._total(self.sums) if self.sums is not None else np.zeros(self.features)

    def counts(self) -> NDArray[np.int64]:
        """n_j: rows in which feature j is active."""
        return np.asarray(self.n.sum(axis=0, dtype=np.int64))

    def block_rows(self) -> NDArray[np.int64]:
        """How many rows each block has."""
        edges = np.arange(self.first // self.length, self.first // self.length + len(self.n) + 1)
        ends = np.clip(edges * self.length, self.first, self.first + self.rows)
        return np.diff(ends)

    def _total(self, cells: exact_sums.Cells) -> FloatArray:
        every = np.arange(self.features)
        whole = exact_sums.empty((self.features,))
        for block in cells:
            exact_sums.merge_cells(whole, every, block)
        return exact_sums.totals(whole)


def put_together(files: list[Counted], columns: list[NDArray[np.int64] | None], features: int) -> Counted:
    """The tallies of files, in order, as one; ``columns`` says where the features of a file belong."""
    length = max(part.length for part in files)
    rows = sum(part.rows for part in files)
    while -(-rows // length) > most_blocks(features):
        length *= 2
    blocks = max(1, -(-rows // length))
    n = np.zeros((blocks, features), np.uint32)
    squares = None if all(part.squares is None for part in files) else exact_sums.empty((blocks, features))
    sums = None if all(part.sums is None for part in files) else exact_sums.empty((blocks, features))
    for part, given in zip(files, columns, strict=True):
        place = np.arange(part.features) if given is None else given
        if not part.rows:
            continue
        for b in range(len(part.n)):
            to = (part.first // part.length + b) * part.length // length
            n[to, place] += part.n[b]
            if squares is not None:
                own = exact_sums.ones(part.n[b]) if part.squares is None else part.squares[b]
                exact_sums.merge_cells(squares[to], place, own)
            if sums is not None and part.sums is not None:
                exact_sums.merge_cells(sums[to], place, part.sums[b])
    return Counted(rows=rows, first=0, length=length, n=n, squares=squares, sums=sums)


def check_counts(counted: Counted) -> None:
    """Refuse a feature that is active more often than there are rows: an entry was given twice."""
    n = counted.counts()
    if n.size and int(n.max()) > counted.rows:
        j = int(np.argmax(n))
        raise InputError(
            "feature",
            j,
            f"is active {int(n[j])} times in {counted.rows} rows",
            "sum entries given twice first",
        )


@lazy_njit()
def count_entries(block, column, n):  # type: ignore[no-untyped-def]
    for i in range(len(block)):
        n[block[i], column[i]] += 1


def _without(
    block: NDArray[np.int64], column: NDArray[np.int64], n: NDArray[np.uint32]
) -> NDArray[np.uint32]:
    """The counts before these entries."""
    theirs = np.zeros_like(n)
    count_entries(block, column, theirs)
    return n - theirs
