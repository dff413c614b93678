"""Features that are words, not numbers: each gets the next column when it first appears."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
from numpy.typing import NDArray


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
