"""From a table to runs: every row that cannot be used is counted under its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError
from sparselaw.fitting.columns import find_columns, missing_column
from sparselaw.fitting.design import Runs

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanRuns:
    """The usable rows, how many went for which reason, and what a reader should know of the rest."""

    runs: Runs
    dropped: dict[str, int]
    notes: tuple[str, ...]
    kept: IntArray  # row numbers in the table


def clean_runs(
    table: pd.DataFrame | Mapping[str, Any],
    *,
    columns: Mapping[str, str] | None = None,
    group: str | None = None,
    needed: tuple[str, ...] = ("N", "D"),
) -> CleanRuns:
    """``needed`` names the sizes the law uses; a power law may do with one of them."""
    import pandas as pd

    try:
        frame = table if isinstance(table, pd.DataFrame) else pd.DataFrame(dict(table))
    except (TypeError, ValueError) as error:
        raise InputError(
            "runs", type(table).__name__, f"is not a table ({error})", "give a DataFrame"
        ) from None
    if frame.shape[0] == 0:
        raise InputError("runs", "0 rows", "the table has no rows", "give at least a few runs")
    found = find_columns(frame.columns, columns)
    notes: list[str] = []
    judged = _Rows(frame)
    loss = judged.number(found, "loss")
    sizes: dict[str, FloatArray] = {}
    for role in ("N", "D"):
        if role in found:
            sizes[role] = judged.number(found, role)
    if "D" not in sizes and "N" in sizes and "C" in found:
        sizes["D"] = judged.number(found, "C") / (6.0 * sizes["N"])
        notes.append("D is missing: taken as C/(6N)")
    for role in needed:
        if role not in sizes:
            raise missing_column(role, frame.columns)
    if not sizes:
        raise missing_column("N", frame.columns)
    if group is not None:
        if group not in frame.columns:
            raise InputError(
                "group", group, "is not in the table", f"choose one of {', '.join(map(str, frame))}"
            )
        judged.drop(frame[group].isna().to_numpy(), f"{group} missing")
    judged.drop(frame.duplicated().to_numpy(), "exact duplicate")
    kept = np.flatnonzero(judged.good)
    if kept.size == 0:
        reasons = ", ".join(f"{n} {reason}" for reason, n in judged.counts.items())
        raise InputError("rows", 0, f"no usable row is left ({reasons})", "check the columns and the values")
    scale, weight_notes = _scale(frame, found, loss, kept)
    ones = np.ones(kept.size)
    runs = Runs(
        N=sizes["N"][kept] if "N" in sizes else ones,
        D=sizes["D"][kept] if "D" in sizes else ones,
        loss=loss[kept],
        scale=scale,
        group=None if group is None else pd.factorize(frame[group].iloc[kept])[0].astype(np.int64),
    )
    return CleanRuns(runs=runs, dropped=judged.counts, notes=(*notes, *weight_notes), kept=kept)


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
        import pandas as pd

        if role not in found:
            raise missing_column(role, self.frame.columns)
        column = self.frame[found[role]]
        if getattr(column, "ndim", 1) != 1:
            raise InputError("columns", found[role], "appears more than once", "rename one of them")
        values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
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


def _scale(
    frame: pd.DataFrame, found: Mapping[str, str], loss: FloatArray, kept: IntArray
) -> tuple[FloatArray, tuple[str, ...]]:
    """Relative standard errors over their median; ones where the table does not have them for every row."""
    import pandas as pd

    ones = np.ones(kept.size)
    if "stderr" not in found:
        return ones, ()
    values = pd.to_numeric(frame[found["stderr"]], errors="coerce").to_numpy(np.float64, na_value=np.nan)[
        kept
    ]
    usable = np.isfinite(values) & (values > 0.0)
    if not usable.all():
        bad = int(np.count_nonzero(~usable))
        return ones, (f"standard errors are missing or not positive in {bad} rows: rows are not weighted",)
    relative = values / loss[kept]
    return relative / float(np.median(relative)), ("rows are weighted by their standard errors",)
