"""Fits a law to a table of runs: the one function behind `sparselaw fit`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError
from sparselaw.fitting.bootstrap import Progress
from sparselaw.fitting.bootstrap import bootstrap as draw
from sparselaw.fitting.design import Design
from sparselaw.fitting.envelope import envelope_draws, envelope_minimum
from sparselaw.fitting.equality import equal_exponents
from sparselaw.fitting.fitted_law import EqualityTest, FittedLaw, LeftOut
from sparselaw.fitting.fitted_runs import Runs
from sparselaw.fitting.identification import findings, no_sparsity
from sparselaw.fitting.leaveout import leave_out_table
from sparselaw.fitting.objectives import Objective, parse_objective
from sparselaw.fitting.one_variable import in_sweeps
from sparselaw.fitting.peak import without_peak
from sparselaw.fitting.prepare import prepare
from sparselaw.fitting.rows import CleanRuns, Source, as_table, clean_runs
from sparselaw.fitting.select import select
from sparselaw.fitting.solve import Minimum, global_minimum
from sparselaw.fitting.sparsity import implied_sparsity
from sparselaw.interval import drawn_interval
from sparselaw.laws import Law, law_named, one_size_laws

FEW_GROUPS = 10
ENVELOPE = "the law is for the best tenth of the runs: most residuals are above it by intention"


def fit(
    runs: Source,
    law: str = "chinchilla",
    objective: str = "huber",
    *,
    delta: float | None = None,
    bootstrap: int = 1000,
    group: str | None = None,
    where: str | Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    variable: str | None = None,
    last: int | None = None,
    drop_peak: bool = False,
    best: bool = False,
    leave_out: bool = False,
    seed: int = 0,
    workers: int = 1,
    progress: Progress | None = None,
) -> FittedLaw:
    """The law that minimises ``objective`` over the rows, with intervals from ``bootstrap`` draws.

    ``runs`` has columns N, D and loss (or common other names, or as ``columns`` says), one row for a run; or
    it is the path of such a table. ``law`` is the name of a registered law (sparselaw.laws). ``group`` names
    the column that says which rows belong to one run: whole runs are then resampled. ``where`` selects rows
    ("lr=0.001", or several conditions). ``variable`` and
    ``last`` belong to laws of one size: the size that varies, and how many of its largest values to use.
    ``best`` keeps the best run of each (N, D).
    ``drop_peak`` leaves out simulated runs with N near K(D); ``leave_out`` adds the leave-out table.
    """
    kind = law_named(law)
    _check(bootstrap, seed, workers)
    chosen = parse_objective(objective, delta)
    dropped: dict[str, int] = {}
    if where:
        runs = select(as_table(runs), (where,) if isinstance(where, str) else where)
    if drop_peak:
        runs, dropped = without_peak(runs, columns)
    needed = () if kind.has_one_size() else kind.sizes
    clean = clean_runs(runs, columns=columns, group=group, needed=needed, aliases=kind.column_names)
    clean.dropped.update(dropped)
    used, notes = _rows_for(kind, clean.runs, variable, last)
    if best:
        clean, used, more = _best_runs(clean, used)
        notes = (*notes, *more)
    design = prepare(kind, used)
    _check_rows(used, design)
    if chosen.name == "envelope":
        minimum = envelope_minimum(design, chosen)
        drawn = envelope_draws(design, chosen, minimum, used.group, bootstrap, seed)
        return _result(design, chosen, minimum, drawn, used, clean, (*notes, ENVELOPE), None, (), seed)
    minimum = global_minimum(design, chosen)
    resampled: dict[str, Any] = {"draws": bootstrap, "seed": seed, "workers": workers}
    draws = draw(design, chosen, minimum, group=used.group, progress=progress, **resampled)
    test: EqualityTest | None = None
    table: tuple[LeftOut, ...] = ()
    if kind.exponent_names is not None:
        test = equal_exponents(
            design, prepare(kind, used, tied=True), chosen, minimum, group=used.group, **resampled
        )
        if leave_out:
            found = design.residuals(minimum.theta), design.natural(minimum.basins)
            table = leave_out_table(used, kind, chosen, *found, **resampled)
    return _result(design, chosen, minimum, draws, used, clean, notes, test, table, seed)


def _best_runs(clean: CleanRuns, runs: Runs) -> tuple[CleanRuns, Runs, tuple[str, ...]]:
    """The lowest loss of all rows that share every size; settings that were tried are then no groups."""
    cells = np.unique(np.stack(list(runs.sizes.values())), axis=1, return_inverse=True)[1].ravel()
    order = np.lexsort((runs.loss, cells))
    first = np.concatenate([[True], np.diff(cells[order]) > 0])
    kept = np.sort(order[first])
    pooled = tuple(column for column in clean.pooled if column.kind != "setting")
    note = f"{len(runs) - kept.size} rows with a better run of the same sizes are not used"
    return replace(clean, pooled=pooled), runs.take(kept).with_groups_numbered(), (note,)


def _check(draws: int, seed: int, workers: int) -> None:
    for name, value, least in (("bootstrap", draws, 0), ("seed", seed, 0), ("workers", workers, 1)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise InputError(
                name, value, f"must be a whole number of at least {least}", f"choose {name} >= {least}"
            )
    if 0 < draws < 20:
        raise InputError(
            "bootstrap", draws, "is too few for a 95 % interval", "choose 0, or at least 20 (better 200)"
        )


def _rows_for(
    law: type[Law], runs: Runs, variable: str | None, last: int | None
) -> tuple[Runs, tuple[str, ...]]:
    """The rows that the law uses, and what to tell the reader."""
    if law.has_one_size():
        return in_sweeps(runs, variable, last)
    for name, value in (("variable", variable), ("last", last)):
        if value is not None:
            raise InputError(name, value, f"has no meaning for {law.name}", f"choose law {one_size_laws()}")
    return runs, ()


def _check_rows(runs: Runs, design: Design) -> None:
    law, needed = design.law, design.free + 1
    if len(runs) < needed:
        raise InputError(
            "rows", len(runs), f"{law.name} has {design.free} parameters and needs {needed} usable rows",
            "add runs or choose a law with fewer parameters",
        )  # fmt: skip
    if np.ptp(design.log_loss) == 0.0:
        raise InputError("loss", runs.loss[0], "is the same in every row", "add runs that differ")
    for name in law.sizes:
        values = runs.sizes[name]
        if np.ptp(np.log(values)) == 0.0:
            raise InputError(
                name,
                f"{values[0]:g}",
                "is the same in every row",
                f"add runs with other {name}, or fit law {one_size_laws()}",
            )


def _result(
    design: Design, objective: Objective, minimum: Minimum, draws: FloatArray, runs: Runs, clean: CleanRuns,
    notes: tuple[str, ...], test: EqualityTest | None, table: tuple[LeftOut, ...], seed: int,
) -> FittedLaw:  # fmt: skip
    found = findings(design, objective, minimum, runs, clean.pooled)
    seeds = tuple(column.words() for column in clean.pooled if column.kind == "seed")
    best, drawn = design.natural(minimum.theta), design.natural(draws)
    sparsity = None
    why_not = no_sparsity(design, minimum)
    if not why_not:
        sparsity = implied_sparsity(design, best, drawn)
    return FittedLaw(
        law=design.law_at(minimum.theta),
        objective=objective.name,
        delta=objective.delta if objective.name == "huber" else None,
        value=minimum.value,
        gradient_norm=minimum.gradient_norm,
        status=found[0].status if found else "ok",
        starts_tried=minimum.starts_tried,
        starts_agreeing=minimum.starts_agreeing,
        rows_used=len(runs),
        params={n: drawn_interval(float(best[i]), drawn[:, i]) for i, n in enumerate(design.names)},
        sparsity=sparsity,
        sparsity_reason=why_not,
        draws=drawn,
        runs=runs,
        residuals=design.residuals(minimum.theta),
        equal_exponents=test,
        leave_out=table,
        dropped=clean.dropped,
        seed=seed,
        warnings=(*clean.notes, *notes, *(f.words for f in found), *seeds, *_words(runs, sparsity, table)),
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
