"""Cells of a table as numbers, whatever experiment trackers put into them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd


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
    return np.asarray(numbers.to_numpy(dtype=np.float64, na_value=np.nan))


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
