"""From files, frames and arrays to the rows of single runs: step, rate, loss, and sizes where they are there.

A table with separators that is larger than a few megabytes is read in chunks, and a run that grows long is
averaged in pairs of neighbours as it comes: a log of a million lines takes no more room than one of
thousands.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.curves.run_rows import RunRows
from sparselaw.errors import InputError
from sparselaw.fitting.columns import find_columns, listed
from sparselaw.fitting.read import kind_of_file, read_file
from sparselaw.fitting.tables import Cells, Table, floats, labels, table_of

LARGE = 5_000_000  # bytes
# Compared without case and signs; the first that is there counts.
STEP = ("step", "globalstep", "trainerglobalstep", "trainglobalstep", "iteration", "iter", "iterations",
        "steps", "update", "updates", "numupdates")  # fmt: skip
RATE = ("lr", "learningrate", "trainlr", "trainlearningrate", "eta", "currentlr", "optimizerlr", "lradamw",
        "lradam", "lrsgd", "lrabs")  # fmt: skip
RUN = ("run", "runname", "runid", "curve", "name", "experiment")
BATCH = ("batchsize", "batch", "globalbatchsize", "trainbatchsize", "tokensperbatch", "tokensperstep")
ROLES = ("run", "step", "lr", "loss", "N", "D", "batch")
CHUNK = 30_000  # rows read at a time


@dataclass(slots=True)
class Found:
    """All runs by name, and what a reader should know of the columns."""

    runs: dict[str, RunRows] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    clock: str = "step"

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def read_logs(source: Any, columns: Mapping[str, str] | None = None) -> Found:
    """Runs of a path, a table, (step, lr, loss) arrays, or a list or mapping of these.

    Raises
    ------
    InputError
        Where there is no loss, or neither steps nor tokens nor samples.
    """
    found = Found()
    for name, part in _parts(source):
        if isinstance(part, str | Path):
            path = Path(part)
            default = path.name.split(".")[0] or str(part)
            for table in _tables(path, columns):
                _add(found, table, name or default, columns)
        else:
            _add(found, _table(part), name or f"curve {len(found.runs) + 1}", columns)
    if not found.runs:
        raise InputError("curves", "", "has no rows", "give a log with steps, rates and losses")
    return found


def _parts(source: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(source, Mapping) and not _is_table(source):
        for name, part in source.items():
            yield str(name), part
    elif isinstance(source, list) or (isinstance(source, tuple) and not _is_arrays(source)):
        if not source:
            raise InputError("curves", "[]", "is empty", "give at least one curve")
        for part in source:
            yield "", part
    else:
        yield "", source


def _is_table(source: Mapping[Any, Any]) -> bool:
    """Columns, not curves by name: a column holds numbers or text."""
    first = next(iter(source.values()), None)
    return not (isinstance(first, Mapping | str | Path) or _is_arrays(first) or hasattr(first, "columns"))


def _is_arrays(part: Any) -> bool:
    """(step, lr, loss), each with the numbers of one run."""
    return (
        isinstance(part, tuple)
        and len(part) == 3
        and all(np.ndim(v) == 1 and np.asarray(v).dtype.kind in "iuf" for v in part)
    )


def _table(part: Any) -> Table:
    if _is_arrays(part):
        lengths = {len(v) for v in part}
        if len(lengths) > 1:
            raise InputError(
                "curves", "", "has step, lr and loss of different lengths", "give as many of each"
            )
        part = dict(zip(("step", "lr", "loss"), part, strict=True))
    return table_of(part)


def _tables(path: Path, columns: Mapping[str, str] | None) -> Iterable[Table]:
    """The whole of a small file or a folder; chunks of a large table with separators."""
    large = path.is_file() and path.stat().st_size > LARGE
    if large and kind_of_file(path) in ("csv", "tsv"):
        return _chunks(path, columns)
    return [read_file(path)]


def _chunks(path: Path, columns: Mapping[str, str] | None) -> Iterator[Table]:
    import pandas as pd

    try:
        form: dict[str, Any] = {"sep": _separator(path), "skipinitialspace": True, "encoding": "utf-8-sig"}
        names = [str(name) for name in pd.read_csv(path, nrows=1, **form).columns]
        wanted = {name for name in _roles(names, columns).values() if name is not None}
        with pd.read_csv(path, chunksize=CHUNK, usecols=[n for n in names if n in wanted], **form) as chunks:
            for chunk in chunks:
                yield table_of(chunk.reset_index(drop=True))
    except InputError:
        raise
    except (OSError, EOFError, ValueError) as error:  # pandas' own are of the last kind
        reason = " ".join(str(error).split())[:120]
        raise InputError("file", path, f"is not readable as csv ({reason})", "check its contents") from None


def _separator(path: Path) -> str:
    if kind_of_file(path) == "tsv":
        return "\t"
    from sparselaw.fitting.separated import LOOKED_AT, separator_of

    with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb") as opened:
        lines = [opened.readline(1_000_000).decode("utf-8-sig", errors="replace") for _ in range(LOOKED_AT)]
    return separator_of([line.rstrip() for line in lines if line])


def _roles(names: list[str], given: Mapping[str, str] | None) -> dict[str, str | None]:
    """Role -> column or None; the loss of training where there is no other."""
    given = dict(given or {})
    for role, name in given.items():
        if role not in ROLES:
            raise InputError("columns", role, "is not a role", f"name {', '.join(ROLES)} only")
        if name not in names:
            raise InputError("columns", f"{role}={name}", "is not in the table", f"there are {listed(names)}")
    plain = {name: _plain(name) for name in names}
    found: dict[str, str | None] = {}
    for role, known in {"run": RUN, "step": STEP, "lr": RATE, "batch": BATCH}.items():
        ranked = [name for alias in known for name in names if plain[name] == alias]
        found[role] = given.get(role, ranked[0] if ranked else None)
    rest = [n for n in names if n not in found.values()]
    common = find_columns(rest, {r: n for r, n in given.items() if r in ("N", "D", "loss")})
    losses = [n for n in rest if plain[n].endswith("loss")]
    if "loss" not in common and losses:
        train = [n for n in losses if "train" in plain[n]]
        if len(losses) > 1 and len(train) != 1:
            raise InputError(
                "columns", ", ".join(losses), "could each be the loss", f"say which: columns loss={losses[0]}"
            )
        common["loss"] = (train or losses)[0]
    return found | {role: common.get(role) for role in ("loss", "N", "D")}


def _add(found: Found, table: Table, default: str, columns: Mapping[str, str] | None) -> None:
    roles = _roles(list(table.names), columns)
    if roles["loss"] is None:
        raise InputError(
            "columns", listed(table.names), "no column for the loss", "name it with columns loss=..."
        )
    values = {r: floats(table.column(c)) for r, c in roles.items() if c is not None and r != "run"}
    values = {r: v for r, v in values.items() if r in ("loss", "lr", "step") or np.isfinite(v).any()}
    if "step" not in values:
        if "D" not in values:
            raise InputError(
                "columns",
                listed(table.names),
                "no column for steps, tokens or samples",
                "name it: columns step=...",
            )
        values["step"] = values["D"]
        found.clock = str(roles["D"])
        found.note(f"there are no steps: {roles['D']} is taken in their place, in schedules too")
    if roles["loss"] and "train" in roles["loss"].lower():
        found.note(f"the loss is the column {roles['loss']}")
    nothing = np.full(len(table), np.nan)
    rows = np.column_stack([values.get(r, nothing) for r in ("step", "lr", "loss", "N", "D", "batch")])
    for name, part in _by_run(table, roles["run"], rows, default):
        found.runs.setdefault(name, RunRows(name)).add(part)


def _by_run(
    table: Table, column: str | None, rows: FloatArray, default: str
) -> Iterator[tuple[str, FloatArray]]:
    if column is None:
        yield default, rows
        return
    cells: Cells = table.column(column)
    of = labels(cells)
    order = np.argsort(of, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(of[order])) + 1):
        yield str(cells[part[0]]), rows[part]


def rates_of(source: Any) -> tuple[FloatArray, FloatArray]:
    """Steps and rates of a schedule: a file or a table with columns for both."""
    table = read_file(source) if isinstance(source, str | Path) else table_of(source)
    roles = {"step": STEP, "lr": RATE}
    found = {}
    for role, known in roles.items():
        names = [n for alias in known for n in table.names if _plain(n) == alias]
        if not names:
            raise InputError(
                "schedule", listed(table.names), f"no column for {role}", "name columns step and lr"
            )
        found[role] = floats(table.column(names[0]))
    return found["step"], found["lr"]


def _plain(name: str) -> str:
    return "".join(ch for ch in name.lower() if ch.isalnum())
