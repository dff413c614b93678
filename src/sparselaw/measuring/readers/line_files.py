"""Lines of numbers: svmlight (``label index:value index:value # comment``) and Matrix Market."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, ClassVar

import numpy as np

from sparselaw.files import MAX_SIZE, open_unpacked
from sparselaw.measuring.nonzeros import LARGEST_COLUMN, MOST_ROWS, PART, Nonzeros, rising
from sparselaw.measuring.readers.base import LINES_AT_ONCE, Reader


class SvmlightReader(Reader):
    """Indices are columns as they stand: files that count from 1 have a feature 0 that is never active."""

    name: ClassVar[str] = "svmlight"
    endings: ClassVar[tuple[str, ...]] = (
        ".svm", ".svmlight", ".libsvm", ".svm.gz", ".svmlight.gz", ".libsvm.gz",
    )  # fmt: skip

    def rows(self) -> int:
        with open_unpacked(self.path, lines=True) as file:
            return sum(1 for line in file if line.split(b"#", 1)[0].strip())

    def parts(self) -> Iterator[Nonzeros]:
        rows = 0
        with open_unpacked(self.path, lines=True) as file:
            while lines := file.readlines(LINES_AT_ONCE):
                pairs: list[bytes] = []
                lengths: list[int] = []
                for line in lines:
                    fields = line.split(b"#", 1)[0].split()
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


BYTES_AN_ENTRY = 64  # while all entries are held to be sorted
Entries = tuple[np.ndarray, np.ndarray, np.ndarray]


class MatrixMarketReader(Reader):
    """Small files are held whole, so that entries given twice are added up; large ones must be in order."""

    name: ClassVar[str] = "mtx"
    endings: ClassVar[tuple[str, ...]] = (".mtx", ".mtx.gz")

    def shape(self) -> tuple[int, int]:
        with open_unpacked(self.path, lines=True) as file:
            rows, columns, _ = self._head(file)[1]
        return rows, columns

    def _head(self, file: IO[bytes]) -> tuple[list[str], list[int]]:
        """The words of the first line and the sizes; the file is then at its first entry."""
        words = file.readline(1 << 10).decode("utf-8", "replace").lower().split()
        if len(words) != 5 or words[0] != "%%matrixmarket":
            raise self.refuse("does not start as a Matrix Market file", "say what it is with --format")
        line = file.readline()
        while line and (not line.strip() or line.startswith(b"%")):
            line = file.readline()
        if not line:
            raise EOFError("no line of sizes")
        if words[1:3] != ["matrix", "coordinate"]:
            raise self.refuse("is a dense array, not a list of entries", "write it in coordinate format")
        if words[3] not in ("real", "integer", "pattern") or words[4] not in ("general", "symmetric"):
            raise self.refuse(f"holds a matrix of kind {' '.join(words[3:])}", "give a real, general one")
        fields = line.split()
        if len(fields) != 3 or not all(field.isdigit() and len(field) < 20 for field in fields):
            raise ValueError("its line of sizes has not three whole numbers")
        sizes = [int(field) for field in fields]
        if max(sizes) > MOST_ROWS:
            raise ValueError("its line of sizes has a number that is too large")
        return words, sizes

    def parts(self) -> Iterator[Nonzeros]:
        with open_unpacked(self.path, lines=True) as file:
            words, (rows, columns, count) = self._head(file)
            if not count:
                if file.read(1 << 16).strip():
                    raise ValueError("entries where its line of sizes has none")
                return
            found = self._entries(file, words, count)
            if count <= max(PART, MAX_SIZE.get() // BYTES_AN_ENTRY):
                row, column, value = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
                found = iter([(row, column, value)])
            else:
                found = self._in_order(found)
            for row, column, value in found:
                yield Nonzeros(row, column, value, rows, columns)

    def _entries(self, file: IO[bytes], words: list[str], count: int) -> Iterator[Entries]:
        import pandas as pd

        pattern = words[3] == "pattern"
        names = ["row", "column", "more"] if pattern else ["row", "column", "value", "more"]
        done = 0
        tables = pd.read_csv(
            file, sep=r"\s+", header=None, names=names, index_col=False, comment="%", chunksize=PART,
            dtype={"row": np.int64, "column": np.int64, "value": np.float64, "more": object},
        )  # fmt: skip
        for table in tables:
            if table["more"].notna().any():
                raise ValueError("an entry has more numbers than it should")
            row, column = table["row"].to_numpy() - 1, table["column"].to_numpy() - 1
            value = np.ones(row.size) if pattern else table["value"].to_numpy()
            if min(row.min(), column.min()) < 0:
                name = "row" if row.min() < 0 else "feature"
                condition = f"has a {name} index of {min(row.min(), column.min()) + 1}; they count from 1"
                raise self.refuse(condition, "number rows and features from 1")
            done += row.size
            yield row, column, value
            if words[4] == "symmetric":
                off = row != column
                yield column[off], row[off], value[off]
        if done != count:
            raise EOFError(f"{done} of {count} entries")

    def _in_order(self, parts: Iterator[Entries]) -> Iterator[Entries]:
        """Parts that rise by rows, or by columns: so no entry comes twice without all being held."""
        by_rows = by_columns = True
        last = -1, -1
        for row, column, value in parts:
            rows, columns = np.append(last[0], row), np.append(last[1], column)
            by_rows &= rising(rows, columns)
            by_columns &= rising(columns, rows)
            if not (by_rows or by_columns):
                raise self.refuse(
                    "is too large to be read in any order",
                    "sort its entries by row, or raise the limit with --max-size",
                )
            last = int(row[-1]), int(column[-1])
            yield row, column, value
