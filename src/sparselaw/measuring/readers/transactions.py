"""Transactions, as in the FIMI collection: a line a basket, its items between blanks. Items are on or off."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import ClassVar

import numpy as np

from sparselaw.measuring.nonzeros import Nonzeros
from sparselaw.measuring.readers.base import LINES, Reader, open_bytes


class TransactionReader(Reader):
    name: ClassVar[str] = "transactions"
    endings: ClassVar[tuple[str, ...]] = (".dat", ".dat.gz", ".basket")
    worded: ClassVar[bool] = True

    def rows(self) -> int:
        with open_bytes(self.path) as file:
            return sum(1 for line in file if line.strip())

    def parts(self) -> Iterator[Nonzeros]:
        rows = 0
        with open_bytes(self.path) as file:
            while lines := list(islice(file, LINES)):
                baskets = [list(dict.fromkeys(line.split())) for line in lines if line.strip()]
                lengths = [len(basket) for basket in baskets]
                items = [item for basket in baskets for item in basket]
                if any(item.startswith(b"-") and item[1:].isdigit() for item in items):
                    wrong = next(item for item in items if item.startswith(b"-") and item[1:].isdigit())
                    raise self.refuse(f"has the negative item {wrong.decode()}", "number items from 0")
                words = (item.decode(self.reading.encoding) for item in items)
                row = np.repeat(np.arange(rows, rows + len(lengths)), lengths)
                rows += len(lengths)
                yield Nonzeros(row, self.vocabulary.columns(words), np.ones(len(items)), rows)
