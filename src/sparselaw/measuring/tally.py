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
from sparselaw.measuring.nonzeros import Nonzeros
from sparselaw.measuring.readers.base import Vocabulary

BLOCKS = 32
FEWEST_BLOCKS = 8
CELLS = 1 << 24  # blocks times features from which on blocks are fewer
DIRECT = 1 << 22  # columns below this are counted at their own number


def most_blocks(features: int) -> int:
    """How many blocks are kept for so many features."""
    blocks = BLOCKS
    while blocks > FEWEST_BLOCKS and blocks * features > CELLS:
        blocks //= 2
    return blocks


class Tally:
    """Counts and squares so far. ``first`` is the number of rows in the files before this one.

    Memory is for columns that occur, not for the largest number: once one lies far out, all have places in
    the order in which they appeared.
    """

    def __init__(self, *, first: int = 0, center: bool = False) -> None:
        self.first, self.length, self.rows, self.features = first, 1, 0, 0
        self._width = 0  # places in use
        self._far: Vocabulary | None = None  # from the number of a column to its place
        self._cells: dict[str, NDArray[Any]] = {"n": np.zeros((BLOCKS, 64), np.uint32)}
        if center:
            self._cells["sums"] = np.zeros((BLOCKS, 64))

    def add(self, part: Nonzeros) -> None:
        """Count these nonzeros."""
        largest = int(part.column.max(initial=-1))
        place = self._places(part.column, largest)
        self.reach(rows=part.rows, features=max(largest + 1, part.features or 0))
        if not place.size:
            return
        block = (self.first + part.row.astype(np.int64)) // self.length - self.first // self.length
        cell = block * self._cells["n"].shape[1] + place
        squares = part.value * part.value
        if "squares" not in self._cells and not (squares == 1.0).all():
            self._cells["squares"] = self._cells["n"].astype(np.float64)
        added: dict[str, Any] = {"n": np.uint32(1), "squares": squares, "sums": part.value}
        for name, cells in self._cells.items():
            np.add.at(cells.reshape(-1), cell, added[name])

    def _places(self, column: IntArray, largest: int) -> IntArray:
        if self._far is None and largest < DIRECT:
            self._width = max(self._width, largest + 1)
            return column
        if self._far is None:
            self._far = Vocabulary()
            self._far.columns(range(self._width))
        found = self._far.columns_of_array(column)
        self._width = len(self._far)
        return found

    def reach(self, *, rows: int = 0, features: int = 0) -> None:
        """Make room for so many rows of this file; it has so many features."""
        filled = self._blocks()  # the others hold nothing yet
        self.rows, self.features = max(self.rows, rows), max(self.features, features)
        held = self._cells["n"].shape[1]
        if self._width > held:  # zeros take no memory before they are counted in
            more = max(self._width - held, min(held, 1 << 20))
            for name, cells in self._cells.items():
                self._cells[name] = np.zeros((BLOCKS, held + more), cells.dtype)
                self._cells[name][:filled, :held] = cells[:filled]
        while -(-(self.first + self.rows) // self.length) > most_blocks(self._width):
            odd = self.first // self.length % 2  # the first of a pair may be in another file
            pairs = np.maximum(np.arange(0, filled + odd, 2) - odd, 0)
            for cells in self._cells.values():
                if filled > 1:
                    cells[: pairs.size] = np.add.reduceat(cells[:filled], pairs, axis=0)
                    cells[pairs.size : filled] = 0
            self.length, filled = 2 * self.length, pairs.size

    def _blocks(self) -> int:
        """Blocks that hold rows of this file: they begin with the first row of all files."""
        return max(-(-(self.first + self.rows) // self.length) - self.first // self.length, 0)

    def counted(self) -> Counted:
        """What was counted, by the number of the column, without the room that was left."""
        found = {name: cells[: self._blocks(), : self._width] for name, cells in self._cells.items()}
        numbers = np.arange(self._width) if self._far is None else np.array(self._far.names, np.int64)
        seen = np.flatnonzero(found["n"].any(axis=0))
        order = seen[np.argsort(numbers[seen], kind="stable")]
        kept = {name: cells[:, order] for name, cells in found.items()}
        return Counted(
            rows=self.rows, first=self.first, length=self.length, features=self.features,
            column=numbers[order], **{"squares": kept["n"], **kept},
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The tally of a file with so many ``features``, by blocks of rows and columns that occur.

    ``column`` are the numbers of those columns, rising; the first block is that of row ``first``. ``n`` are
    the rows in which a column is active, ``squares`` the sum of x^2 (the same array where all values are
    one), ``sums`` that of x where it was asked for.
    """

    rows: int
    first: int
    length: int
    features: int
    column: NDArray[np.int64]
    n: NDArray[np.uint32]
    squares: NDArray[Any]
    sums: FloatArray | None = None

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
    cells: dict[str, NDArray[Any]] = {"n": np.zeros(shape, np.uint32)}
    if any(part.squares is not part.n for part in files):
        cells["squares"] = np.zeros(shape)
    if files[0].sums is not None:
        cells["sums"] = np.zeros(shape)
    for part, numbers in zip(files, own, strict=True):
        place = np.searchsorted(used, numbers)
        for b in range(len(part.n) if part.rows else 0):
            to = (part.first // part.length + b) * part.length // length
            for name, held in cells.items():
                held[to, place] += getattr(part, name)[b]
    return Counted(
        rows=rows, first=0, length=length, features=features, column=used, **{"squares": cells["n"], **cells}
    )
