"""svmlight or libsvm lines: ``label index:value index:value # comment``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import ClassVar

import numpy as np

from sparselaw.measuring.nonzeros import Nonzeros
from sparselaw.measuring.readers.base import LINES, Reader, open_bytes


class SvmlightReader(Reader):
    """Indices are columns as they stand: files that count from 1 have a feature 0 that is never active."""

    name: ClassVar[str] = "svmlight"
    endings: ClassVar[tuple[str, ...]] = (
        ".svm",
        ".svmlight",
        ".libsvm",
        ".svm.gz",
        ".svmlight.gz",
        ".libsvm.gz",
    )

    def rows(self) -> int:
        with open_bytes(self.path) as file:
            return sum(1 for line in file if _content(line))

    def parts(self) -> Iterator[Nonzeros]:
        rows = 0
        with open_bytes(self.path) as file:
            while lines := list(islice(file, LINES)):
                pairs, lengths = [], []
                for line in lines:
                    fields = _content(line).split()
                    if not fields:
                        continue
                    entries = [field for field in fields[1:] if not field.startswith(b"qid:")]
                    lengths.append(len(entries))
                    pairs += entries
                numbers = _numbers(pairs)
                row = np.repeat(np.arange(rows, rows + len(lengths)), lengths)
                rows += len(lengths)
                column = numbers[0::2].astype(np.int64)
                if (column != numbers[0::2]).any():
                    raise ValueError("an index is not a whole number")
                same = (np.diff(row) == 0) & (np.diff(column) == 0)
                if same.any():
                    raise ValueError(f"row {int(row[:-1][same][0]) + 1} gives an index twice")
                yield Nonzeros(row, column, numbers[1::2], rows)


def _content(line: bytes) -> bytes:
    return line.split(b"#", 1)[0].strip()


def _numbers(pairs: list[bytes]) -> np.ndarray:
    """index, value, index, value, ..."""
    if not pairs:
        return np.empty(0)
    joined = b" ".join(pairs)
    if joined.count(b":") != len(pairs):
        wrong = next(pair for pair in pairs if pair.count(b":") != 1)
        raise ValueError(f"{wrong.decode('utf-8', 'replace')[:40]!r} is not index:value")
    fields = joined.replace(b":", b" ").split()
    if len(fields) != 2 * len(pairs):
        raise ValueError("an index or a value is missing")
    return np.array(fields, dtype=np.float64)
