"""Lines of numbers: svmlight (``label index:value index:value # comment``) and Matrix Market."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sparselaw.files import MAX_SIZE, open_unpacked
from sparselaw.measuring.nonzeros import LARGEST_COLUMN, PART, Nonzeros, no_entries, rising
from sparselaw.measuring.readers.base import FeatureFile


def data_lines(file: FeatureFile) -> Iterator[bytes]:
    """The lines of a svmlight file that are no comment."""
    with open_unpacked(file.path, lines=True) as lines:
        yield from (line for line in lines if line.split(b"#", 1)[0].strip())


def read_svmlight(file: FeatureFile) -> Iterator[Nonzeros]:
    """Indices are columns as they stand: files that count from 1 have a feature 0 that is never active."""
    rows = 0
    with open_unpacked(file.path, lines=True) as opened:
        while lines := opened.readlines(LINES_AT_ONCE):
            pairs: list[bytes] = []
            lengths: list[int] = []
            for line in lines:
                fields = line.split(b"#", 1)[0].split()
                if not fields:
                    continue
                if b":" in fields[0]:
                    raise ValueError(f"line {rows + len(lengths) + 1} of data has no label")
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


LINES_AT_ONCE = 1 << 22  # bytes of lines read at once, about
BYTES_AN_ENTRY = 64  # while all entries are held to be sorted
Entries = tuple[np.ndarray, np.ndarray, np.ndarray]


def read_matrix_market(file: FeatureFile) -> Iterator[Nonzeros]:
    """Small files are held whole, so that entries given twice are added up; large ones must be in order."""
    from scipy.io import mminfo

    with open_unpacked(file.path, lines=True) as opened:
        rows, columns, count, form, field, symmetry = mminfo(opened)
    if form != "coordinate":
        raise file.refuse("is a dense array, not a list of entries", "write it in coordinate format")
    if field not in ("real", "integer", "pattern") or symmetry not in ("general", "symmetric"):
        raise file.refuse(f"holds a matrix of kind {field} {symmetry}", "give a real, general one")
    yield no_entries(rows, columns)
    found = _entries(file, count, field == "pattern", symmetry == "symmetric")
    if count <= max(PART, MAX_SIZE.get() // BYTES_AN_ENTRY):
        row, column, value = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        found = iter([(row, column, value)])
    else:
        found = _in_order(file, found)
    for row, column, value in found:
        yield Nonzeros(row, column, value, rows, columns)


def _entries(file: FeatureFile, count: int, pattern: bool, symmetric: bool) -> Iterator[Entries]:
    import pandas as pd

    done = -1  # the first line of numbers is that of sizes
    with open_unpacked(file.path, lines=True) as opened:
        tables = pd.read_csv(
            opened, sep=r"\s+", header=None, names=["row", "column", "value", "more"], index_col=False,
            comment="%", chunksize=PART,
            dtype={"row": np.int64, "column": np.int64, "value": np.float64, "more": object},
        )  # fmt: skip
        for table in tables:
            entries = table.iloc[1:] if done < 0 else table
            done += len(table)
            if done > count:  # before more of them is held
                raise ValueError(f"more than {count} entries")
            if entries["value" if pattern else "more"].notna().any():
                raise ValueError("an entry has more numbers than it should")
            row, column = entries["row"].to_numpy() - 1, entries["column"].to_numpy() - 1
            value = np.ones(row.size) if pattern else entries["value"].to_numpy()
            for name, index in (("row", row), ("feature", column)):
                if (lowest := int(index.min(initial=0))) < 0:
                    condition = f"has a {name} index of {lowest + 1}; they count from 1"
                    raise file.refuse(condition, "number rows and features from 1")
            yield row, column, value
            if symmetric:
                off = row != column
                yield column[off], row[off], value[off]
    if done != count:
        raise EOFError(f"{done} of {count} entries")


def _in_order(file: FeatureFile, parts: Iterator[Entries]) -> Iterator[Entries]:
    """Parts that rise by rows, or by columns: so no entry comes twice without all being held."""
    by_rows = by_columns = True
    last = -1, -1
    for row, column, value in parts:
        rows, columns = np.append(last[0], row), np.append(last[1], column)
        by_rows &= rising(rows, columns)
        by_columns &= rising(columns, rows)
        if not (by_rows or by_columns):
            raise file.refuse(
                "is too large to be read in any order",
                "sort its entries by row, or raise the limit with --max-size",
            )
        last = int(row[-1]), int(column[-1])
        yield row, column, value
