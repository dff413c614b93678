"""From files, frames and arrays to the rows of single runs: step, rate, loss, and sizes where they are there.

A long run is averaged over neighbours: a million lines then take no longer than thousands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError
from sparselaw.fitting.clean_runs import as_table
from sparselaw.fitting.tables import column, find_columns, floats, labels, listed

MOST_ROWS = 8_000  # of a run; of more, neighbours are averaged
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRows:
    """Rows of step, rate, loss, N, D and batch, with NaN for an empty cell. Steps only grow."""

    name: str
    rows: FloatArray
    averaged: int  # logged rows in each of them
    restarts: int
    lost: int  # rows with a step and no loss that can be used
    batches: int  # how many sizes of the batch


def run_rows(name: str, logged: FloatArray) -> RunRows:
    """The rows of one run as logged; where steps go back, what came before from there on is replaced.

    >>> run = run_rows("a", np.array([[1, 1, 3.0, 0, 0, 0], [2, 1, 2.5, 0, 0, 0], [2, 1, 2.4, 0, 0, 0]]))
    >>> run.rows[:, LOSS], run.restarts
    (array([3. , 2.4]), 0)
    """
    rows = logged[np.isfinite(logged[:, STEP]) & (logged[:, STEP] >= 0.0)]
    rows[~np.isfinite(rows)] = np.nan
    rows[rows[:, LOSS] <= 0.0, LOSS] = np.nan
    lost = int(np.count_nonzero(np.isnan(rows[:, LOSS])))
    restarts = int(np.count_nonzero(np.diff(rows[:, STEP]) < 0.0))
    later = np.minimum.accumulate(rows[::-1, STEP])[::-1]  # a step logged twice: the last counts
    rows = rows[np.append(rows[:-1, STEP] < later[1:], True)] if len(rows) else rows
    averaged = 1
    while len(rows) // averaged > MOST_ROWS:
        averaged *= 2
    whole = len(rows) // averaged * averaged
    parts = np.split(rows, [whole])
    means = [_means(part, min(averaged, max(1, len(part)))) for part in parts]
    batches = np.unique(logged[np.isfinite(logged[:, BATCH]), BATCH]).size
    return RunRows(
        name=name,
        rows=np.concatenate(means),
        averaged=averaged,
        restarts=restarts,
        lost=lost,
        batches=batches,
    )


def _means(rows: FloatArray, count: int) -> FloatArray:
    """Of every ``count`` rows; empty cells do not count."""
    parts = rows.reshape(-1, count, rows.shape[1])
    there = np.isfinite(parts)
    number = there.sum(axis=1)
    total = np.where(there, parts, 0.0).sum(axis=1)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def read_logs(source: Any, columns: Mapping[str, str] | None = None) -> tuple[list[RunRows], list[str], str]:
    """Runs of a path, a table, (step, lr, loss) arrays, or a list or mapping of these; notes; the clock.

    Raises
    ------
    InputError
        Where there is no loss, or neither steps nor tokens nor samples.
    """
    parts: Iterable[tuple[str, Any]] = [("", source)]
    if isinstance(source, Mapping) and not _is_table(source):
        parts = [(str(name), part) for name, part in source.items()]
    elif isinstance(source, (list, tuple)) and not _is_arrays(source):
        if not source:
            raise InputError("curves", "[]", "is empty", "give at least one curve")
        parts = [("", part) for part in source]
    runs: dict[str, list[FloatArray]] = {}
    notes: list[str] = []
    clock = "step"
    for name, part in parts:
        if _is_arrays(part) and len({len(v) for v in part}) > 1:
            raise InputError(
                "curves", "", "has step, lr and loss of different lengths", "give as many of each"
            )
        table = as_table(dict(zip(("step", "lr", "loss"), part, strict=True)) if _is_arrays(part) else part)
        if not name:
            is_path = isinstance(part, str | Path)
            name = (Path(part).name.split(".")[0] or str(part)) if is_path else f"curve {len(runs) + 1}"
        roles = _roles([str(column) for column in table], columns)
        values, clock_here = _values(table, roles, notes)
        clock = clock_here or clock
        of = np.zeros(len(table), np.int64) if "run" not in roles else labels(column(table, roles["run"]))
        for i, first in enumerate(np.unique(of, return_index=True)[1]):
            own = name if "run" not in roles else str(column(table, roles["run"]).iloc[first])
            runs.setdefault(own, []).append(values[of == i])
    return [run_rows(name, np.concatenate(parts)) for name, parts in runs.items()], notes, clock


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


def _values(table: pd.DataFrame, roles: Mapping[str, str], notes: list[str]) -> tuple[FloatArray, str]:
    """The cells of a table as rows of a run, and the column that stands for steps where there are none."""
    if "loss" not in roles:
        raise InputError("columns", listed(table), "no column for the loss", "name it with columns loss=...")
    values = {role: floats(column(table, name)) for role, name in roles.items() if role != "run"}
    values = {r: v for r, v in values.items() if r in ("loss", "lr", "step") or np.isfinite(v).any()}
    clock = ""
    if "step" not in values:
        if "D" not in values:
            missing = "no column for steps, tokens or samples"
            raise InputError("columns", listed(table), missing, "name it: columns step=...")
        values["step"], clock = values["D"], roles["D"]
        notes.append(f"there are no steps: {clock} is taken in their place, in schedules too")
    if "train" in roles["loss"].lower():
        notes.append(f"the loss is the column {roles['loss']}")
    nothing = np.full(len(table), np.nan)
    return np.column_stack([values.get(r, nothing) for r in ("step", "lr", "loss", "N", "D", "batch")]), clock


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
