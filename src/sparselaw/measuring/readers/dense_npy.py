"""A table kept by ``numpy.save``, most of it zeros."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from sparselaw.measuring.nonzeros import Nonzeros
from sparselaw.measuring.readers.base import Reader
from sparselaw.measuring.readers.matrices import parts_of_matrix


class NpyReader(Reader):
    name: ClassVar[str] = "npy"
    endings: ClassVar[tuple[str, ...]] = (".npy",)

    def _table(self) -> Any:
        table = np.load(self.path, mmap_mode="r", allow_pickle=False)
        if table.ndim != 2:
            raise self.refuse(
                f"has {table.ndim} dimensions, not rows and features", "save a table with a row a sample"
            )
        return table

    def features(self) -> int:
        return int(self._table().shape[1])

    def rows(self) -> int:
        return int(self._table().shape[0])

    def parts(self) -> Iterator[Nonzeros]:
        yield from parts_of_matrix(self._table())
