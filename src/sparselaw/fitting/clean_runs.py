"""From a table to the runs a law is fitted to, as arrays: which rows are used, and why the others are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError, check_choice
from sparselaw.fitting.read import read_table
from sparselaw.fitting.table_checks import (
    Pooled,
    check_falls,
    embedding_words,
    non_embedding,
    pooled_columns,
    run_column,
    unit_words,
    without_peak,
)
from sparselaw.fitting.tables import (
    column,
    duplicated,
    find_columns,
    floats,
    labels,
    missing,
    missing_column,
    notes_on_columns,
    select,
    table_of,
    there,
    unit_of,
)
from sparselaw.forecasting import KnownRuns
from sparselaw.laws import Law, law_named

Source: TypeAlias = "pd.DataFrame | Mapping[str, Any] | str | Path"
COUNTS = ("as-given", "non-embedding")
LARGEST = 1e305  # nothing is larger, or smaller than one over it: numbers lose their digits there
LARGEST_SIZE = 1e150  # its square is still a number
FARTHEST = 230.0  # in logs from the median, 1e100 times: no measurement
LARGEST_IN_UNITS = 1e6  # a column "in billions" with numbers above this is in ones


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweeps:
    """Runs in which one size varies while another stays: ``index`` tells the sweep of every row."""

    size: str  # the size that varies
    other: str  # the size that a sweep shares
    values: FloatArray  # (sweeps,): its values
    index: IntArray  # (rows,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """Positive, finite, at least one. ``group`` numbers the whole runs that rows belong to."""

    sizes: Mapping[str, FloatArray]  # by their names; always N and D, ones where the table has none
    loss: FloatArray
    scale: FloatArray  # relative standard errors over their median; ones where the table has none
    group: IntArray | None = None
    sweeps: Sweeps | None = None
    row: IntArray | None = None  # where each stood in the table, from zero
    compute: FloatArray | None = None  # C of every row, where the table has it
    seed: FloatArray | None = None  # of every row, where the table has it

    @property
    def N(self) -> FloatArray:
        return self.sizes["N"]

    @property
    def D(self) -> FloatArray:
        return self.sizes["D"]

    def take(self, rows: npt.NDArray[np.bool_] | IntArray) -> Runs:
        names = ("loss", "scale", "group", "row", "compute", "seed")
        columns: dict[str, Any] = {name: getattr(self, name) for name in names}
        columns |= {name: values[rows] for name, values in columns.items() if values is not None}
        sweeps = None if self.sweeps is None else replace(self.sweeps, index=self.sweeps.index[rows])
        if self.group is not None:  # counted from zero without gaps
            columns["group"] = np.unique(columns["group"], return_inverse=True)[1]
        sizes = {name: values[rows] for name, values in self.sizes.items()}
        return Runs(sizes=sizes, sweeps=sweeps, **columns)

    def known(self) -> KnownRuns:
        """The same as a forecast takes them."""
        columns = {name: getattr(self, name) for name in ("N", "D", "loss", "scale", "group", "row", "seed")}
        return KnownRuns(**columns)

    def __len__(self) -> int:
        return self.loss.size


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanRuns:
    """The usable rows, how many went for which reason, and what a reader should know of the rest.

    Rows are in an order of their own, by size and then by loss: no result depends on the order of the table.
    """

    runs: Runs
    dropped: dict[str, int]
    notes: tuple[str, ...]
    pooled: tuple[Pooled, ...] = ()  # columns that tell groups of rows apart


def as_table(source: Source) -> pd.DataFrame:
    """A table from a data frame, a mapping of columns, or the path of a file; it has at least one row."""
    table = table_of(read_table(source) if isinstance(source, (str, Path)) else source)
    if len(table) == 0:
        raise InputError("runs", "0 rows", "the table has no rows", "give at least a few runs")
    return table


def clean_runs(
    source: Source,
    law: type[Law] | str | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    group: str | None = None,
    where: str | Sequence[str] = (),
    best: bool = False,
    final: bool = False,
    count: str = "as-given",
    drop_peak: bool = False,
) -> CleanRuns:
    """The runs of a table, as every command reads them.

    Parameters
    ----------
    source
        A table, or the path of one.
    law
        That is to be fitted, or its name: it says which sizes are needed, N and D without one; of a law of
        one size any will do.
    columns
        Role -> column, for N, D, loss, C and stderr, where names do not tell.
    group
        The column that names the run of a row.
    where
        Conditions on columns: "lr=0.001", or several.
    best
        Keep only the best run of each N and D.
    final
        Keep only the last checkpoint of each run.
    count
        "as-given" takes N as the table has it, "non-embedding" without embeddings: from a column of that
        name, or 12 L d^2 from depth and width.
    drop_peak
        Leave out simulated runs with N near K(D), where the loss peaks.

    Returns
    -------
    CleanRuns
        At least one row.

    Raises
    ------
    InputError
        Where no column can be told for a role, no row is left, or the loss rises with scale.
    """
    kind = law_named(law) if isinstance(law, str) else law
    needed = ("N", "D") if kind is None else () if kind.has_one_size() else kind.sizes
    table = select(as_table(source), where)
    dropped: dict[str, int] = {}
    if drop_peak:
        table, dropped = without_peak(table, columns)
    more = {name: () if kind is None else kind.column_names.get(name, ()) for name in needed}
    found = find_columns(table.columns, columns, more)
    judged = _Rows(table)
    notes: list[str] = []
    loss = judged.number(found, "loss")
    bare = _without_embeddings(table, count, found, "N" in needed, columns)
    sizes: dict[str, FloatArray] = {}
    if bare is not None:
        found.pop("N", None)
        sizes["N"] = judged.checked(bare[0], "N")
        notes.append(f"N is {bare[1]}, without embeddings")
    sizes |= {role: judged.number(found, role) for role in ("N", "D", *more) if role in found}
    used = {role: found[role] for role in ("loss", "stderr", *sizes) if role in found}
    compute = None
    if "D" not in sizes and "N" in sizes and "C" in found:
        compute = judged.number(found, "C")
        sizes["D"] = compute / (6.0 * sizes["N"])
        used["C"] = found["C"]
        notes.append("D is missing: taken as C/(6N)")
    elif "C" in found:  # not needed: a row without it stays
        compute = judged.in_ones(floats(column(table, found["C"])), found["C"], "C")
        compute = np.where(np.isfinite(compute) & (compute > 0.0), compute, np.nan)
    passes = next((n for n in table.columns if n.strip().lower() in {"epochs", "passes", "n_epochs"}), None)
    if "U" in needed and "U" not in sizes and "D" in sizes and passes is not None:
        sizes["U"] = sizes["D"] / judged.number({"epochs": passes}, "epochs")
        used["epochs"] = passes
        notes.append(f"U is missing: taken as D/{passes}")
    for role in needed or ("N",) * (not sizes):
        if role not in sizes:
            raise missing_column(role, table.columns)
    if group is not None:
        if group not in table.columns:
            raise InputError("group", group, "is not in the table", there(table.columns))
        judged.drop(missing(column(table, group)), f"{group} missing")
    judged.drop(duplicated(table), "exact duplicate")
    kept: IntArray = np.flatnonzero(judged.good)
    if kept.size == 0:
        reasons = ", ".join(f"{n} {reason}" for reason, n in judged.counts.items())
        raise InputError("rows", 0, f"no usable row is left ({reasons})", "check the columns and the values")
    sizes = {name: sizes.get(name, np.ones(len(table))) for name in {"N": 0, "D": 0, **sizes}}
    if final:
        name = run_column(table) if group is None else group
        if name is None:
            condition = "needs a column that names the run of a row"
            raise InputError("final", True, condition, "name it with --group")
        if np.ptp(sizes["D"][kept]) == 0.0:
            condition = "needs D, to tell the last checkpoint"
            raise InputError("final", True, condition, "name it with --columns D=...")
        rows, kept = (
            kept.size,
            _first_of_each(kept, [labels(column(table, name).iloc[kept])], -sizes["D"], loss),
        )
        notes.append(f"only the last checkpoint of each {name} is used: {kept.size} of {rows} rows")
    if best:
        rows, kept = kept.size, _first_of_each(kept, [values[kept] for values in sizes.values()], loss)
        notes.append(f"{rows - kept.size} rows with a better run of the same sizes are not used")
    numbers = None if group is None else by_name(column(table, group).iloc[kept])
    ties = [loss[kept]] if numbers is None else [numbers, loss[kept]]
    order = np.lexsort([*ties, *(values[kept] for values in sizes.values())])
    kept = kept[order]
    check_falls(unit_of(found["loss"])[0], sizes["N"][kept], sizes["D"][kept], loss[kept])
    scale, weighted = _scale(table.iloc[kept], found, loss[kept])
    seed = floats(table["seed"].iloc[kept]) if list(table.columns).count("seed") == 1 else None
    runs = Runs(
        sizes={name: values[kept] for name, values in sizes.items()},
        loss=loss[kept],
        scale=scale,
        group=None if numbers is None else numbers[order],
        row=table.index.to_numpy()[kept],
        compute=None if compute is None or np.isnan(compute[kept]).any() else compute[kept],
        seed=None if seed is None or not np.isfinite(seed).all() else seed,
    )
    doubts = []  # what looks wrong with N, D and C: said first
    if {"N", "D"} <= set(needed):
        simulated = "alpha1" in table.columns
        doubts = unit_words(runs.N, runs.D, None if "C" in used else runs.compute, simulated)
        if bare is None and "N" in used:
            doubts += embedding_words(table.iloc[kept], runs.N)
    said = [*doubts, *judged.notes, *notes_on_columns(table.columns, used, columns), *notes, *weighted]
    pooled = pooled_columns(table.iloc[kept], used, group)
    return CleanRuns(
        runs=runs,
        dropped=judged.counts | dropped,
        notes=tuple(dict.fromkeys(said)),
        pooled=tuple(p for p in pooled if not (best and p.kind != "run") and not (final and p.kind == "run")),
    )


def _without_embeddings(
    table: pd.DataFrame, count: str, found: Mapping[str, str], wanted: bool, given: Mapping[str, str] | None
) -> tuple[FloatArray, str] | None:
    """N without embeddings where it is asked for, or where the shape of the model is all there is."""
    if check_choice("count", count, COUNTS) == "non-embedding":
        bare = non_embedding(table)
        if bare is None:
            condition = "needs the width and the depth of every model, or a column of that count"
            raise InputError("count", count, condition, "add columns d_model and n_layers")
        return bare
    taken = found.get("N")
    if wanted and "N" not in (given or {}) and (taken is None or taken.strip().lower() == "width"):
        return non_embedding(table)
    return None


class _Rows:
    """Which rows are still good; the first reason found against a row is the one counted."""

    def __init__(self, table: pd.DataFrame) -> None:
        self.table = table
        self.good = np.ones(len(table), bool)
        self.counts: dict[str, int] = {}
        self.notes: list[str] = []

    def drop(self, bad: Any, reason: str) -> None:
        new = self.good & bad
        if new.any():
            self.counts[reason] = int(np.count_nonzero(new))
            self.good &= ~bad

    def number(self, found: Mapping[str, str], role: str) -> FloatArray:
        """The column as floats; rows that are not positive finite numbers are dropped and nan."""
        if role not in found:
            raise missing_column(role, self.table.columns)
        cells = column(self.table, found[role])
        self.drop(missing(cells), f"{role} missing")
        return self.checked(self.in_ones(floats(cells), found[role], role), role)

    def checked(self, values: FloatArray, role: str) -> FloatArray:
        self.drop(np.isnan(values), f"{role} not a number")
        self.drop(np.isinf(values), f"{role} infinite")
        self.drop(values <= 0.0, f"{role} not positive")
        values = np.where(np.isfinite(values) & (values > 0.0), values, np.nan)
        if self.good.any():
            apart = np.abs(np.log(values) - np.log(np.nanmedian(values[self.good])))
            self.drop(apart > FARTHEST, f"{role} 1e100 times off the others")
            values = np.where(apart > FARTHEST, np.nan, values)
        largest = LARGEST_SIZE if role in ("N", "D") else LARGEST
        outside = (values > largest) | (values < 1.0 / largest)
        self.drop(outside, f"{role} outside {1.0 / largest:g} to {largest:g}")
        return np.where(outside, np.nan, values)

    def in_ones(self, values: FloatArray, column: str, role: str) -> FloatArray:
        """A column "Tokens (B)" is in billions; unless its numbers are too large for that."""
        unit = unit_of(column)[1]
        if unit == 1.0 or role in ("loss", "stderr"):
            return values
        if np.nanmax(values, initial=0.0) > LARGEST_IN_UNITS:
            self.notes.append(f"{role} is the column {column}, taken as it stands: its numbers are too large")
            return values
        self.notes.append(f"{role} is the column {column}, in units of {unit:g}")
        return values * unit


def by_name(cells: pd.Series[Any]) -> IntArray:
    """0, 1, 2, ... for the distinct values in the order of what they show, whatever their order in the table.

    >>> by_name(pd.Series(["b", "a", "b"])).tolist()
    [1, 0, 1]
    """
    parts = labels(cells)
    shown = cells[~pd.Series(parts).duplicated().to_numpy()].map(str)
    return np.argsort(np.argsort(shown.to_numpy(), kind="stable"))[parts]


def _first_of_each(kept: IntArray, parts: list[Any], *by: FloatArray) -> IntArray:
    """Of the rows that share all ``parts``, the one with the lowest of ``by``, in the order of the table."""
    cells = np.unique(np.stack(parts), axis=1, return_inverse=True)[1].ravel()
    order = np.lexsort([*(values[kept] for values in reversed(by)), cells])
    first = np.diff(cells[order], prepend=-1) > 0
    return kept[np.sort(order[first])]


def _scale(
    rows: pd.DataFrame, found: Mapping[str, str], loss: FloatArray
) -> tuple[FloatArray, tuple[str, ...]]:
    """Relative standard errors over their median; ones where the table does not have them for every row."""
    ones = np.ones(len(rows))
    if "stderr" not in found:
        return ones, ()
    values = floats(column(rows, found["stderr"]))
    with np.errstate(all="ignore"):
        relative = values / loss
        relative = relative / float(np.median(relative))
    bad = np.count_nonzero(~((relative > 1e-9) & (relative < 1e9) & (values > 0.0)))
    if bad:
        return ones, (f"standard errors are missing or make no sense in {bad} rows: rows are not weighted",)
    return relative, ("rows are weighted by their standard errors",)
