"""Runs as a table: rows of plain values, CSV or Parquet. The same runs give the same bytes."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sparselaw.errors import InputError
from sparselaw.files import write_atomically
from sparselaw.solvers.base import solver_of
from sparselaw.sweeps.store import check_no_store, check_out_file, writing
from sparselaw.trials.task import Record

Row = dict[str, Any]

_FIRST = ("N", "D", "loss", "seed", "inputs", "features", "solver", "alpha1", "alpha2", "alpha", "dimension")
_PARQUET = (".parquet", ".pq")
_ENDINGS = (".csv", *_PARQUET)
_ALWAYS = ("N", "D", "loss", "status")
_RECORD = tuple(field.name for field in dataclasses.fields(Record) if field.name not in ("loss", "averaged"))
MEASURED = frozenset(("loss", *_RECORD, "averaged"))


def _number(value: Any) -> Any:
    """A setting as a number ("inf" too), or as it is where it is text, such as the digest of a table."""
    try:
        return float(value)
    except ValueError:
        return value


def row_of(identity: dict[str, Any], record: Record) -> Row:
    """One run as a flat row. None, NaN and "" mean that there is no value."""
    row: Row = dict.fromkeys((*_FIRST, *_RECORD, "ridge"))
    row |= {name: value for name, value in identity.items() if name not in ("engine", "problem", "solver")}
    row |= {name: _number(value) for name, value in identity["problem"].items()}
    row |= {name: value for name, value in identity["solver"].items() if name != "name"}
    row |= {name: getattr(record, name) for name in _RECORD}
    row |= {"solver": identity["solver"]["name"], "loss": record.loss, "averaged": "+".join(record.averaged)}
    solver = solver_of(identity["solver"]["name"], identity["solver"])
    return row | {"ridge": None if solver is None else solver.ridge_of_theory}


def columns_of(rows: Sequence[Row], always: Sequence[str] = _ALWAYS) -> list[str]:
    """The columns that hold a value somewhere: the common ones, settings, what was measured."""
    names = dict.fromkeys(_FIRST)
    middle = sorted({name for row in rows for name in row} - names.keys() - set(_RECORD) - {"averaged"})
    names |= dict.fromkeys((*middle, *_RECORD, "averaged"))
    held = {name for row in rows for name, value in row.items() if not is_missing(value)}
    return [name for name in names if name in held or name in always]


def check_out(out: str, store: str | os.PathLike[str] | None = None) -> Path:
    """Check, before the work begins, that the file can be written and has a known ending.

    A store is never written over: neither ``store``, which may not be there yet, nor any other.
    """
    if Path(os.path.realpath(out)).suffix.lower() not in _ENDINGS:
        raise InputError("out", out, "has an unknown ending", "name a .csv or a .parquet file")
    return check_out_file("out", out, store)


def write_table(path: Path, rows: Sequence[Row], always: Sequence[str] = _ALWAYS) -> None:
    """Write CSV, or Parquet where the name ends so. The file is complete or, if that fails, as it was."""
    columns = columns_of(rows, always)
    parquet = path.suffix.lower() in _PARQUET
    content = _parquet(path, columns, rows) if parquet else csv_text(columns, rows).encode()
    check_no_store("out", Path(os.path.realpath(path)), path)  # one may have been made there in the meantime
    with writing("out", path), write_atomically(path) as file:
        file.write(content)


def csv_text(columns: Sequence[str], rows: Iterable[Row]) -> str:
    """Numbers by their shortest exact decimals; nothing where there is no value."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        cells = ["" if is_missing(row.get(name)) else row[name] for name in columns]
        whole = [isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15 for cell in cells]
        writer.writerow([int(cell) if i else cell for cell, i in zip(cells, whole, strict=True)])
    return text.getvalue()


def is_missing(value: Any) -> bool:
    """Whether a cell of a table has no value."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _parquet(path: Path, columns: Sequence[str], rows: Sequence[Row]) -> bytes:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        remedy = "pip install 'sparselaw[parquet]', or write a .csv"
        raise InputError("out", path, "Parquet needs pyarrow", remedy) from None
    data: dict[str, Any] = {}
    for name in columns:
        held = [None if is_missing(row.get(name)) else row[name] for row in rows]
        wide = any(isinstance(value, int) and abs(value) >= 2**63 for value in held)
        data[name] = [value if value is None else float(value) for value in held] if wide else held
    data["loss"] = pyarrow.array(data["loss"], type=pyarrow.float64())  # even if no run has one
    sink = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(data), sink)
    return sink.getvalue()
