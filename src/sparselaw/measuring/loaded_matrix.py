"""The features as one matrix in memory, for learning curves."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.errors import InputError
from sparselaw.measuring.counting import declared_features, parts_of
from sparselaw.measuring.nonzeros import Values
from sparselaw.measuring.readers.base import Reading
from sparselaw.measuring.vocabulary import Vocabulary
from sparselaw.progress import progress

MOST = 200_000_000  # nonzeros


@dataclass(frozen=True, slots=True)
class Loaded:
    """The matrix (scipy, by rows), with the names of its columns where they have some."""

    x: Any
    names: Sequence[Hashable] | None


def load(source: Any, *, values: Values, reading: Reading) -> Loaded:
    """All nonzeros of a source."""
    from scipy import sparse

    vocabulary = Vocabulary()
    rows, columns, data = [], [], []
    count = features = nonzeros = 0
    with progress("reading") as show:
        for part in parts_of(source, reading, vocabulary):
            kept = values.apply(part)
            rows.append(kept.row)
            columns.append(kept.column)
            data.append(kept.value)
            count, features = max(count, part.rows), max(features, part.features)
            nonzeros += kept.row.size
            show(nonzeros, None, f"{nonzeros} nonzeros")
            if nonzeros > MOST:
                raise InputError(
                    "file", str(source), f"has more than {MOST} nonzeros, too many for a learning curve",
                    "give some of its shards",
                )  # fmt: skip
    row = np.concatenate(rows) if rows else np.empty(0, np.int64)
    column = np.concatenate(columns) if columns else np.empty(0, np.int64)
    largest = int(column.max()) + 1 if column.size else 0
    width = max(features, largest, len(vocabulary), declared_features(source, reading) or 0)
    shape = (count, width)
    x: Any = sparse.coo_matrix((np.concatenate(data) if data else np.empty(0), (row, column)), shape=shape)
    return Loaded(x.tocsr(), vocabulary.names or None)
