"""Rows given as lists of tokens: each token is a feature, its value how often it is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator

import numpy as np

from sparselaw.measuring.nonzeros import Nonzeros
from sparselaw.measuring.vocabulary import Vocabulary

ROWS = 1 << 13


def parts_of_bags(bags: Iterable[Iterable[Hashable]], vocabulary: Vocabulary) -> Iterator[Nonzeros]:
    """A row a bag, in parts of some thousand rows."""
    done = 0
    lengths: list[int] = []
    words: list[Hashable] = []
    values: list[int] = []

    def part() -> Nonzeros:
        row = np.repeat(np.arange(done, done + len(lengths)), lengths)
        return Nonzeros(row, vocabulary.columns(words), np.array(values, np.float64), done + len(lengths))

    for bag in bags:
        counts = Counter(bag)
        lengths.append(len(counts))
        words += counts
        values += counts.values()
        if len(lengths) == ROWS:
            yield part()
            done += len(lengths)
            lengths, words, values = [], [], []
    yield part()
