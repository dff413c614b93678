"""Lines of numbers: svmlight (``label index:value index:value # comment``), and baskets of items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from sparselaw.files import open_unpacked
from sparselaw.measuring.nonzeros import LARGEST_COLUMN, Nonzeros
from sparselaw.measuring.readers.base import LINES_AT_ONCE, Reader


class SvmlightReader(Reader):
    """Indices are columns as they stand: files that count from 1 have a feature 0 that is never active."""

    name: ClassVar[str] = "svmlight"
    endings: ClassVar[tuple[str, ...]] = (
        ".svm", ".svmlight", ".libsvm", ".svm.gz", ".svmlight.gz", ".libsvm.gz",
    )  # fmt: skip

    def rows(self) -> int:
        with open_unpacked(self.path, lines=True) as file:
            return sum(1 for line in file if _content(line))

    def parts(self) -> Iterator[Nonzeros]:
        rows = 0
        with open_unpacked(self.path, lines=True) as file:
            while lines := file.readlines(LINES_AT_ONCE):
                pairs: list[bytes] = []
                lengths: list[int] = []
                for line in lines:
                    fields = _content(line).split()
                    if not fields:
                        continue
                    if b":" in fields[0]:
                        raise ValueError(f"line {len(lengths) + rows + 1} of data has no label")
                    entries = [field for field in fields[1:] if not field.startswith(b"qid:")]
                    lengths.append(len(entries))
                    pairs += entries
                index, value = _numbers(pairs)
                row = np.repeat(np.arange(rows, rows + len(lengths)), lengths)
                rows += len(lengths)
                yield Nonzeros(row, index, value, rows)


def _content(line: bytes) -> bytes:
    return line.split(b"#", 1)[0].strip()


def _numbers(pairs: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """The indices and the values."""
    joined = b" ".join(pairs)
    if joined.count(b":") != len(pairs) or b"_" in joined:
        wrong = next((pair for pair in pairs if pair.count(b":") != 1 or b"_" in pair), b"")
        raise ValueError(f"{wrong.decode('utf-8', 'replace')[:40]!r} is not index:value")
    fields = joined.replace(b":", b" ").split()
    if len(fields) != 2 * len(pairs):
        raise ValueError("an index or a value is missing")
    numbers = np.array(fields, dtype=np.float64) if fields else np.empty(0)
    index = numbers[0::2]
    if not (np.abs(index) <= LARGEST_COLUMN).all() or (index != np.floor(index)).any():
        raise ValueError("an index is not a whole number, or too large")
    return index.astype(np.int64), numbers[1::2]


class TransactionReader(Reader):
    """Transactions, as in the FIMI collection: a line a basket, its items between blanks, on or off."""

    name: ClassVar[str] = "transactions"
    endings: ClassVar[tuple[str, ...]] = (".dat", ".dat.gz", ".basket")
    worded: ClassVar[bool] = True

    def rows(self) -> int:
        with open_unpacked(self.path, lines=True) as file:
            return sum(1 for line in file if line.strip())

    def parts(self) -> Iterator[Nonzeros]:
        rows = 0
        with open_unpacked(self.path, lines=True) as file:
            while lines := file.readlines(LINES_AT_ONCE):
                baskets = [list(dict.fromkeys(line.split())) for line in lines if line.strip()]
                lengths = [len(basket) for basket in baskets]
                items = [item for basket in baskets for item in basket]
                wrong = next((item for item in items if item.startswith(b"-") and item[1:].isdigit()), None)
                if wrong is not None:
                    raise self.refuse(f"has the negative item {wrong.decode()}", "number items from 0")
                words = (item.decode(self.reading.encoding) for item in items)
                row = np.repeat(np.arange(rows, rows + len(lengths)), lengths)
                rows += len(lengths)
                yield Nonzeros(row, self.vocabulary.columns(words), np.ones(len(items)), rows)
