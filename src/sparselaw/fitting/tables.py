"""A table of runs as named columns, whatever experiment trackers put into the cells.

Numbers are arrays of numbers; every other column is an array of objects, with None where a cell is empty.
Nothing here needs pandas, which takes longer to import than a small table takes to be fitted. ``select``
keeps the rows for which conditions hold, ``split`` has one table for each value of a column.
"""

from __future__ import annotations

import numbers
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError
from sparselaw.fitting.columns import there
from sparselaw.numbers import written_number

if TYPE_CHECKING:
    import pandas as pd

Cells = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
NUMBERS = "iufb"  # numpy's letters for integers, floats and truth values


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of equal length. A name that stands twice in a header is there twice."""

    names: tuple[str, ...]
    columns: tuple[Cells, ...]
    rows: IntArray  # where each row stood in the table that was read, from zero

    def __len__(self) -> int:
        return self.rows.size

    def column(self, name: str) -> Cells:
        """The column of that name, which must stand once in the header."""
        if self.names.count(name) > 1:
            raise InputError("columns", name, "appears more than once", "rename one of them")
        return self.columns[self.names.index(name)]

    def take(self, rows: Mask | IntArray) -> Table:
        return Table(self.names, tuple(cells[rows] for cells in self.columns), self.rows[rows])

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        frame = pd.DataFrame(dict(enumerate(self.columns)), index=self.rows)
        frame.columns = pd.Index(self.names)
        return frame


def table_of(source: Any) -> Table:
    """From a mapping of columns, or a data frame of pandas, polars, pyarrow or with ``__dataframe__``."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(source, pandas.DataFrame):
        named = source.index.dtype.kind in "iu"  # a selection keeps its numbers in the index
        return Table(
            tuple(str(name) for name in source.columns),
            tuple(_from_pandas(source.iloc[:, i]) for i in range(source.shape[1])),
            source.index.to_numpy() if named else np.arange(len(source)),
        )
    try:
        given = {str(name): _listed(cells) for name, cells in _columns_of(source).items()}
    except (TypeError, ValueError) as error:
        raise _no_table(source, error) from None
    lengths = {len(cells) for cells in given.values() if not np.isscalar(cells)}
    if len(lengths) > 1:
        raise _no_table(source, "columns of different lengths")
    rows = lengths.pop() if lengths else 0
    columns = [typed([cells] * rows if np.isscalar(cells) else cells) for cells in given.values()]
    return Table(tuple(given), tuple(columns), np.arange(rows))


def _columns_of(source: Any) -> Mapping[str, Any]:
    """Name -> cells, of a mapping or of somebody's data frame."""
    if isinstance(source, Mapping):
        return source
    if hasattr(source, "to_pydict"):  # pyarrow
        return dict(source.to_pydict())
    if hasattr(source, "to_dict"):
        try:
            return dict(source.to_dict(as_series=False))  # polars
        except TypeError:
            return dict(source.to_dict())
    if hasattr(source, "__dataframe__"):
        from pandas.api.interchange import from_dataframe

        return {str(name): cells for name, cells in from_dataframe(source).items()}
    return dict(source)


def typed(cells: Sequence[Any] | Cells) -> Cells:
    """An array of numbers where every cell is one; otherwise of objects."""
    if isinstance(cells, np.ndarray) and cells.ndim == 1 and cells.dtype.kind in NUMBERS:
        return cells
    found = np.empty(len(cells), dtype=object)
    found[:] = [None if _is_missing(cell) else cell for cell in cells]
    if all(isinstance(cell, numbers.Real) for cell in found):
        try:
            plain = np.array(found.tolist())
        except OverflowError:
            return found
        return plain if plain.dtype.kind in NUMBERS else found
    return found


def floats(cells: Cells) -> FloatArray:
    """As floats; nan where a cell is no number (text, a list, an object)."""
    if cells.dtype.kind in NUMBERS:
        return cells.astype(np.float64)
    return np.array([_number(cell) for cell in cells], dtype=np.float64)


def missing(cells: Cells) -> Mask:
    """Empty cells, and text without anything in it."""
    if cells.dtype.kind == "f":
        return np.asarray(np.isnan(cells))
    if cells.dtype.kind in NUMBERS:
        return np.zeros(cells.size, bool)
    return np.array([cell is None or (isinstance(cell, str) and not cell.strip()) for cell in cells], bool)


def labels(cells: Cells) -> npt.NDArray[np.int64]:
    """0, 1, 2, ... for the distinct values, in the order they come; lists and objects by what they show."""
    if cells.dtype.kind in NUMBERS:
        _, first, back = np.unique(cells, return_index=True, return_inverse=True)
        order = np.empty(first.size, np.int64)
        order[np.argsort(first, kind="stable")] = np.arange(first.size)
        return np.asarray(order[back], np.int64)
    seen: dict[Any, int] = {}
    return np.array([seen.setdefault(_key(cell), len(seen)) for cell in cells], np.int64)


def duplicated(table: Table) -> Mask:
    """Rows equal in every column to one before."""
    together = np.zeros(len(table), np.int64)
    for cells in table.columns:
        together = labels(together * (len(table) + 1) + labels(cells))
    _, first = np.unique(together, return_index=True)
    again = np.ones(len(table), bool)
    again[first] = False
    return again


def _from_pandas(column: Any) -> Cells:
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in NUMBERS:
        return np.asarray(column.to_numpy())
    cells = column.astype(object)
    return typed(cells.where(column.notna(), None).to_numpy())


def _listed(cells: Any) -> Any:
    if np.isscalar(cells) or (isinstance(cells, np.ndarray) and cells.ndim == 1):
        return cells
    if not isinstance(cells, Iterable) or isinstance(cells, Mapping):
        raise TypeError(f"a column is a {type(cells).__name__}")
    return list(cells)


def _no_table(source: Any, error: object) -> InputError:
    return InputError(
        "runs", type(source).__name__, f"is not a table ({error})", "give a DataFrame or a file"
    )


def _number(cell: Any) -> float:
    try:
        if isinstance(cell, str):
            return _in_text(cell)
        one = np.isscalar(cell) or isinstance(cell, numbers.Number)
        return float(cell) if one else float("nan")
    except (TypeError, ValueError):
        return float("nan")
    except OverflowError:
        return float("inf")


def _in_text(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return written_number(cell)


def _is_missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, (float, np.floating)) and bool(cell != cell))


def _key(cell: Any) -> Any:
    try:
        hash(cell)
    except TypeError:
        return repr(cell)
    return cell


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
