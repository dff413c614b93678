"""Columns of features: words in the order in which they appear, and numbers of which few are used."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import IntArray

NEAR = 1 << 22  # numbers below this are found by their place in an array, those above by a dictionary


class Vocabulary:
    """Words and their columns, in the order in which they appeared.

    >>> words = Vocabulary()
    >>> words.columns(["a", "b", "a"]).tolist(), words.names
    ([0, 1, 0], ['a', 'b'])
    """

    def __init__(self) -> None:
        self._column: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return len(self._column)

    @property
    def names(self) -> list[Hashable]:
        return list(self._column)

    def columns(self, words: Iterable[Hashable]) -> NDArray[np.int64]:
        """The column of each word."""
        column = self._column
        return np.fromiter((column.setdefault(word, len(column)) for word in words), np.int64)

    def columns_of_array(self, words: NDArray[np.generic]) -> NDArray[np.int64]:
        """The column of each entry of an array with many repeats."""
        distinct, first, inverse = np.unique(words, return_index=True, return_inverse=True)
        order = np.argsort(first)  # in the order in which they appear
        places = np.empty(distinct.size, np.int64)
        places[order] = self.columns(distinct[order].tolist())
        return places[inverse]


class ColumnsInUse:
    """Numbers of columns that occur, each with a place: memory is for those, not for the largest number.

    >>> used = ColumnsInUse()
    >>> used.places(np.array([7, 2_000_000_000, 7])).tolist(), used.numbers.tolist()
    ([0, 1, 0], [7, 2000000000])
    """

    def __init__(self) -> None:
        self._place = np.full(64, -1, np.int32)  # of the numbers that are near
        self._far: dict[int, int] = {}
        self._numbers = np.empty(64, np.int64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The number of the column at each place."""
        return self._numbers[: self._count]

    def places(self, column: IntArray) -> NDArray[np.int64]:
        """The place of each column; a new one gets the next."""
        if not column.size:
            return np.empty(0, np.int64)
        if int(column.max()) < NEAR:
            return self._near_places(column)
        near = column < NEAR
        found = np.empty(column.size, np.int64)
        found[near] = self._near_places(column[near])
        distinct, inverse = np.unique(column[~near], return_inverse=True)
        new = np.array([number for number in distinct.tolist() if number not in self._far], np.int64)
        self._far.update(zip(new.tolist(), self._add(new).tolist(), strict=True))
        found[~near] = np.array([self._far[number] for number in distinct.tolist()], np.int64)[inverse]
        return found

    def _near_places(self, column: IntArray) -> NDArray[np.int64]:
        if not column.size:
            return np.empty(0, np.int64)
        largest = int(column.max())
        if largest >= self._place.size:
            more = max(largest + 1, 2 * self._place.size) - self._place.size
            self._place = np.concatenate([self._place, np.full(more, -1, np.int32)])
        found = self._place[column]
        if (found < 0).any():
            new = np.flatnonzero(np.bincount(column[found < 0]))
            self._place[new] = self._add(new)
            found = self._place[column]
        return found.astype(np.int64)

    def _add(self, new: IntArray) -> NDArray[np.int64]:
        places = np.arange(self._count, self._count + new.size)
        self._count += new.size
        if self._count > self._numbers.size:
            self._numbers = np.concatenate([self._numbers, np.empty(self._count, np.int64)])
        self._numbers[places] = new
        return places
