"""From files, frames and arrays to the rows of single runs: step, rate, loss, and sizes where they are there.

A table with separators that is larger than a few megabytes is read in chunks, and a run that grows long is
averaged in pairs of neighbours as it comes: a log of a million lines takes no more room than one of
thousands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError
from sparselaw.files import open_unpacked
from sparselaw.fitting.clean_runs import as_table
from sparselaw.fitting.read import LOOKED_AT, kind_of_file, separator_of
from sparselaw.fitting.tables import column, find_columns, floats, labels, listed, table_of

LARGE = 5_000_000  # bytes
CHUNK = 30_000  # rows read at a time
ROOM = 4_000  # rows of a run; at twice as many, neighbours are averaged
STEP, RATE, LOSS, SIZE, DATA, BATCH = range(6)  # columns of the rows of a run
ROLES = ("run", "step", "lr", "loss", "N", "D", "batch")
# Compared without case and signs; the first that is there counts.
NAMES = {
    "run": ("run", "runname", "runid", "curve", "name", "experiment"),
    "step": ("step", "globalstep", "trainerglobalstep", "trainglobalstep", "iteration", "iter", "iterations",
             "steps", "update", "updates", "numupdates"),
    "lr": ("lr", "learningrate", "trainlr", "trainlearningrate", "eta", "currentlr", "optimizerlr", "lradamw",
           "lradam", "lrsgd", "lrabs"),
    "batch": ("batchsize", "batch", "globalbatchsize", "trainbatchsize", "tokensperbatch", "tokensperstep"),
}  # fmt: skip


@dataclass(slots=True)
class RunRows:
    """Rows of step, rate, loss, N, D and batch, with NaN for an empty cell. Steps only grow.

    >>> run = RunRows("a")
    >>> run.add(np.array([[1, 1, 3.0, 0, 0, 0], [2, 1, 2.5, 0, 0, 0], [2, 1, 2.4, 0, 0, 0]]))
    >>> run.rows[:, LOSS], run.restarts
    (array([3. , 2.4]), 0)
    """

    name: str
    means: FloatArray = field(default_factory=lambda: np.empty((0, 6)))
    rest: FloatArray = field(default_factory=lambda: np.empty((0, 6)))  # not in a mean yet
    averaged: int = 1  # logged rows in each mean
    restarts: int = 0
    lost: int = 0  # rows with a step and no loss that can be used
    batches: set[float] = field(default_factory=set)

    @property
    def rows(self) -> FloatArray:
        """All of them so far."""
        return np.concatenate([self.means, _means(self.rest, max(1, len(self.rest)))])

    def add(self, new: FloatArray) -> None:
        """More rows; where steps go back, what came before from there on is replaced."""
        new = new[np.isfinite(new[:, STEP]) & (new[:, STEP] >= 0.0)].astype(np.float64)
        loss, rate = new[:, LOSS], new[:, RATE]
        bad = ~np.isfinite(loss) | (loss <= 0.0)
        loss[bad] = np.nan
        self.lost += int(np.count_nonzero(bad))
        if len(self.batches) < 10:
            self.batches |= set(np.unique(new[np.isfinite(new[:, BATCH]), BATCH])[:10].tolist())
        rate[~np.isfinite(rate)] = np.nan
        back = np.flatnonzero(np.diff(new[:, STEP]) < 0.0) + 1
        for part in np.split(new, back) if len(new) else ():
            last = self.rows[-1, STEP] if len(self.means) or len(self.rest) else -1.0
            if part[0, STEP] <= last:
                self.restarts += int(part[0, STEP] < last)
                self.means = self.means[self.means[:, STEP] < part[0, STEP]]
                self.rest = self.rest[self.rest[:, STEP] < part[0, STEP]]
            kept = part[np.append(np.diff(part[:, STEP]) > 0.0, True)]  # a step logged twice: the last counts
            logged = np.concatenate([self.rest, kept])
            whole = len(logged) // self.averaged * self.averaged
            self.means = np.concatenate([self.means, _means(logged[:whole], self.averaged)])
            self.rest = logged[whole:]
            while len(self.means) > 2 * ROOM:
                even = len(self.means) // 2 * 2
                self.means = np.concatenate([_means(self.means[:even], 2), self.means[even:]])
                self.averaged *= 2


def _means(rows: FloatArray, count: int) -> FloatArray:
    """Of every ``count`` rows; empty cells do not count."""
    parts = rows.reshape(-1, count, rows.shape[1])
    there = np.isfinite(parts)
    number = there.sum(axis=1)
    total = np.where(there, parts, 0.0).sum(axis=1)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


@dataclass(slots=True)
class Found:
    """All runs by name, and what a reader should know of the columns."""

    runs: dict[str, RunRows] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    clock: str = "step"


def read_logs(source: Any, columns: Mapping[str, str] | None = None) -> Found:
    """Runs of a path, a table, (step, lr, loss) arrays, or a list or mapping of these.

    Raises
    ------
    InputError
        Where there is no loss, or neither steps nor tokens nor samples.
    """
    found = Found()
    parts: Iterable[tuple[str, Any]] = [("", source)]
    if isinstance(source, Mapping) and not _is_table(source):
        parts = [(str(name), part) for name, part in source.items()]
    elif isinstance(source, (list, tuple)) and not _is_arrays(source):
        if not source:
            raise InputError("curves", "[]", "is empty", "give at least one curve")
        parts = [("", part) for part in source]
    for name, part in parts:
        if isinstance(part, str | Path):
            path = Path(part)
            tables: Iterable[pd.DataFrame] = _tables(path, columns)
            name = name or path.name.split(".")[0] or str(part)
        else:
            tables = [table_of(_named_arrays(part) if _is_arrays(part) else part)]
            name = name or f"curve {len(found.runs) + 1}"
        for table in tables:
            _add(found, table, name, columns)
    if not found.runs:
        raise InputError("curves", "", "has no rows", "give a log with steps, rates and losses")
    return found


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


def _named_arrays(part: tuple[Any, ...]) -> dict[str, Any]:
    if len({len(v) for v in part}) > 1:
        raise InputError("curves", "", "has step, lr and loss of different lengths", "give as many of each")
    return dict(zip(("step", "lr", "loss"), part, strict=True))


def _tables(path: Path, columns: Mapping[str, str] | None) -> Iterator[pd.DataFrame]:
    """The whole of a small file or a folder; chunks of a large table with separators."""
    kind = kind_of_file(path)
    if not (path.is_file() and path.stat().st_size > LARGE and kind in ("csv", "tsv")):
        yield as_table(path)
        return
    try:
        with open_unpacked(path, lines=True) as opened:
            lines = [
                opened.readline(1_000_000).decode("utf-8-sig", errors="replace") for _ in range(LOOKED_AT)
            ]
        separator = "\t" if kind == "tsv" else separator_of([line.rstrip() for line in lines if line])
        form: dict[str, Any] = {"sep": separator, "skipinitialspace": True, "encoding": "utf-8-sig"}
        with open_unpacked(path, lines=True) as opened:
            names = [str(name) for name in pd.read_csv(opened, nrows=1, **form).columns]
        wanted = set(_roles(names, columns).values())
        with open_unpacked(path, lines=True) as opened:
            for chunk in pd.read_csv(opened, chunksize=CHUNK, usecols=lambda n: str(n) in wanted, **form):
                yield table_of(chunk.reset_index(drop=True))
    except InputError:
        raise
    except (OSError, EOFError, ValueError) as error:  # pandas' own are of the last kind
        reason = " ".join(str(error).split())[:120]
        raise InputError("file", path, f"is not readable as csv ({reason})", "check its contents") from None


def _roles(names: list[str], given: Mapping[str, str] | None) -> dict[str, str]:
    """Role -> column, where there is one; the loss of training where there is no other."""
    given = dict(given or {})
    for role, name in given.items():
        if role not in ROLES:
            raise InputError("columns", role, "is not a role", f"name {', '.join(ROLES)} only")
        if name not in names:
            raise InputError("columns", f"{role}={name}", "is not in the table", f"there are {listed(names)}")
    own = {role: given.get(role, _named(role, names)) for role in NAMES}
    found = {role: name for role, name in own.items() if name is not None}
    rest = [n for n in names if n not in found.values()]
    common = find_columns(rest, {r: n for r, n in given.items() if r in ("N", "D", "loss")})
    losses = [n for n in rest if _letters(n).endswith("loss")]
    if "loss" not in common and losses:
        train = [n for n in losses if "train" in _letters(n)]
        if len(losses) > 1 and len(train) != 1:
            raise InputError(
                "columns", ", ".join(losses), "could each be the loss", f"say which: columns loss={losses[0]}"
            )
        common["loss"] = (train or losses)[0]
    return found | {role: common[role] for role in ("loss", "N", "D") if role in common}


def _add(found: Found, table: pd.DataFrame, default: str, columns: Mapping[str, str] | None) -> None:
    """The rows of a table to the runs they are of."""
    roles = _roles([str(name) for name in table], columns)
    if "loss" not in roles:
        raise InputError("columns", listed(table), "no column for the loss", "name it with columns loss=...")
    values = {role: floats(column(table, name)) for role, name in roles.items() if role != "run"}
    values = {r: v for r, v in values.items() if r in ("loss", "lr", "step") or np.isfinite(v).any()}
    if "step" not in values:
        if "D" not in values:
            missing = "no column for steps, tokens or samples"
            raise InputError("columns", listed(table), missing, "name it: columns step=...")
        values["step"] = values["D"]
        found.clock = roles["D"]
        found.notes.append(f"there are no steps: {roles['D']} is taken in their place, in schedules too")
    if "train" in roles["loss"].lower():
        found.notes.append(f"the loss is the column {roles['loss']}")
    nothing = np.full(len(table), np.nan)
    rows = np.column_stack([values.get(r, nothing) for r in ("step", "lr", "loss", "N", "D", "batch")])
    if "run" not in roles:
        found.runs.setdefault(default, RunRows(default)).add(rows)
        return
    cells = column(table, roles["run"])
    of = labels(cells)
    order = np.argsort(of, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(of[order])) + 1):
        name = str(cells.iloc[part[0]])
        found.runs.setdefault(name, RunRows(name)).add(rows[part])


def rates_of(source: Any) -> tuple[FloatArray, FloatArray]:
    """Steps and rates of a schedule: a file or a table with columns for both."""
    table = as_table(source)
    found = []
    for role in ("step", "lr"):
        name = _named(role, [str(name) for name in table])
        if name is None:
            raise InputError("schedule", listed(table), f"no column for {role}", "name columns step and lr")
        found.append(floats(column(table, name)))
    return found[0], found[1]


def _named(role: str, names: Sequence[str]) -> str | None:
    """The first column that has one of the names of a role."""
    return next((name for known in NAMES[role] for name in names if _letters(name) == known), None)


def _letters(name: str) -> str:
    """Without case and signs."""
    return "".join(ch for ch in name.lower() if ch.isalnum())
