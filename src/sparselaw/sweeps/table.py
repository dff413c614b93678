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
from sparselaw.task import Record

Row = dict[str, Any]

_FIRST = ("N", "D", "loss", "seed", "inputs", "features", "solver", "alpha1", "alpha2", "alpha", "dimension")
_ALWAYS = ("N", "D", "loss", "status")
_RECORD = tuple(field.name for field in dataclasses.fields(Record) if field.name not in ("loss", "averaged"))


def row_of(identity: dict[str, Any], record: Record) -> Row:
    """One run as a flat row. None and NaN mean that there is no value."""
    solver = dict(identity["solver"])
    problem = {name: float(v) if v == "inf" else v for name, v in identity["problem"].items()}
    row: Row = {
        name: identity[name] for name in ("N", "D", "seed", "inputs", "features", "noise", "estimator")
    }
    row |= problem | {"solver": solver.pop("name"), "loss": record.loss} | solver
    row |= {name: getattr(record, name) for name in _RECORD}
    row["averaged"] = "+".join(record.averaged)
    row["n_test"] = identity.get("n_test")
    return row


def columns_of(rows: Sequence[Row]) -> list[str]:
    """The columns that hold a value somewhere: the common ones, settings, what was measured."""
    names = dict.fromkeys(_FIRST)
    middle = sorted({name for row in rows for name in row} - names.keys() - set(_RECORD) - {"averaged"})
    names |= dict.fromkeys((*middle, *_RECORD, "averaged"))
    held = {name for row in rows for name, value in row.items() if not _is_missing(value)}
    return [name for name in names if name in held or name in _ALWAYS]


def write_table(path: Path, rows: Sequence[Row]) -> None:
    """Write CSV, or Parquet where the name ends so. The file is complete or, if that fails, as it was."""
    columns = columns_of(rows)
    parquet = path.suffix.lower() in (".parquet", ".pq")
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
