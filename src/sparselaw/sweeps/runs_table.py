"""Runs as a table: rows of plain values, CSV or Parquet. The same runs give the same bytes."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sparselaw.errors import InputError
from sparselaw.solvers.options import ridge_of_theory
from sparselaw.trials.task import Record

Row = dict[str, Any]

_FIRST = ("N", "D", "loss", "seed", "inputs", "features", "solver", "alpha1", "alpha2", "alpha", "dimension")
_PARQUET = (".parquet", ".pq")
_ENDINGS = (".csv", *_PARQUET)
_ALWAYS = ("N", "D", "loss", "status")
_RECORD = tuple(field.name for field in dataclasses.fields(Record) if field.name not in ("loss", "averaged"))


def row_of(identity: dict[str, Any], record: Record) -> Row:
    """One run as a flat row. None, NaN and "" mean that there is no value."""
    row: Row = dict.fromkeys((*_FIRST, *_RECORD, "ridge"))
    row |= {name: value for name, value in identity.items() if name not in ("engine", "problem", "solver")}
    row |= {name: float(value) for name, value in identity["problem"].items()}  # "inf" is a number here
    row |= {name: value for name, value in identity["solver"].items() if name != "name"}
    row |= {name: getattr(record, name) for name in _RECORD}
    row |= {"solver": identity["solver"]["name"], "loss": record.loss, "averaged": "+".join(record.averaged)}
    row["ridge"] = ridge_of_theory(identity["solver"])
    return row


def columns_of(rows: Sequence[Row], always: Sequence[str] = _ALWAYS) -> list[str]:
    """The columns that hold a value somewhere: the common ones, settings, what was measured."""
    names = dict.fromkeys(_FIRST)
    middle = sorted({name for row in rows for name in row} - names.keys() - set(_RECORD) - {"averaged"})
    names |= dict.fromkeys((*middle, *_RECORD, "averaged"))
    held = {name for row in rows for name, value in row.items() if not _is_missing(value)}
    return [name for name in names if name in held or name in always]


def check_out(out: str) -> Path:
    """Before the work and not after it: a file that can be written, with an ending that is known."""
    path = Path(os.path.realpath(out))
    if path.suffix.lower() not in _ENDINGS:
        raise InputError("out", out, "has an unknown ending", "name a .csv or a .parquet file")
    if path.is_dir() or not path.parent.is_dir():
        why = "is a folder" if path.is_dir() else "no such folder"
        raise InputError("out", out, f"cannot be written ({why})", "name a file in a folder that exists")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError("out", out, "cannot be written", "name a file that you can write")
    return path


def write_table(path: Path, rows: Sequence[Row], always: Sequence[str] = _ALWAYS) -> None:
    """Write CSV, or Parquet where the name ends so. The file is complete or, if that fails, as it was."""
    columns = columns_of(rows, always)
    parquet = path.suffix.lower() in _PARQUET
    content = _parquet(path, columns, rows) if parquet else csv_text(columns, rows).encode()
    path = Path(os.path.realpath(path))
    try:
        if path.exists() and not path.is_file():  # a device or a pipe is written to, never replaced
            path.write_bytes(content)
            return
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with open(handle, "wb") as file:
                file.write(content)
            os.chmod(name, path.stat().st_mode if path.exists() else 0o644)
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(
            "out", path, f"cannot be written ({error.strerror})", "name a file that you can write"
        ) from None


def csv_text(columns: Sequence[str], rows: Iterable[Row]) -> str:
    """Numbers by their shortest exact decimals; nothing where there is no value."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(row.get(name)) for name in columns])
    return text.getvalue()


def _cell(value: Any) -> Any:
    if _is_missing(value):
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return value


def _is_missing(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _parquet(path: Path, columns: Sequence[str], rows: Sequence[Row]) -> bytes:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError(
            "out", path, "Parquet needs pyarrow", "pip install 'sparselaw[parquet]', or write a .csv"
        ) from None
    data = {name: _parquet_column([row.get(name) for row in rows]) for name in columns}
    data["loss"] = pyarrow.array(data["loss"], type=pyarrow.float64())  # even if no run has one
    sink = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(data), sink)
    return sink.getvalue()


def _parquet_column(values: Sequence[Any]) -> list[Any]:
    wide = any(isinstance(value, int) and abs(value) >= 2**63 for value in values)
    held = [None if _is_missing(value) else value for value in values]
    return [value if value is None else float(value) for value in held] if wide else held
