"""A table of runs: a data frame, which column is N, which D, which the loss, and its cells as numbers.

Trackers put anything into the cells: text, lists, objects, nothing. ``select`` keeps the rows for which
conditions hold, ``split`` has one table for each value of a column. The index of a table tells where each row
stood in what was read, from zero; a name that stands twice in a header is there twice.
"""

from __future__ import annotations

import functools
import math
import numbers
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError
from sparselaw.numbers import written_number

Mask = npt.NDArray[np.bool_]
NUMBERS = "iufb"  # numpy's letters for integers, floats and truth values


def table_of(source: Any) -> pd.DataFrame:
    """From a mapping of columns, a list of mappings, or a data frame of anybody's.

    Of pandas, polars, pyarrow, or with ``__dataframe__``.
    """
    if isinstance(source, list) and source and all(isinstance(row, Mapping) for row in source):
        source = pd.DataFrame(source)
    if not isinstance(source, pd.DataFrame):
        try:
            source = pd.DataFrame({str(name): _listed(cells) for name, cells in _columns_of(source).items()})
        except (TypeError, ValueError) as error:
            condition = f"is not a table ({' '.join(str(error).split())[:120]})"
            raise InputError("runs", type(source).__name__, condition, "give a DataFrame or a file") from None
    table: pd.DataFrame = source.set_axis([str(name) for name in source.columns], axis=1).infer_objects()
    return table if table.index.dtype.kind in "iu" else table.reset_index(drop=True)


def _columns_of(source: Any) -> Mapping[str, Any]:
    """Name -> cells, of a mapping or of somebody's data frame."""
    if hasattr(source, "to_pydict"):  # pyarrow
        return dict(source.to_pydict())
    if hasattr(source, "to_dict"):
        try:
            return dict(source.to_dict(as_series=False))  # polars
        except TypeError:
            return dict(source.to_dict())
    if hasattr(source, "__dataframe__"):
        with warnings.catch_warnings():  # pandas gives the protocol up, other tables still speak it
            warnings.simplefilter("ignore", DeprecationWarning)
            return dict(pd.api.interchange.from_dataframe(source))
    return dict(source)


def _listed(cells: Any) -> Any:
    """Without an index: pandas would bring the rows of two into the same order."""
    if np.isscalar(cells) or (isinstance(cells, np.ndarray) and cells.ndim == 1):
        return cells
    if not isinstance(cells, Iterable) or isinstance(cells, Mapping):
        raise TypeError(f"a column is a {type(cells).__name__}")
    return list(cells)


def column(table: pd.DataFrame, name: str) -> pd.Series[Any]:
    """The column of that name, which must stand once in the header."""
    found = table[name]
    if isinstance(found, pd.DataFrame):
        raise InputError("columns", name, "appears more than once", "rename one of them")
    return found


def is_numbers(cells: pd.Series[Any]) -> bool:
    """Is every cell a number, or empty?"""
    return bool(cells.to_numpy().dtype.kind in NUMBERS)


def floats(cells: pd.Series[Any]) -> FloatArray:
    """As floats; nan where a cell is no number (text, a list, an object)."""
    if is_numbers(cells):
        return cells.to_numpy().astype(np.float64)
    return np.array([_number(cell) for cell in cells.to_numpy()], dtype=np.float64)


def _number(cell: Any) -> float:
    try:
        is_one: bool = np.isscalar(cell) or isinstance(cell, numbers.Number)
        return float(cell) if is_one else math.nan
    except (TypeError, ValueError):
        return written_number(cell) if isinstance(cell, str) else math.nan
    except OverflowError:
        return math.inf


def missing(cells: pd.Series[Any]) -> Mask:
    """Empty cells, and text without anything in it."""
    empty: Mask = cells.isna().to_numpy()
    if is_numbers(cells):
        return empty
    return np.asarray(empty | [isinstance(cell, str) and not cell.strip() for cell in cells], bool)


def labels(cells: pd.Series[Any]) -> IntArray:
    """0, 1, 2, ... for the distinct values, in the order they come; lists and objects by what they show."""
    try:
        return pd.factorize(cells, use_na_sentinel=False)[0]
    except TypeError:
        return pd.factorize(cells.map(repr))[0]


def duplicated(table: pd.DataFrame) -> Mask:
    """Rows equal in every column to one before."""
    parts = pd.DataFrame({i: labels(table.iloc[:, i]) for i in range(table.shape[1])})
    return np.asarray(parts.duplicated())


FORM = re.compile(r"^\s*(.+?)\s*(!=|<=|>=|=|<|>)\s*(.*?)\s*$")
MOST_PARTS = 1000


