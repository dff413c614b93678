"""From a table to runs: every row that cannot be used is counted under its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError
from sparselaw.fitting.columns import Aliases, find_columns, missing_column, notes_on_columns, there
from sparselaw.fitting.fitted_runs import Runs
from sparselaw.fitting.pooled import Pooled, pooled_columns
from sparselaw.fitting.read import read_file
from sparselaw.fitting.run_table import Table, duplicated, floats, labels, missing, table_of

if TYPE_CHECKING:
    import pandas as pd

Source: TypeAlias = "pd.DataFrame | Mapping[str, Any] | Table | str | Path"


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanRuns:
    """The usable rows, how many went for which reason, and what a reader should know of the rest."""

    runs: Runs
    dropped: dict[str, int]
    notes: tuple[str, ...]
    kept: IntArray  # row numbers in the table
    pooled: tuple[Pooled, ...] = ()  # columns that tell groups of rows apart


def as_table(source: Source) -> Table:
    """A table from a data frame, a mapping of columns, or the path of a file; it has at least one row."""
    if isinstance(source, Table):
        return source
    table = read_file(source) if isinstance(source, (str, Path)) else table_of(source)
    if len(table) == 0:
        raise InputError("runs", "0 rows", "the table has no rows", "give at least a few runs")
    return table


def clean_runs(
    source: Source,
    *,
    columns: Mapping[str, str] | None = None,
    group: str | None = None,
    needed: tuple[str, ...] = ("N", "D"),
    aliases: Aliases | None = None,
) -> CleanRuns:
    """``needed`` names the sizes a law uses (with one size, none: any will do), ``aliases`` other names."""
    table = as_table(source)
    more = {name: (aliases or {}).get(name, ()) for name in needed}
    found = find_columns(table.names, columns, more)
    judged = _Rows(table)
    loss = judged.number(found, "loss")
    sizes = {role: judged.number(found, role) for role in ("N", "D", *more) if role in found}
    used = {role: found[role] for role in ("loss", "stderr", *sizes) if role in found}
    notes: list[str] = []
    if "D" not in sizes and "N" in sizes and "C" in found:
        sizes["D"] = judged.number(found, "C") / (6.0 * sizes["N"])
        used["C"] = found["C"]
        notes.append("D is missing: taken as C/(6N)")
    if "U" in needed and "U" not in sizes and "D" in sizes:
        passes = _passes(table)
        if passes is not None:
            sizes["U"] = sizes["D"] / judged.number({"epochs": passes}, "epochs")
            used["epochs"] = passes
            notes.append(f"U is missing: taken as D/{passes}")
    for role in needed or ("N",) * (not sizes):
        if role not in sizes:
            raise missing_column(role, table.names)
    if group is not None:
        if group not in table.names:
            raise InputError("group", group, "is not in the table", there(table.names))
        judged.drop(missing(table.column(group)), f"{group} missing")
    judged.drop(duplicated(table), "exact duplicate")
    kept = np.flatnonzero(judged.good)
    if kept.size == 0:
        reasons = ", ".join(f"{n} {reason}" for reason, n in judged.counts.items())
        raise InputError("rows", 0, f"no usable row is left ({reasons})", "check the columns and the values")
    scale, weight_notes = _scale(table, found, loss, kept)
    ones = np.ones(kept.size)
    runs = Runs(
        sizes={name: sizes[name][kept] if name in sizes else ones for name in {"N": 0, "D": 0, **sizes}},
        loss=loss[kept],
        scale=scale,
        group=None if group is None else labels(table.column(group)[kept]),
        row=table.rows[kept],
    )
    said = notes_on_columns(table.names, used, columns)
    return CleanRuns(
        runs=runs,
        dropped=judged.counts,
        notes=(*said, *notes, *weight_notes),
        kept=kept,
        pooled=tuple(pooled_columns(table.take(kept), used, group)),
    )


class _Rows:
    """Which rows are still good; the first reason found against a row is the one counted."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.good = np.ones(len(table), bool)
        self.counts: dict[str, int] = {}

    def drop(self, bad: Any, reason: str) -> None:
        new = self.good & bad
        if new.any():
            self.counts[reason] = int(np.count_nonzero(new))
            self.good &= ~bad

    def number(self, found: Mapping[str, str], role: str) -> FloatArray:
        """The column as floats; rows that are not positive finite numbers are dropped and nan."""
        if role not in found:
            raise missing_column(role, self.table.names)
        cells = self.table.column(found[role])
        values = floats(cells)
        self.drop(missing(cells), f"{role} missing")
        self.drop(np.isnan(values), f"{role} not a number")
        self.drop(np.isinf(values), f"{role} infinite")
        self.drop(values <= 0.0, f"{role} not positive")
        return np.where(np.isfinite(values) & (values > 0.0), values, np.nan)


def _passes(table: Table) -> str | None:
    """The column with the number of passes over the unique data, if there is one."""
    return next((n for n in table.names if n.strip().lower() in {"epochs", "passes", "n_epochs"}), None)


def _scale(
    table: Table, found: Mapping[str, str], loss: FloatArray, kept: IntArray
) -> tuple[FloatArray, tuple[str, ...]]:
    """Relative standard errors over their median; ones where the table does not have them for every row."""
    ones = np.ones(kept.size)
    if "stderr" not in found:
        return ones, ()
    values = floats(table.column(found["stderr"]))[kept]
    usable = np.isfinite(values) & (values > 0.0)
    if not usable.all():
        bad = int(np.count_nonzero(~usable))
        return ones, (f"standard errors are missing or not positive in {bad} rows: rows are not weighted",)
    relative = values / loss[kept]
    return relative / float(np.median(relative)), ("rows are weighted by their standard errors",)
