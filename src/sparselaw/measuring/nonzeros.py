"""What every reader hands out, the nonzeros of some rows, and how they come of matrices: checked, added up.

Index arrays of a file are looked at before anything is built of them: scipy's own loops trust them, and read
or write beyond their memory where they are wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError, check_not_negative
from sparselaw.inputs.empirical import LARGEST_VALUE, MOST_ROWS
from sparselaw.records import Record

LARGEST_COLUMN = 2**31 - 1
PART = 1 << 21  # nonzeros handed out at once, about


@dataclass(frozen=True, slots=True)
class Nonzeros:
    """Entries (row, column, value) in any order; an entry given twice is the sum of both.

    Rows count from the first row of their file. ``rows`` is how many rows the file is known to have so far,
    ``features`` how many columns, where that is known.
    """

    row: IntArray
    column: IntArray
    value: FloatArray
    rows: int
    features: int | None = None

    def after(self, rows: int) -> Nonzeros:
        """The same, so many rows further down."""
        return replace(self, row=self.row + rows, rows=self.rows + rows) if rows else self


def no_entries(rows: int, features: int | None = None) -> Nonzeros:
    """Rows without a nonzero."""
    return Nonzeros(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), rows, features)


def whole_numbers(what: str, given: Any) -> NDArray[np.int64]:
    """An array of indices from a file, or why it is none.

    >>> whole_numbers("its columns", np.array([1, 2], np.uint8)).tolist()
    [1, 2]
    """
    array = np.asarray(given)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise ValueError(f"{what} are no list of whole numbers")
    if array.dtype == np.uint64 and array.size and int(array.max()) >= 2**63:
        raise ValueError(f"{what} are too large")
    return array.astype(np.int64, copy=False)


def real_numbers(given: Any) -> FloatArray:
    """An array of values as doubles; anything but real numbers is refused."""
    array = np.asarray(given)
    if array.dtype.kind == "c":
        raise InputError("matrix", array.dtype, "holds complex numbers", "give real ones")
    if array.dtype.kind not in "fiub":
        raise InputError("matrix", str(array.dtype)[:60], "does not hold numbers", "give numbers")
    with np.errstate(over="ignore"):  # of wider numbers: infinite ones are refused
        return np.asarray(array, dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Values(Record):
    """What is done with the values: the arguments of ``measure`` of the same names."""

    threshold: float = 0.0
    binary: bool = False
    log1p: bool = False
    center: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", check_not_negative("threshold", self.threshold))
        if self.binary and self.log1p:
            raise InputError(
                "log1p", True, "does nothing to binary values", "leave out one of --log1p and --binary"
            )

    def apply(self, part: Nonzeros) -> Nonzeros:
        """The entries that stay, checked, each once, with their new values."""
        try:
            row, column, value = _each_once(*_checked(part))
        except InputError:
            raise
        except ValueError as error:
            shape = f"{part.rows} x {part.features or 0}"
            raise InputError("matrix", shape, f"cannot be used: {error}", "write it again") from None
        kept = np.abs(value) > self.threshold
        if not kept.all():
            row, column, value = row[kept], column[kept], value[kept]
        if self.binary:
            value = np.ones(value.size)
        elif self.log1p:
            if value.size and value.min() <= -1.0:
                condition = "is a value of -1 or less, which has no log1p"
                raise InputError("log1p", float(value.min()), condition, "leave out --log1p")
            value = np.log1p(value)
        return Nonzeros(row, column, value, part.rows, part.features)


def _checked(part: Nonzeros) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]:
    """The arrays of a part, or why they cannot be used: whatever reader they come from."""
    row, column = whole_numbers("its rows", part.row), whole_numbers("its columns", part.column)
    value = real_numbers(part.value)
    if not row.size == column.size == value.size:
        raise ValueError("its rows, columns and values are not equally many")
    if not (0 <= part.rows <= MOST_ROWS and 0 <= (part.features or 0) <= MOST_ROWS):
        raise ValueError(f"a matrix of {part.rows} rows and {part.features} columns cannot be")
    if not row.size:
        return row, column, value
    if not (np.abs(value) <= LARGEST_VALUE).all():  # also where it is no number
        at = int(np.flatnonzero(~(np.abs(value) <= LARGEST_VALUE))[0])
        where = f"row {int(row[at]) + 1}, feature {int(column[at]) + 1}"
        shown = "nan" if np.isnan(value[at]) else float(value[at])
        raise InputError("value", shown, f"is not a usable number ({where})", "clean the data first")
    features = LARGEST_COLUMN + 1 if part.features is None else min(part.features, LARGEST_COLUMN + 1)
    for name, index, count in (("row", row, part.rows), ("feature", column, features)):
        for at in (int(np.argmin(index)), int(np.argmax(index))):
            if not 0 <= index[at] < count:
                kind = "a negative index" if index[at] < 0 else f"no index of one of {count}"
                condition = f"is {kind} (row {int(row[at]) + 1})"
                raise InputError(name, int(index[at]), condition, f"number each {name} from 0 on")
    return row, column, value


def _each_once(
    row: NDArray[np.int64], column: NDArray[np.int64], value: FloatArray
) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]:
    """Entries of the same place added up. Those in order of rows or of columns need no sorting."""
    if row.size < 2 or rising(row, column) or rising(column, row):
        return row, column, value
    width = int(column.max()) + 1
    first = int(row.min())
    if (int(row.max()) - first + 1) * width < 2**62:
        ordered = np.sort((row - first) * width + column)
        if not (ordered[1:] == ordered[:-1]).any():
            return row, column, value
    order = np.lexsort((column, row))
    row, column, value = row[order], column[order], value[order]
    at = np.flatnonzero(np.append(True, (np.diff(row) != 0) | (np.diff(column) != 0)))
    return row[at], column[at], np.add.reduceat(value, at)


def rising(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    """Whether the pairs are in strictly rising order."""
    step = np.diff(one)
    return bool(((step > 0) | ((step == 0) & (np.diff(other) > 0))).all())


def parts_in_memory(source: Any) -> Iterator[Nonzeros]:
    """The rows of a matrix, or of blocks that come one after the other."""
    if hasattr(source, "shape") or (
        isinstance(source, (list, tuple)) and source and isinstance(source[0], (list, tuple))
    ):
        yield from parts_of_matrix(source)
        return
    if not hasattr(source, "__iter__"):
        remedy = "give a file, a matrix or blocks"
        raise InputError("matrix", type(source).__name__, "is neither a path nor a matrix", remedy)
    done, width = 0, None
    for block in source:
        if len(getattr(block, "shape", ())) != 2:
            raise InputError(
                "matrix", type(block).__name__, "is not a block of rows", "give scipy matrices or arrays"
            )
        if block.shape[1] != (width := block.shape[1] if width is None else width):
            condition = f"is another number of features than {width}, of the block before"
            raise InputError("matrix", block.shape[1], condition, "give blocks of the same features")
        for part in parts_of_matrix(block):
            yield part.after(done)
        done += block.shape[0]


def parts_of_matrix(matrix: Any) -> Iterator[Nonzeros]:
    """The rows of one matrix, in memory or wherever slices of rows of it come from."""
    sparse: Any = import_module("scipy.sparse")
    array: Any = matrix if hasattr(matrix, "shape") else np.asarray(matrix)
    if len(array.shape) != 2:
        raise InputError(
            "matrix", f"an array of {len(array.shape)} dimensions", "is not a table of rows and features",
            "give a matrix with a row a sample",
        )  # fmt: skip
    rows, columns = array.shape
    if sparse.issparse(array):
        if array.format in ("csr", "csc"):
            arrays = (array.indptr, array.indices, array.data)
            yield from compressed_parts(*arrays, (rows, columns), by_rows=array.format == "csr")
        else:
            entries = array.tocoo()
            yield Nonzeros(entries.row, entries.col, entries.data, rows, columns)
        return
    real_numbers(array[:0])  # its kind
    yield no_entries(rows, columns)
    step = max(1, PART // max(1, columns))
    for start in range(0, rows if columns else 0, step):
        part = np.asarray(array[start : start + step])
        row, column = np.nonzero(part)
        yield Nonzeros(row + start, column, part[row, column].astype(np.float64), rows, columns)


def compressed_parts(
    starts: Any, indices: Any, data: Any, shape: Any, *, by_rows: bool
) -> Iterator[Nonzeros]:
    """The entries of compressed rows, or columns, in parts of whole ones.

    ``indices`` and ``data`` may be anything that is cut by slices from its start to its end: arrays, datasets
    on disk, members of an archive. Of compressed rows the number of columns may be None, not known.
    """
    rows, columns = shape
    lines = rows if by_rows else columns
    edges = whole_numbers("its starts of rows or columns", starts)
    if edges.size != lines + 1:
        raise ValueError(f"{edges.size} starts of {lines} rows or columns")
    if edges[0] != 0 or (np.diff(edges) < 0).any():
        raise ValueError("its starts of rows or columns fall, or do not begin at 0")
    if len(indices) != len(data) or int(edges[-1]) > len(indices):
        raise EOFError("its starts of rows or columns reach beyond its entries")
    yield no_entries(rows, columns)
    done = 0
    while done < lines:
        end = int(np.searchsorted(edges, edges[done] + PART, side="right")) - 1
        end = min(max(end, done + 1), lines)
        inside = slice(int(edges[done]), int(edges[end]))
        line = np.repeat(np.arange(done, end), np.diff(edges[done : end + 1]))
        other = whole_numbers("its indices", indices[inside])
        row, column = (line, other) if by_rows else (other, line)
        yield Nonzeros(row, column, real_numbers(data[inside]), rows, columns)
        done = end