def select(table: pd.DataFrame, conditions: str | Sequence[str]) -> pd.DataFrame:
    """The rows for which every condition holds: column, one of = != < <= > >=, value.

    >>> select(table_of({"lr": [0.1, 0.2], "name": ["a", "b"]}), "lr=1e-1")["name"].tolist()
    ['a']
    """
    for condition in (conditions,) if isinstance(conditions, str) else conditions:
        match = FORM.match(condition)
        if match is None:
            remedy = "write lr=0.001, epochs<=4 or name!=test"
            raise InputError("where", condition, "is not a condition", remedy)
        name, sign, value = match.groups()
        if name not in table:
            raise InputError("where", condition, f"there is no column {name}", there(table))
        cells = column(table, name)
        kept = _holds(cells, sign, value.strip("'\""))
        if not kept.any():
            values = list(dict.fromkeys(map(str, cells[~missing(cells)])))[:6]
            seen = f"{name} has values such as {', '.join(values)}" if values else f"{name} is empty"
            raise InputError("where", condition, "holds for no row", seen)
        table = table[kept]
    return table


def _holds(cells: pd.Series[Any], sign: str, value: str) -> Mask:
    try:
        number = float(value)
    except ValueError:
        if sign not in {"=", "!="}:
            condition = f"{cells.name}{sign}{value}"
            raise InputError("where", condition, "compares with a word", "use = or !=") from None
        return np.array([(str(cell).strip() == value) == (sign == "=") for cell in cells], bool)
    found = floats(cells)
    close = np.isclose(found, number, rtol=1e-9, atol=0.0)
    answers = {
        "=": close, "!=": ~close, "<": (found < number) & ~close, "<=": (found <= number) | close,
        ">": (found > number) & ~close, ">=": (found >= number) | close,
    }  # fmt: skip
    return np.asarray(answers[sign], dtype=bool)


def split(table: pd.DataFrame, by: str) -> Iterator[tuple[Any, pd.DataFrame]]:
    """(value, its rows) in the order of the values; rows without one are left out."""
    if by not in table:
        raise InputError("by", by, "is not in the table", there(table))
    cells = column(table, by)
    try:
        values = list(dict.fromkeys(cells[~missing(cells)].tolist()))
    except TypeError:
        raise InputError("by", by, "holds lists or objects", "choose a column of words or numbers") from None
    if len(values) > MOST_PARTS:
        raise InputError("by", by, f"has over {MOST_PARTS} values", "choose a column with few")
    try:
        values.sort()
    except TypeError:  # numbers and words: in the order of what they show
        values.sort(key=str)
    for value in values:
        yield value, table[(cells == value).to_numpy(bool)]


# Compared without case, spaces, signs and unit; the role's own name is compared as it stands and goes first.
ALIASES: dict[str, frozenset[str]] = {
    "N": frozenset(
        {
            "params", "parameters", "nparams", "nparameters", "numparams", "numparameters", "modelsize",
            "modelparams", "modelparameters", "paramcount", "parametercount", "paramsactiveprecise", "width",
        }
    ),
    "D": frozenset(
        {
            "tokens", "ntokens", "numtokens", "trainingtokens", "traintokens", "tokensseen", "samples",
            "nsamples", "numsamples", "trainingsamples", "dataset", "datasetsize", "datasize", "examples",
        }
    ),
    "loss": frozenset(
        {
            "finalloss", "testloss", "valloss", "validationloss", "evalloss", "meanloss", "mean",
            "populationloss", "heldoutloss",
        }
    ),
    "C": frozenset(
        {"flops", "flop", "compute", "trainingflop", "trainingflops", "trainflops", "totalflops", "budget"}
    ),
    "stderr": frozenset({"standarderror", "lossstderr", "sem", "losssem", "stderror", "lossstandarderror"}),
}  # fmt: skip
FALLBACKS = frozenset({"width", "dataset", "samples"})  # taken only where no better name is there
TRAINING = frozenset({"trainloss", "trainingloss"})  # a loss only where there is no other; the reader is told
# What the shape of a transformer is called.
SHAPE: dict[str, frozenset[str]] = {
    "width": frozenset({"width", "dmodel", "modeldim", "hiddensize", "hiddendim", "nembd", "dim"}),
    "depth": frozenset({"depth", "nlayers", "nlayer", "numlayers", "layers", "numhiddenlayers"}),
    "vocab": frozenset({"vocab", "vocabsize", "nvocab", "vocabulary", "vocabularysize"}),
    "non_embedding": frozenset(
        {
            "nonembeddingparams", "nonembeddingparameters", "paramsnonembedding", "nnonembedding",
            "nonembparams", "paramsnonemb", "nonembedding", "numnonembeddingparams", "nnoembed",
            "paramsnoembed",
        }
    ),
}  # fmt: skip
SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "b": 1e9, "billion": 1e9, "g": 1e9,
          "t": 1e12, "trillion": 1e12, "1e3": 1e3, "1e6": 1e6, "1e9": 1e9, "1e12": 1e12}  # fmt: skip
_SCALE = r"(thousand|million|billion|trillion|1e3|1e6|1e9|1e12|k|m|b|g|t)s?\b"
_UNIT = rf"(?:x\s*|in\s+)?{_SCALE}(?:\s+(?:of\s+)?\w+)?"
IN_BRACKETS = re.compile(rf"^(.*?)[\s_]*[(\[]\s*{_UNIT}\s*[)\]]\s*$", re.IGNORECASE)
IN_WORDS = re.compile(r"^(.*?)[\s_]+(?:in[\s_]+)?(thousand|million|billion|trillion)s?$", re.IGNORECASE)
Aliases = Mapping[str, Iterable[str]]


