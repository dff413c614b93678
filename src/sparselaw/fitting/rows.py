"""From a table to runs: every row that cannot be used is counted under its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError
from sparselaw.fitting import cell_values
from sparselaw.fitting.columns import Aliases, find_columns, missing_column, notes_on_columns, there
from sparselaw.fitting.pooled import Pooled, pooled_columns
from sparselaw.fitting.read import read_table
from sparselaw.fitting.runs import Runs

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanRuns:
    """The usable rows, how many went for which reason, and what a reader should know of the rest."""

    runs: Runs
    dropped: dict[str, int]
    notes: tuple[str, ...]
    kept: IntArray  # row numbers in the table
    pooled: tuple[Pooled, ...] = ()  # columns that tell groups of rows apart


def as_frame(table: pd.DataFrame | Mapping[str, Any] | str | Path) -> pd.DataFrame:
    """A data frame from a table or from the path of one; column names are text."""
    import pandas as pd

    if isinstance(table, (str, Path)):
        table = read_table(table)
    try:
        frame = table if isinstance(table, pd.DataFrame) else pd.DataFrame(dict(table))
    except (TypeError, ValueError) as error:
        raise InputError(
            "runs", type(table).__name__, f"is not a table ({error})", "give a DataFrame or a file"
        ) from None
    if frame.shape[0] == 0:
        raise InputError("runs", "0 rows", "the table has no rows", "give at least a few runs")
    if all(isinstance(name, str) for name in frame.columns):
        return frame
    return frame.set_axis([str(name) for name in frame.columns], axis=1)


def clean_runs(
    table: pd.DataFrame | Mapping[str, Any] | str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    group: str | None = None,
    needed: tuple[str, ...] = ("N", "D"),
    aliases: Aliases | None = None,
) -> CleanRuns:
    """``needed`` names the sizes a law uses (with one size, none: any will do), ``aliases`` other names."""
    frame = as_frame(table)
    more = {name: (aliases or {}).get(name, ()) for name in needed}
    found = find_columns(frame.columns, columns, more)
    judged = _Rows(frame)
    loss = judged.number(found, "loss")
    sizes = {role: judged.number(found, role) for role in ("N", "D", *more) if role in found}
    used = {role: found[role] for role in ("loss", "stderr", *sizes) if role in found}
    notes: list[str] = []
    if "D" not in sizes and "N" in sizes and "C" in found:
        sizes["D"] = judged.number(found, "C") / (6.0 * sizes["N"])
        used["C"] = found["C"]
        notes.append("D is missing: taken as C/(6N)")
    for role in needed or ("N",) * (not sizes):
        if role not in sizes:
            raise missing_column(role, frame.columns)
    if group is not None:
        if group not in frame.columns:
            raise InputError("group", group, "is not in the table", there(frame.columns))
        judged.drop(cell_values.one_column(frame, group).isna().to_numpy(), f"{group} missing")
    judged.drop(cell_values.duplicated(frame), "exact duplicate")
    kept = np.flatnonzero(judged.good)
    if kept.size == 0:
        reasons = ", ".join(f"{n} {reason}" for reason, n in judged.counts.items())
        raise InputError("rows", 0, f"no usable row is left ({reasons})", "check the columns and the values")
    scale, weight_notes = _scale(frame, found, loss, kept)
    ones = np.ones(kept.size)
    runs = Runs(
        sizes={name: sizes[name][kept] if name in sizes else ones for name in {"N": 0, "D": 0, **sizes}},
        loss=loss[kept],
        scale=scale,
        group=None if group is None else cell_values.labels(frame[group].iloc[kept]),
        row=_positions(frame, kept),
    )
    said = notes_on_columns(frame.columns, used, columns)
    return CleanRuns(
        runs=runs,
        dropped=judged.counts,
        notes=(*said, *notes, *weight_notes),
        kept=kept,
        pooled=tuple(pooled_columns(frame, kept, used, group)),
    )


class _Rows:
    """Which rows are still good; the first reason found against a row is the one counted."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame
        self.good = np.ones(frame.shape[0], bool)
        self.counts: dict[str, int] = {}

    def drop(self, bad: Any, reason: str) -> None:
        new = self.good & bad
        if new.any():
            self.counts[reason] = int(np.count_nonzero(new))
            self.good &= ~bad

    def number(self, found: Mapping[str, str], role: str) -> FloatArray:
        """The column as floats; rows that are not positive finite numbers are dropped and nan."""
        if role not in found:
            raise missing_column(role, self.frame.columns)
        values = cell_values.floats(self.frame, found[role])
        column = self.frame[found[role]]
        unreadable = np.isnan(values)
        blank = column.isna().to_numpy().copy()
        if (unreadable & ~blank).any():  # text is slow to look at: only where there is some
            odd = np.flatnonzero(unreadable & ~blank)
            blank[odd] = (column.iloc[odd].astype(str).str.strip() == "").to_numpy()
        self.drop(blank, f"{role} missing")
        self.drop(unreadable, f"{role} not a number")
        self.drop(np.isinf(values), f"{role} infinite")
        self.drop(values <= 0.0, f"{role} not positive")
        return np.where(np.isfinite(values) & (values > 0.0), values, np.nan)


def _positions(frame: pd.DataFrame, kept: IntArray) -> IntArray:
    """Where the rows stood in the table that was read: a selection keeps its numbers in the index."""
    import pandas as pd

    if pd.api.types.is_integer_dtype(frame.index.dtype):
        return np.asarray(frame.index.to_numpy()[kept], dtype=np.int64)
    return kept


def _scale(
    frame: pd.DataFrame, found: Mapping[str, str], loss: FloatArray, kept: IntArray
) -> tuple[FloatArray, tuple[str, ...]]:
    """Relative standard errors over their median; ones where the table does not have them for every row."""
    ones = np.ones(kept.size)
    if "stderr" not in found:
        return ones, ()
    values = cell_values.floats(frame, found["stderr"])[kept]
    usable = np.isfinite(values) & (values > 0.0)
    if not usable.all():
        bad = int(np.count_nonzero(~usable))
        return ones, (f"standard errors are missing or not positive in {bad} rows: rows are not weighted",)
    relative = values / loss[kept]
    return relative / float(np.median(relative)), ("rows are weighted by their standard errors",)
