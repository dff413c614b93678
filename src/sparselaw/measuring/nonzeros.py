"""What every reader hands out, the nonzeros of some rows: checked, and repeated entries added up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError, check_not_negative

LARGEST_VALUE = 1e150  # its square is still a number
LARGEST_COLUMN = 2**31 - 1
MOST_ROWS = 2**53


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
    features: int = 0

    def after(self, rows: int) -> Nonzeros:
        """The same, so many rows further down."""
        return replace(self, row=self.row + rows, rows=self.rows + rows) if rows else self


def no_entries(rows: int, features: int = 0) -> Nonzeros:
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
class Values:
    """What is done with the values.

    Parameters
    ----------
    threshold : float
        Entries of this size or less are dropped.
    binary : bool
        Every entry that stays becomes 1.
    log1p : bool
        Every entry that stays becomes log(1 + value).
    center : bool
        The size of a feature is its variance, not its mean square.
    """

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
            shape = f"{part.rows} x {part.features}"
            raise InputError("matrix", shape, f"cannot be used: {error}", "write it again") from None
        kept = np.abs(value) > self.threshold
        if not kept.all():
            row, column, value = row[kept], column[kept], value[kept]
        if self.binary:
            value = np.ones(value.size)
        elif self.log1p:
            if value.size and value.min() <= -1.0:
                raise InputError(
                    "log1p", float(value.min()), "is a value of -1 or less, which has no log1p",
                    "leave out --log1p",
                )  # fmt: skip
            value = np.log1p(value)
        return Nonzeros(row, column, value, part.rows, part.features)

    def as_dict(self) -> dict[str, Any]:
        return {
            "threshold": self.threshold,
            "binary": self.binary,
            "log1p": self.log1p,
            "center": self.center,
        }


def _checked(part: Nonzeros) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]:
    """The arrays of a part, or why they cannot be used: whatever reader they come from."""
    row, column = whole_numbers("its rows", part.row), whole_numbers("its columns", part.column)
    value = real_numbers(part.value)
    if not row.size == column.size == value.size:
        raise ValueError("its rows, columns and values are not equally many")
    if not (0 <= part.rows <= MOST_ROWS and 0 <= part.features <= MOST_ROWS):
        raise ValueError(f"a matrix of {part.rows} rows and {part.features} columns cannot be")
    if not row.size:
        return row, column, value
    if not (np.abs(value) <= LARGEST_VALUE).all():  # also where it is no number
        at = int(np.flatnonzero(~(np.abs(value) <= LARGEST_VALUE))[0])
        where = f"row {int(row[at]) + 1}, feature {int(column[at]) + 1}"
        shown = "nan" if np.isnan(value[at]) else float(value[at])
        raise InputError("value", shown, f"is not a usable number ({where})", "clean the data first")
    if int(row.min()) < 0 or int(row.max()) >= part.rows:
        wrong = int(row.min()) if int(row.min()) < 0 else int(row.max())
        raise InputError(
            "row", wrong, f"is no index of one of its {part.rows} rows", "number the rows from 0 on"
        )
    low, high = int(column.min()), int(column.max())
    if low < 0:
        at = int(np.argmin(column))
        raise InputError(
            "feature", low, f"is a negative index (row {int(row[at]) + 1})", "count features from 0"
        )
    if high > LARGEST_COLUMN or (part.features and high >= part.features):
        known = f"is no index of one of its {part.features} features"
        condition = "is too large an index" if high > LARGEST_COLUMN else known
        raise InputError("feature", high, condition, "number the features from 0 on")
    return row, column, value


def _each_once(
    row: NDArray[np.int64], column: NDArray[np.int64], value: FloatArray
) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]:
    """Entries of the same place added up. Those in order of rows or of columns need no sorting."""
    if row.size < 2 or _rising(row, column) or _rising(column, row):
        return row, column, value
    width = int(column.max()) + 1
    first = int(row.min())
    if (int(row.max()) - first + 1) * width < 2**62:
        key = (row - first) * width + column
        ordered = np.sort(key)
        if not (ordered[1:] == ordered[:-1]).any():
            return row, column, value
    order = np.lexsort((column, row))
    row, column, value = row[order], column[order], value[order]
    new = np.append(True, (np.diff(row) != 0) | (np.diff(column) != 0))
    at = np.flatnonzero(new)
    return row[at], column[at], np.add.reduceat(value, at)


def _rising(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    """Whether the pairs are in strictly rising order."""
    step = np.diff(one)
    return bool(((step > 0) | ((step == 0) & (np.diff(other) > 0))).all())
