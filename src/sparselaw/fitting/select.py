"""Some rows of a table: ``where`` names conditions on its columns, ``by`` splits it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.errors import InputError
from sparselaw.fitting.cell_values import floats, one_column
from sparselaw.fitting.columns import there

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

FORM = re.compile(r"^\s*(.+?)\s*(!=|<=|>=|=|<|>)\s*(.*?)\s*$")
REMEDY = "write lr=0.001, epochs<=4 or name!=test"
MOST_PARTS = 1000


def select(frame: pd.DataFrame, conditions: Sequence[str]) -> pd.DataFrame:
    """The rows for which every condition holds: column, one of = != < <= > >=, value.

    >>> import pandas as pd
    >>> select(pd.DataFrame({"lr": [0.1, 0.2], "name": ["a", "b"]}), ["lr=1e-1"])["name"].tolist()
    ['a']
    """
    for condition in conditions:
        match = FORM.match(condition)
        if match is None:
            raise InputError("where", condition, "is not a condition", REMEDY)
        column, sign, value = match.groups()
        if column not in frame.columns:
            raise InputError("where", condition, f"there is no column {column}", there(frame.columns))
        kept = _holds(frame, column, sign, value.strip("'\""))
        if not kept.any():
            raise InputError("where", condition, "holds for no row", _seen(frame, column))
        frame = frame[kept]
    return frame


def split(frame: pd.DataFrame, column: str) -> Iterator[tuple[Any, pd.DataFrame]]:
    """(value, its rows) in the order of the values; rows without one are left out."""
    if column not in frame.columns:
        raise InputError("by", column, "is not in the table", there(frame.columns))
    values = one_column(frame, column)
    if values.nunique() > MOST_PARTS:
        raise InputError("by", column, f"has over {MOST_PARTS} values", "choose a column with few")
    yield from frame.groupby(column, sort=True)


def _holds(frame: pd.DataFrame, column: str, sign: str, value: str) -> npt.NDArray[np.bool_]:
    try:
        number = float(value)
    except ValueError:
        number = None
    if number is None:
        if sign not in {"=", "!="}:
            raise InputError("where", f"{column}{sign}{value}", "compares with a word", "use = or !=")
        same = one_column(frame, column).astype(str).str.strip().to_numpy() == value
        return np.asarray(same if sign == "=" else ~same, dtype=bool)
    numbers = floats(frame, column)
    close = np.isclose(numbers, number, rtol=1e-9, atol=0.0)
    answers = {
        "=": close, "!=": ~close, "<": (numbers < number) & ~close, "<=": (numbers <= number) | close,
        ">": (numbers > number) & ~close, ">=": (numbers >= number) | close,
    }  # fmt: skip
    return np.asarray(answers[sign], dtype=bool)


def _seen(frame: pd.DataFrame, column: str) -> str:
    values = [str(v) for v in one_column(frame, column).dropna().unique()[:6]]
    return f"{column} has values such as {', '.join(values)}" if values else f"{column} is empty"
