"""Some rows of a table: ``where`` names conditions on its columns, ``by`` splits it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sparselaw.errors import InputError
from sparselaw.fitting.columns import there
from sparselaw.fitting.tables import Mask, Table, floats, missing

FORM = re.compile(r"^\s*(.+?)\s*(!=|<=|>=|=|<|>)\s*(.*?)\s*$")
REMEDY = "write lr=0.001, epochs<=4 or name!=test"
MOST_PARTS = 1000


def select(table: Table, conditions: Sequence[str]) -> Table:
    """The rows for which every condition holds: column, one of = != < <= > >=, value.

    >>> from sparselaw.fitting.tables import table_of
    >>> select(table_of({"lr": [0.1, 0.2], "name": ["a", "b"]}), ["lr=1e-1"]).column("name").tolist()
    ['a']
    """
    for condition in conditions:
        match = FORM.match(condition)
        if match is None:
            raise InputError("where", condition, "is not a condition", REMEDY)
        column, sign, value = match.groups()
        if column not in table.names:
            raise InputError("where", condition, f"there is no column {column}", there(table.names))
        kept = _holds(table, column, sign, value.strip("'\""))
        if not kept.any():
            raise InputError("where", condition, "holds for no row", _seen(table, column))
        table = table.take(kept)
    return table


def split(table: Table, column: str) -> Iterator[tuple[Any, Table]]:
    """(value, its rows) in the order of the values; rows without one are left out."""
    if column not in table.names:
        raise InputError("by", column, "is not in the table", there(table.names))
    cells = table.column(column)
    values = _distinct(table, column)
    if len(values) > MOST_PARTS:
        raise InputError("by", column, f"has over {MOST_PARTS} values", "choose a column with few")
    try:
        values = sorted(values)
    except TypeError:  # numbers and words: in the order of what they show
        values = sorted(values, key=str)
    for value in values:
        yield value, table.take(np.array([cell == value for cell in cells], bool))


def _distinct(table: Table, column: str) -> list[Any]:
    """The values of a column in the order they come, without empty cells; lists and objects as text."""
    cells = table.column(column)
    filled = cells[~missing(cells)].tolist()
    try:
        return list(dict.fromkeys(filled))
    except TypeError:
        raise InputError(
            "by", column, "holds lists or objects", "choose a column of words or numbers"
        ) from None


def _holds(table: Table, column: str, sign: str, value: str) -> Mask:
    try:
        number = float(value)
    except ValueError:
        number = None
    if number is None:
        if sign not in {"=", "!="}:
            raise InputError("where", f"{column}{sign}{value}", "compares with a word", "use = or !=")
        same = np.array([str(cell).strip() == value for cell in table.column(column)], bool)
        return np.asarray(same if sign == "=" else ~same, dtype=bool)
    numbers = floats(table.column(column))
    close = np.isclose(numbers, number, rtol=1e-9, atol=0.0)
    answers = {
        "=": close, "!=": ~close, "<": (numbers < number) & ~close, "<=": (numbers <= number) | close,
        ">": (numbers > number) & ~close, ">=": (numbers >= number) | close,
    }  # fmt: skip
    return np.asarray(answers[sign], dtype=bool)


def _seen(table: Table, column: str) -> str:
    cells = table.column(column)
    values = list(dict.fromkeys(str(cell) for cell in cells[~missing(cells)]))[:6]
    return f"{column} has values such as {', '.join(values)}" if values else f"{column} is empty"
