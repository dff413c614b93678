"""Fits a law to a table of runs: read, prepare, start, minimise, draw, result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sparselaw.errors import InputError, warn_of
from sparselaw.fitting.clean_runs import CleanRuns, Runs, Source, Sweeps, clean_runs
from sparselaw.fitting.design import Design, prepare
from sparselaw.fitting.draws import Progress
from sparselaw.fitting.draws import bootstrap as draw
from sparselaw.fitting.fitted_law import FittedLaw, fitted_law
from sparselaw.fitting.goodness import findings, goodness
from sparselaw.fitting.minimise import global_minimum, parse_objective
from sparselaw.interval import check_level
from sparselaw.laws import ANY_SIZE, law_named, one_size_laws

FEW_GROUPS = 10
ENVELOPE = "the law is for the best tenth of the runs: most residuals are above it by intention"


def fit(
    runs: Source | CleanRuns | Any,
    *given: Any,
    law: str | None = None,
    objective: str | None = None,
    delta: float | None = None,
    bootstrap: int = 1000,
    group: str | None = None,
    where: str | Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    variable: str | None = None,
    last: int | None = None,
    drop_peak: bool = False,
    best: bool = False,
    final: bool = False,
    count: str = "as-given",
    leave_out: bool = False,
    level: float = 0.95,
    seed: int = 0,
    workers: int = 1,
    progress: Progress | None = None,
    warn: bool = True,
) -> FittedLaw:
    """The law that minimises the objective over the runs, with intervals from draws.

    Parameters
    ----------
    runs
        A table with columns N, D and loss (or common other names), one row for a run: a data frame of pandas,
        polars or pyarrow, a mapping of columns, or the path of a file or folder. Or the array of N, followed
        by the arrays of D and the loss: ``fit(N, D, loss)``.
    *given
        The arrays of D and the loss, where the first argument is that of N. After a table, the law and the
        objective.
    law
        The name of a registered law (``sparselaw.laws.LAWS``); ``chinchilla`` unless named.
    objective
        ``huber`` (unless named), ``l1``, ``least-squares`` or ``envelope``.
    delta
        Where Huber's square turns into an absolute value; 1e-3 unless given.
    bootstrap
        How many draws the intervals come from; 0 for none.
    group
        The column that names the run of a row: whole runs are then resampled.
    where
        Conditions that select rows: ``"lr=0.001"``, or several.
    columns
        Role -> column for N, D, loss, C and stderr, where the names do not tell.
    variable, last
        For laws of one size: the size that varies, and how many of its largest values to use.
    drop_peak
        Leave out simulated runs with N near K(D), where the loss peaks.
    best
        Keep the best run of each N and D: for sweeps of learning rates.
    final
        Keep the last checkpoint of each run.
    count
        ``"non-embedding"`` counts parameters without embeddings, from width and depth.
    leave_out
        Whether ``leave_out`` of the result has the table of fits with some runs left out.
    level
        Of the intervals.
    seed, workers
        Of the draws; the answer does not depend on the number of workers.
    progress
        Called with (draws done, draws asked for).
    warn
        Whether ``warnings`` of the result are also issued as ``SparselawWarning``.

    Returns
    -------
    FittedLaw
        Its ``status`` is ``ok`` where nothing stands against it; ``print`` shows the rest.

    Raises
    ------
    InputError
        Where the table cannot be read, or does not carry the law.

    Examples
    --------
    >>> import numpy as np
    >>> N, D = np.meshgrid(np.geomspace(1e7, 1e9, 5), np.geomspace(1e9, 1e11, 5))
    >>> law = fit(N, D, 1.8 + 480 * N**-0.35 + 2100 * D**-0.37, bootstrap=0)
    >>> round(law.params["alpha"].best, 4)
    0.35
    """
    runs, law, objective = _arguments(runs, given, law, objective)
    kind = law_named(law)
    for name, value, least in (("bootstrap", bootstrap, 0), ("seed", seed, 0), ("workers", workers, 1)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            condition = f"must be a whole number of at least {least}"
            raise InputError(name, value, condition, f"choose {name} >= {least}")
    if 0 < bootstrap < 20:
        condition = "is too few for a 95 % interval"
        raise InputError("bootstrap", bootstrap, condition, "choose 0, or at least 20 (better 200)")
    level = check_level(level)
    chosen = parse_objective(objective, delta)
    clean = runs
    if not isinstance(runs, CleanRuns):
        clean = clean_runs(
            runs, kind, columns=columns, group=group, where=where, best=best, final=final, count=count,
            drop_peak=drop_peak,
        )  # fmt: skip
    used, notes = clean.runs, list(clean.notes)
    if kind.has_one_size():
        used = _in_sweeps(used, variable, last, notes)
    for name, asked in (("variable", variable), ("last", last)):
        if asked is not None and not kind.has_one_size():
            raise InputError(name, asked, f"has no meaning for {kind.name}", f"choose law {one_size_laws()}")
    design = prepare(kind, used)
    _check_rows(used, design)
    minimum = global_minimum(design, chosen)
    draws = draw(
        design, chosen, minimum, group=used.group, progress=progress, draws=bootstrap, seed=seed,
        workers=workers,
    )  # fmt: skip
    if chosen.name == "envelope":
        notes.append(ENVELOPE)
    good = goodness(design.residuals(minimum.theta), used, design.free)
    found = findings(design, chosen, minimum, used, good, clean.pooled)
    notes += [words for _, words in found]
    notes += [column.words() for column in clean.pooled if column.kind == "seed"]
    if used.group is not None and int(used.group.max()) + 1 < FEW_GROUPS:
        notes.append(f"only {int(used.group.max()) + 1} groups: intervals are likely too narrow")
    fitted = fitted_law(
        design, chosen, minimum, design.columns(minimum.theta, draws), level=level, runs=used, goodness=good,
        status=found[0][0] if found else "ok", warnings=tuple(notes), dropped=clean.dropped,
        wants_leave_out=leave_out, seed=seed, workers=workers,
    )  # fmt: skip
    if warn:
        warn_of(fitted.warnings)
    return fitted


def _arguments(
    runs: Any, given: tuple[Any, ...], law: str | None, objective: str | None
) -> tuple[Any, str, str]:
    """The table, law and objective: given as such, or as arrays of N, D and the loss."""
    names = list(given)
    if given and not isinstance(given[0], str):
        if len(given) < 2:
            raise InputError("loss", "", "is missing", "give a table, or the arrays N, D and loss")
        columns = zip(("N", "D", "loss"), np.broadcast_arrays(runs, *given[:2]), strict=True)
        runs, names = {name: np.ravel(values) for name, values in columns}, names[2:]
    if len(names) > 2:
        raise InputError("arguments", len(given), "are too many", "name them: law=..., objective=...")
    for place, (name, value) in enumerate((("law", law), ("objective", objective))):
        if place < len(names) and value is not None:
            raise InputError(name, value, "is given twice", "give it once")
    law = names[0] if names else law
    objective = names[1] if len(names) > 1 else objective
    return runs, law or "chinchilla", objective or "huber"


def _in_sweeps(runs: Runs, variable: str | None, last: int | None, notes: list[str]) -> Runs:
    """The rows that lie in sweeps; what to tell the reader is added to ``notes``.

    Rows that share the other size make one sweep; of each, the ``last`` largest sizes are used.
    """
    varying = [name for name in ("N", "D") if np.ptp(runs.sizes[name]) > 0.0]
    if variable is None:
        if len(varying) > 1:
            raise InputError("variable", "", "both N and D vary", "say which one: variable N or variable D")
        variable = "N" if "N" in varying else "D"
    if variable not in ("N", "D"):
        raise InputError("variable", variable, "is not a size", "choose N or D")
    if variable not in varying:
        condition = f"{variable} is the same in every row"
        raise InputError("variable", variable, condition, f"add runs with other {variable}")
    if last is not None and last < 2:
        raise InputError("last", last, "must be at least 2", "choose last >= 2")
    name = "D" if variable == "N" else "N"
    size, other = runs.sizes[variable], runs.sizes[name]
    kept = np.zeros(len(runs), bool)
    for value in np.unique(other):
        sizes = np.unique(size[other == value])
        if sizes.size > 1:
            kept |= (other == value) & (size >= sizes[-(last or sizes.size) :][0])
    if not kept.any():
        condition = f"no {name} has runs at two values of {variable}"
        raise InputError("variable", variable, condition, "choose another law")
    values, sweep = np.unique(other[kept], return_inverse=True)
    notes.append(f"one exponent for {variable}, over {values.size} value{'s' * (values.size > 1)} of {name}")
    if not kept.all():
        count = np.count_nonzero(~kept)
        notes.append(f"{count} rows outside the sweeps or their last sizes are not used")
    used = runs.take(kept)
    sweeps = Sweeps(size=variable, other=name, values=values, index=sweep)
    return replace(used, sizes={**used.sizes, ANY_SIZE: size[kept]}, sweeps=sweeps)


def _check_rows(runs: Runs, design: Design) -> None:
    law, needed = design.law, design.free + 1
    if len(runs) < needed:
        condition = f"{law.name} has {design.free} parameters and needs {needed} usable rows"
        raise InputError("rows", len(runs), condition, "add runs or choose a law with fewer parameters")
    if np.ptp(design.log_loss) == 0.0:
        raise InputError("loss", runs.loss[0], "is the same in every row", "add runs that differ")
    for name in law.sizes:
        values = runs.sizes[name]
        if np.ptp(np.log(values)) == 0.0:
            remedy = f"add runs with other {name}, or fit law {one_size_laws()}"
            raise InputError(name, f"{values[0]:g}", "is the same in every row", remedy)