def unit_of(column: str) -> tuple[str, float]:
    """The name without the unit it carries, and the unit.

    >>> unit_of("Tokens (B)"), unit_of("params_millions"), unit_of("loss")
    (('Tokens', 1000000000.0), ('params', 1000000.0), ('loss', 1.0))
    """
    for form in (IN_BRACKETS, IN_WORDS):
        found = form.match(column)
        if found is not None and found.group(1).strip():
            return found.group(1).strip(), SCALES[found.group(2).lower()]
    return column, 1.0


def find_columns(
    columns: Iterable[Any], given: Mapping[str, str] | None = None, more: Aliases | None = None
) -> dict[str, str]:
    """Role -> column for every role that is there. ``more`` has roles beyond the common ones, with aliases.

    >>> find_columns(["Model Size", "Training FLOP", "loss"])
    {'N': 'Model Size', 'loss': 'loss', 'C': 'Training FLOP'}
    """
    names, given = [str(c) for c in columns], dict(given or {})
    roles = {role: frozenset(map(_letters, aliases)) for role, aliases in (more or {}).items()} | ALIASES
    roles = {role: roles[role] for role in (*ALIASES, *roles)}
    for role, name in given.items():
        if role not in roles:
            raise InputError("columns", role, "is not a role", f"name {', '.join(roles)} only")
        if name not in names:
            raise InputError("columns", f"{role}={name}", "is not in the table", there(names))
        other = next((other for other in given if other != role and given[other] == name), None)
        if other is not None:
            raise InputError(
                "columns", f"{role}={name},{other}={name}", "is one column for two roles", "name two"
            )
    free = [name for name in names if name not in given.values()]
    found: dict[str, str] = {}
    for role, aliases in roles.items():
        known = aliases | {_letters(role)}
        near = [n for n in free if _letters(n) in known]
        if role == "loss" and not near:
            near = [n for n in free if _letters(n) in TRAINING]
        near = [n for n in near if _letters(n) not in FALLBACKS] or near
        if role in near:  # goes before all others, but not before itself in other letters
            near = [n for n in near if _letters(n) == _letters(role)]
        if role in given:
            found[role] = given[role]
        elif len(near) > 1:
            twice = len(set(near)) < len(near)
            remedy = "rename one of them" if twice else f"say which: columns {role}={near[0]}"
            raise InputError("columns", ", ".join(near), f"could each be {role}", remedy)
        elif near:
            found[role] = near[0]
    return found


def find_shape(columns: Iterable[Any]) -> dict[str, str]:
    """width, depth, vocab, non_embedding -> the one column that is called so, where there is one.

    >>> find_shape(["d_model", "n_layers", "loss"])
    {'width': 'd_model', 'depth': 'n_layers'}
    """
    names = [str(c) for c in columns]
    near = {role: [n for n in names if _letters(n) in known] for role, known in SHAPE.items()}
    return {role: found[0] for role, found in near.items() if len(found) == 1}


def notes_on_columns(
    columns: Iterable[Any], found: Mapping[str, str], given: Mapping[str, str] | None = None
) -> list[str]:
    """Where another column might have been meant: which was taken.

    >>> notes_on_columns(["N", "D", "val_loss", "train_loss"], {"loss": "val_loss"})
    ['loss is the column val_loss, not train_loss']
    """
    notes = []
    for role, taken in found.items():
        if role in (given or {}):
            continue
        if role == "loss" and _letters(taken) in TRAINING:
            only = f"loss is the column {taken}, the only one"
            notes.append(f"{only}: a training loss is not a held-out one where data are repeated")
        known = ALIASES.get(role, frozenset()) | (TRAINING if role == "loss" else frozenset())
        others = [str(n) for n in columns if n not in found.values() and _letters(str(n)) in known]
        if others:
            notes.append(f"{role} is the column {taken}, not {' or '.join(others)}")
    return notes


def missing_column(role: str, columns: Iterable[Any]) -> InputError:
    return InputError("columns", listed(columns), f"no column for {role}", f"name it with columns {role}=...")


def there(names: Iterable[Any]) -> str:
    """A remedy that lists the columns."""
    return f"the columns are {listed(names)}"


def listed(names: Iterable[Any], most: int = 8) -> str:
    """The first few of many names, so that the advice after them is still seen.

    >>> listed("abcdefghijkl")
    'a, b, c, d, e, f, g, h and 4 more'
    """
    shown = [str(name) for name in names]
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return ", ".join(shown[:most]) + more or "none"


@functools.lru_cache(maxsize=100_000)
def _letters(name: str) -> str:
    """Letters and digits alone, lower case, without a unit."""
    return "".join(ch for ch in unit_of(name)[0].lower() if ch.isalnum())
