"""What every reader hands out: the nonzeros of some rows, and what to do with their values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError, check_not_negative

LARGEST_VALUE = 1e150  # its square is still a number
LARGEST_COLUMN = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Nonzeros:
    """Entries (row, column, value) in any order.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """What is done with the values: entries of size at most ``threshold`` are dropped, then ``log1p`` or
    ``binary`` (every entry is 1) is applied. ``center``: energies are variances, not second moments.
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
        """The entries that stay, with their new values."""
        value = _checked(part)
        kept = np.abs(value) > self.threshold
        row, column = part.row, part.column
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


def _checked(part: Nonzeros) -> FloatArray:
    value = np.asarray(part.value, dtype=np.float64)
    if not (np.abs(value) <= LARGEST_VALUE).all():  # also where it is no number
        at = int(np.flatnonzero(~(np.abs(value) <= LARGEST_VALUE))[0])
        where = f"row {int(part.row[at]) + 1}, feature {int(part.column[at]) + 1}"
        shown = "nan" if np.isnan(value[at]) else float(value[at])
        raise InputError("value", shown, f"is not a usable number ({where})", "clean the data first")
    if part.column.size:
        low, high = int(part.column.min()), int(part.column.max())
        if low < 0:
            at = int(np.argmin(part.column))
            raise InputError(
                "feature", low, f"is a negative index (row {int(part.row[at]) + 1})", "count features from 0"
            )
        if high > LARGEST_COLUMN:
            raise InputError("feature", high, "is too large an index", "number the features from 0 on")
    return value
