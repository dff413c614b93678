"""Fits a law to a table of runs: the one function behind `sparselaw fit`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError
from sparselaw.fitting.bootstrap import Progress, bootstrap
from sparselaw.fitting.design import Design, LawName, Runs, two_size_design
from sparselaw.fitting.equality import equal_exponents
from sparselaw.fitting.identification import findings, no_sparsity
from sparselaw.fitting.leaveout import leave_out_table
from sparselaw.fitting.objectives import Objective, parse_objective
from sparselaw.fitting.one_variable import one_variable_design
from sparselaw.fitting.peak import without_peak
from sparselaw.fitting.result import EqualityTest, FittedLaw, LeftOut, interval
from sparselaw.fitting.rows import CleanRuns, clean_runs
from sparselaw.fitting.solve import Minimum, global_minimum
from sparselaw.fitting.sparsity import sparsity_intervals

if TYPE_CHECKING:
    import pandas as pd

LAWS: tuple[LawName, ...] = get_args(LawName)
SIZES: dict[LawName, tuple[str, ...]] = {"chinchilla": ("N", "D"), "two-power": ("N", "D"), "power": ()}
FEW_GROUPS = 10


def fit(
    runs: pd.DataFrame | Mapping[str, Any],
    law: LawName = "chinchilla",
    objective: str = "huber",
    *,
    delta: float | None = None,
    bootstrap: int = 1000,
    group: str | None = None,
    columns: Mapping[str, str] | None = None,
    variable: str | None = None,
    last: int | None = None,
    drop_peak: bool = False,
    leave_out: bool = False,
    seed: int = 0,
    workers: int = 1,
    progress: Progress | None = None,
) -> FittedLaw:
    """The law that minimises ``objective`` over the rows, with intervals from ``bootstrap`` draws.

    ``runs`` has columns N, D and loss (or common other names, or as ``columns`` says), one row for a run.
    ``group`` names the column that says which rows belong to one run: whole runs are then resampled.
    ``variable`` and ``last`` belong to the power law: the size that varies, and how many of its largest
    values to use. ``drop_peak`` leaves out simulated runs with N near K(D); ``leave_out`` adds
    the leave-out table.
    """
    _check(law, bootstrap, seed, workers)
    what = parse_objective(objective, delta)
    dropped: dict[str, int] = {}
    if drop_peak:
        runs, dropped = without_peak(runs, columns)
    clean = clean_runs(runs, columns=columns, group=group, needed=SIZES[law])
    clean.dropped.update(dropped)
    if law == "power":
        design, used, notes = one_variable_design(clean.runs, variable, last)
    else:
        if variable is not None or last is not None:
            raise InputError(
                "variable" if variable is not None else "last", variable if variable is not None else last,
                f"has no meaning for {law}", "choose law power",
            )  # fmt: skip
        used, notes = clean.runs, ()
        design = two_size_design(used, law)
    _check_rows(used, design, law)
    minimum = global_minimum(design, what)
    draws = _draws(design, what, minimum, bootstrap, seed, used, workers, progress)
    test: EqualityTest | None = None
    table: tuple[LeftOut, ...] = ()
    if law != "power":
        test = equal_exponents(
            design, two_size_design(used, law, tied=True), what, minimum,
            draws=bootstrap, seed=seed, group=used.group, workers=workers,
        )  # fmt: skip
        if leave_out:
            table = leave_out_table(
                used, law, what, design.residuals(minimum.theta), draws=bootstrap, seed=seed, workers=workers
            )
    return _result(design, what, minimum, draws, used, clean, law, notes, test, table)


def _check(law: str, draws: int, seed: int, workers: int) -> None:
    if law not in LAWS:
        raise InputError("law", law, "is not one of the laws", f"choose {' or '.join(LAWS)}")
    for name, value, least in (("bootstrap", draws, 0), ("seed", seed, 0), ("workers", workers, 1)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise InputError(
                name, value, f"must be a whole number of at least {least}", f"choose {name} >= {least}"
            )
    if 0 < draws < 20:
        raise InputError(
            "bootstrap", draws, "is too few for a 95 % interval", "choose 0, or at least 20 (better 200)"
        )


def _check_rows(runs: Runs, design: Design, law: LawName) -> None:
    needed = design.lower.size + 1
    if len(runs) < needed:
        raise InputError(
            "rows", len(runs), f"{law} has {design.lower.size} parameters and needs {needed} usable rows",
            "add runs or choose a law with fewer parameters",
        )  # fmt: skip
    if np.ptp(design.log_loss) == 0.0:
        raise InputError("loss", runs.loss[0], "is the same in every row", "add runs that differ")
    if law == "power":
        return
    for name, values in (("N", runs.N), ("D", runs.D)):
        if np.ptp(np.log(values)) == 0.0:
            raise InputError(
                name,
                f"{values[0]:g}",
                "is the same in every row",
                f"add runs with other {name}, or fit law power",
            )


def _draws(
    design: Design, what: Objective, minimum: Minimum, count: int, seed: int, runs: Runs, workers: int,
    progress: Progress | None,
) -> FloatArray:  # fmt: skip
    return bootstrap(
        design, what, minimum, draws=count, seed=seed, group=runs.group, workers=workers, progress=progress
    )


def _result(
    design: Design, what: Objective, minimum: Minimum, draws: FloatArray, runs: Runs, clean: CleanRuns,
    law: LawName, notes: tuple[str, ...], test: EqualityTest | None, table: tuple[LeftOut, ...],
) -> FittedLaw:  # fmt: skip
    found = findings(design, what, minimum, None if law == "power" else runs)
    best = design.natural(minimum.theta)
    drawn = np.reshape(design.natural(draws), draws.shape) if draws.size else draws
    sparsity = None
    why_not = "a power law has one exponent" if law == "power" else no_sparsity(design, minimum)
    if not why_not:
        sparsity = sparsity_intervals(float(best[-2]), float(best[-1]), drawn[:, -2], drawn[:, -1])
    return FittedLaw(
        law=design.law(minimum.theta),
        name=law,
        objective=what.name,
        delta=what.delta if what.name == "huber" else None,
        value=minimum.value,
        gradient_norm=minimum.gradient_norm,
        status=found[0].status if found else "ok",
        starts_tried=minimum.starts_tried,
        starts_agreeing=minimum.starts_agreeing,
        rows_used=len(runs),
        params={n: interval(float(best[i]), drawn[:, i]) for i, n in enumerate(design.names)},
        sparsity=sparsity,
        sparsity_reason=why_not,
        draws=drawn,
        runs=runs,
        residuals=design.residuals(minimum.theta),
        equal_exponents=test,
        leave_out=table,
        dropped=clean.dropped,
        warnings=(*clean.notes, *notes, *(f.words for f in found), *_words(runs, sparsity, table)),
    )


def _words(runs: Runs, sparsity: Mapping[str, Any] | None, table: tuple[LeftOut, ...]) -> tuple[str, ...]:
    """What the selection of runs and the number of groups do to the answer."""
    words: list[str] = []
    if runs.group is not None and int(runs.group.max()) + 1 < FEW_GROUPS:
        words.append(f"only {int(runs.group.max()) + 1} groups: intervals are likely too narrow")
    if sparsity is not None and table:
        best = [line.alpha1.best for line in table]
        words.append(f"alpha1 runs from {min(best):.3g} to {max(best):.3g} as parts of the runs are left out")
        if min(best) < 0.0 < max(best):
            words.append("the sign of alpha1 hangs on which runs are used")
    return tuple(words)
