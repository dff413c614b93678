"""One pass over the nonzeros: in how many rows each feature is active, and its squares, block by block.

Rows are cut into at most 32 contiguous blocks (fewer where there are very many features), for the jackknife.
How many rows there will be need not be known: a block starts with one row, and when there are too many
blocks, neighbours become one and blocks are twice as long. So the blocks depend on the rows alone: not on the
size of the pieces in which they came, nor on how files were shared among machines. Counts are the same then;
sums of squares agree to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError
from sparselaw.measuring.nonzeros import Nonzeros

BLOCKS = 32
FEWEST_BLOCKS = 8
CELLS = 1 << 24  # blocks times features from which on blocks are fewer


DIRECT = 1 << 20  # numbers of columns below this have a place each,
NEAR = 1 << 22  # below this they are found in an array, above in a dictionary


def most_blocks(features: int) -> int:
    """How many blocks are kept for so many features."""
    blocks = BLOCKS
    while blocks > FEWEST_BLOCKS and blocks * features > CELLS:
        blocks //= 2
    return blocks


class Tally:
    """Counts and squares so far. ``first`` is the number of rows in the files before this one."""

    def __init__(self, *, first: int = 0, length: int = 1, center: bool = False) -> None:
        self.first, self.length, self.rows = first, length, 0
        self.features = 0
        self.center = center
        self._used = ColumnsInUse()
        self._n: NDArray[np.uint32] = np.zeros((BLOCKS, 64), np.uint32)
        self._squares: FloatArray | None = None  # None while every square is one
        self._sums: FloatArray | None = None

    def add(self, part: Nonzeros) -> None:
        """Count these nonzeros."""
        largest = int(part.column.max()) + 1 if part.column.size else 0
        place = self._used.places(part.column)
        self.reach(rows=part.rows, features=max(largest, part.features))
        if not place.size:
            return
        block = (self.first + part.row.astype(np.int64)) // self.length - self._first_block
        cell = block * self._n.shape[1] + place
        squares = part.value * part.value
        if self._squares is None and not (squares == 1.0).all():
            self._squares = self._n.astype(np.float64)
        np.add.at(self._n.reshape(-1), cell, np.uint32(1))
        if self._squares is not None:
            np.add.at(self._squares.reshape(-1), cell, squares)
        if self.center:
            if self._sums is None:
                self._sums = np.zeros(self._n.shape)
            np.add.at(self._sums.reshape(-1), cell, part.value)

    def reach(self, *, rows: int = 0, features: int = 0) -> None:
        """Make room for so many rows of this file; it has so many features."""
        filled = self._blocks_needed() - self._first_block  # the others hold nothing yet
        self.rows, self.features = max(self.rows, rows), max(self.features, features)
        more = len(self._used) - self._n.shape[1]
        if more > 0:
            more = max(more, min(self._n.shape[1], 1 << 20))
            self._n = _widened(self._n, more)
            self._squares = None if self._squares is None else _widened(self._squares, more)
            self._sums = None if self._sums is None else _widened(self._sums, more)
        while self._blocks_needed() > most_blocks(len(self._used)):
            filled = self._join_pairs(filled)

    @property
    def _first_block(self) -> int:
        return self.first // self.length

    def _blocks_needed(self) -> int:
        """From the first row of all files, so that every file comes to the same length."""
        return -(-(self.first + self.rows) // self.length)

    def _join_pairs(self, filled: int) -> int:
        """Two neighbours of the first ``filled`` blocks become one; how many blocks they are then."""
        odd = self._first_block % 2  # the first of a pair may be in another file
        self.length *= 2
        for cells in (part for part in (self._n, self._squares, self._sums) if part is not None):
            for b in range(1, filled):
                to = (b + odd) // 2
                if to < b:
                    np.add(cells[to], cells[b], out=cells[to])
                    cells[b] = 0
        return (filled + odd + 1) // 2

    def counted(self) -> Counted:
        """What was counted, by the number of the column, without the room that was left."""
        used = slice(0, max(self._blocks_needed() - self._first_block, 0))
        seen = np.flatnonzero(self._n[used, : len(self._used)].any(axis=0))
        order = seen[np.argsort(self._used.numbers[seen], kind="stable")]
        return Counted(
            rows=self.rows,
            first=self.first,
            length=self.length,
            features=self.features,
            column=self._used.numbers[order],
            n=self._n[used][:, order],
            squares=None if self._squares is None else self._squares[used][:, order],
            sums=None if self._sums is None else self._sums[used][:, order],
        )


def _widened(cells: Any, more: int) -> Any:
    """The same cells and ``more`` columns of zeros, which take no memory before they are counted in."""
    wider = np.zeros((cells.shape[0], cells.shape[1] + more), cells.dtype)
    wider[:, : cells.shape[1]] = cells
    return wider


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The tally of a file with so many ``features``: ``n`` (blocks, columns that occur).

    ``column`` are the numbers of those columns, rising; the first block is that of row ``first``. Arrays
    are None where all values are one, or where sums were not asked for.
    """

    rows: int
    first: int
    length: int
    features: int
    column: NDArray[np.int64]
    n: NDArray[np.uint32]
    squares: FloatArray | None
    sums: FloatArray | None

    def energies(self, block: int) -> FloatArray:
        """The sum of x^2 of each column over a block."""
        return np.asarray(self.n[block] if self.squares is None else self.squares[block], dtype=np.float64)

    def sums_of_values(self, block: int) -> FloatArray:
        """The sum of x of each column over a block."""
        return np.zeros(self.column.size) if self.sums is None else self.sums[block]

    def total_energies(self) -> FloatArray:
        """The sum of x^2 of each column over all rows."""
        cells = self.n if self.squares is None else self.squares
        return np.asarray(cells.sum(axis=0, dtype=np.float64))

    def total_sums(self) -> FloatArray:
        """The sum of x of each column over all rows."""
        return np.zeros(self.column.size) if self.sums is None else np.asarray(self.sums.sum(axis=0))

    def counts(self) -> NDArray[np.int64]:
        """n_j: rows in which the column is active."""
        return np.asarray(self.n.sum(axis=0, dtype=np.int64))

    def block_rows(self) -> NDArray[np.int64]:
        """How many rows each block has."""
        edges = np.arange(self.first // self.length, self.first // self.length + len(self.n) + 1)
        ends = np.clip(edges * self.length, self.first, self.first + self.rows)
        return np.diff(ends)


def put_together(files: list[Counted], columns: list[NDArray[np.int64] | None], features: int) -> Counted:
    """The tallies of files, in order, as one; ``columns`` says which column a file's own number means."""
    own = [
        part.column if given is None else given[part.column]
        for part, given in zip(files, columns, strict=True)
    ]
    used = np.unique(np.concatenate(own))
    length, rows = max(part.length for part in files), sum(part.rows for part in files)
    while -(-rows // length) > most_blocks(used.size):
        length *= 2
    shape = (max(1, -(-rows // length)), used.size)
    n = np.zeros(shape, np.uint32)
    squares = None if all(part.squares is None for part in files) else np.zeros(shape)
    sums = None if all(part.sums is None for part in files) else np.zeros(shape)
    for part, numbers in zip(files, own, strict=True):
        place = np.searchsorted(used, numbers)
        for b in range(len(part.n) if part.rows else 0):
            to = (part.first // part.length + b) * part.length // length
            n[to, place] += part.n[b]
            if squares is not None:
                squares[to, place] += part.energies(b)
            if sums is not None:
                sums[to, place] += part.sums_of_values(b)
    return Counted(
        rows=rows,
        first=0,
        length=length,
        features=features,
        column=used,
        n=n,
        squares=squares,
        sums=sums,
    )


def check_counts(counted: Counted) -> None:
    """Refuse a feature that is active more often than there are rows: an entry was given twice."""
    n = counted.counts()
    if n.size and int(n.max()) > counted.rows:
        j = int(np.argmax(n))
        raise InputError(
            "feature",
            int(counted.column[j]),
            f"is active {int(n[j])} times in {counted.rows} rows",
            "sum entries given twice first",
        )


class ColumnsInUse:
    """A place for every column that occurs: memory is for those, not for the largest number.

    Columns below DIRECT have places whether they occur or not, in blocks as they come: mostly their own
    numbers, so that nothing need be looked up.

    >>> used = ColumnsInUse()
    >>> used.places(np.array([2, 2_000_000_000, 2])).tolist(), used.numbers.tolist()
    ([2, 3, 2], [0, 1, 2, 2000000000])
    """

    def __init__(self) -> None:
        self._place = np.empty(0, np.int32)  # of the numbers below NEAR that are known, or -1
        self._far: dict[int, int] = {}
        self._numbers = np.empty(64, np.int64)
        self._count = self._direct = 0

    def __len__(self) -> int:
        return self._count

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The number of the column at each place."""
        return self._numbers[: self._count]

    def places(self, column: IntArray) -> IntArray:
        """The place of each column; a new one gets the next."""
        largest = int(column.max(initial=-1))
        if largest < self._direct:
            return column
        if largest < NEAR:
            return self._near_places(column)
        near = column < NEAR
        found = np.empty(column.size, np.int64)
        found[near] = self._near_places(column[near])
        distinct, inverse = np.unique(column[~near], return_inverse=True)
        new = np.array([number for number in distinct.tolist() if number not in self._far], np.int64)
        self._far.update(zip(new.tolist(), self._add(new).tolist(), strict=True))
        found[~near] = np.array([self._far[number] for number in distinct.tolist()], np.int64)[inverse]
        return found

    def _near_places(self, column: IntArray) -> IntArray:
        known, largest = self._place.size, int(column.max(initial=-1))
        if largest >= known:
            more = np.full(largest + 1 - known, -1, np.int32)
            self._place = np.concatenate([self._place, more])
            direct = np.arange(known, min(largest + 1, DIRECT))
            if direct.size:
                self._direct += direct.size if self._count == known else 0
                self._place[direct] = self._add(direct)
        found = self._place[column]
        if (found < 0).any():
            new = np.flatnonzero(np.bincount(column[found < 0]))
            self._place[new] = self._add(new)
            found = self._place[column]
        return found

    def _add(self, new: IntArray) -> NDArray[np.int64]:
        places = np.arange(self._count, self._count + new.size)
        self._count += new.size
        if self._count > self._numbers.size:
            self._numbers = np.concatenate([self._numbers, np.empty(self._count, np.int64)])
        self._numbers[places] = new
        return places
