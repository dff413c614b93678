"""Cells of a table as numbers, whatever experiment trackers put into them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd


UNITS = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9, "t": 1e12}
WRITTEN = re.compile(
    r"^(\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d{1,3}(?:_\d{3})+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)\s*([kKmMbBgGtT]?)"
    r"(?:\s*(?:params|parameters|tokens))?$"
)


def floats(frame: pd.DataFrame, name: str) -> FloatArray:
    """The column as floats; nan where a cell is no number (text, a list, an object)."""
    import pandas as pd

    column = one_column(frame, name)
    try:
        numbers = pd.to_numeric(column, errors="coerce")
    except TypeError:  # a cell that holds other cells
        numbers = pd.to_numeric(column.where(column.map(np.isscalar)), errors="coerce")
    if np.iscomplexobj(numbers):
        raise InputError("columns", name, "holds complex numbers", "give real ones")
    found = np.array(numbers.to_numpy(dtype=np.float64, na_value=np.nan))
    if column.dtype == object or str(column.dtype) in {"str", "string"}:
        for i in np.flatnonzero(np.isnan(found)):
            cell = column.iloc[i]
            if isinstance(cell, str):
                found[i] = written_number(cell)
    return found


def written_number(text: str) -> float:
    """A number as people write sizes; nan where it is none.

    >>> [written_number(t) for t in ("10M", "1.5 B", "1,000,000", "7_000", "300k", "2T", "many")]
    [10000000.0, 1500000000.0, 1000000.0, 7000.0, 300000.0, 2000000000000.0, nan]
    """
    match = WRITTEN.match(text.strip())
    if match is None:
        return float("nan")
    digits, unit = match.groups()
    return float(digits.replace(",", "").replace("_", "")) * UNITS[unit.lower()]


def one_column(frame: pd.DataFrame, name: str) -> pd.Series[Any]:
    """The column of that name, which must stand once in the header."""
    column = frame[name]
    if column.ndim != 1:
        raise InputError("columns", name, "appears more than once", "rename one of them")
    return column


def duplicated(frame: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Rows equal in every column to one before; lists and objects are compared by what they show."""
    try:
        return frame.duplicated().to_numpy()
    except TypeError:
        return frame.map(_comparable).duplicated().to_numpy()


def labels(column: pd.Series[Any]) -> npt.NDArray[np.int64]:
    """0, 1, 2, ... for the distinct values, in the order they come."""
    import pandas as pd

    try:
        return pd.factorize(column)[0].astype(np.int64)
    except TypeError:
        return pd.factorize(column.map(_comparable))[0].astype(np.int64)


def _comparable(cell: Any) -> Any:
    return cell if np.isscalar(cell) or cell is None else repr(cell)
