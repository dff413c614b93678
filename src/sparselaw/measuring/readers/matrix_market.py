"""Matrix Market files, .mtx or .mtx.gz: entries in any order, by row or by column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from sparselaw.measuring.nonzeros import Nonzeros
from sparselaw.measuring.readers.base import PART, Reader, open_bytes


class MatrixMarketReader(Reader):
    name: ClassVar[str] = "mtx"
    endings: ClassVar[tuple[str, ...]] = (".mtx", ".mtx.gz")

    def features(self) -> int:
        return self._head()[1][1]

    def rows(self) -> int:
        return self._head()[1][0]

    def _head(self) -> tuple[list[str], list[int], int]:
        """The words of the first line, the sizes, and how many lines come before the entries."""
        with open_bytes(self.path) as file:
            words = file.readline(1 << 10).decode("utf-8", "replace").lower().split()
            if len(words) != 5 or words[0] != "%%matrixmarket":
                raise self.refuse("does not start as a Matrix Market file", "say what it is with --format")
            lines = 1
            while True:
                line = file.readline()
                lines += 1
                if not line:
                    raise EOFError("no line of sizes")
                if line.strip() and not line.startswith(b"%"):
                    break
        if words[1:3] != ["matrix", "coordinate"]:
            raise self.refuse("is a dense array, not a list of entries", "write it in coordinate format")
        if words[3] not in ("real", "integer", "pattern") or words[4] not in ("general", "symmetric"):
            raise self.refuse(f"holds a matrix of kind {' '.join(words[3:])}", "give a real, general one")
        sizes = [int(field) for field in line.split()]
        if len(sizes) != 3:
            raise ValueError("its line of sizes has not three numbers")
        return words, sizes, lines

    def parts(self) -> Iterator[Nonzeros]:
        import pandas as pd

        words, (rows, columns, entries), lines = self._head()
        yield Nonzeros(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), rows)
        names = ["row", "column"] if words[3] == "pattern" else ["row", "column", "value"]
        done, last = 0, (-1, -1)
        with open_bytes(self.path) as file:
            for _ in range(lines):
                file.readline()
            if not entries:
                return
            tables = pd.read_csv(
                file, sep=r"\s+", header=None, names=names, index_col=False, comment="%", chunksize=PART,
                dtype={"row": np.int64, "column": np.int64, "value": np.float64},
            )  # fmt: skip
            for table in tables:
                row, column = table["row"].to_numpy() - 1, table["column"].to_numpy() - 1
                value = np.ones(row.size) if words[3] == "pattern" else table["value"].to_numpy()
                if row.min() < 0 or column.min() < 0:
                    name = "row" if row.min() < 0 else "feature"
                    raise self.refuse(
                        f"has a {name} index of {int(min(row.min(), column.min())) + 1}; they count from 1",
                        "number rows and features from 1",
                    )
                if row.max() >= rows or column.max() >= columns:
                    raise self.refuse("has an index beyond its size", "correct the line of sizes")
                before = (np.append(last[0], row[:-1]), np.append(last[1], column[:-1]))
                if ((row == before[0]) & (column == before[1])).any():
                    raise self.refuse("gives an entry twice", "sum entries given twice first")
                last, done = (int(row[-1]), int(column[-1])), done + row.size
                yield Nonzeros(row, column, value, rows)
                if words[4] == "symmetric":
                    off = row != column
                    yield Nonzeros(column[off], row[off], value[off], rows)
        if done != entries:
            raise EOFError(f"{done} of {entries} entries")
