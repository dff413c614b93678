"""A forecast at given sizes, or at the best sizes for budgets: the function behind `sparselaw forecast`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import on_one_thread
from sparselaw.errors import InputError, check_positive, warn_of
from sparselaw.forecasting import Forecast, KnownRuns, Prepared, prepare
from sparselaw.forecasting.forecast_result import check_points
from sparselaw.forecasting.known_runs import unforeseeable
from sparselaw.interval import check_level
from sparselaw.planning.from_law import fit_source
from sparselaw.planning.from_runs import runs_source
from sparselaw.planning.plan import plan
from sparselaw.planning.plan_record import Plan
from sparselaw.planning.source import Source

if TYPE_CHECKING:
    import pandas as pd

    from sparselaw.fitting import FittedLaw

LAW_DRAWS = 200  # of Chinchilla's law, where there is no forecast
AHEAD = 10.0  # times the most expensive run of a table: the next one


def forecast(
    runs: pd.DataFrame | Mapping[str, Any] | str | Path | FittedLaw,
    at: Sequence[tuple[float, float]] | None = None,
    *,
    budget: float | Sequence[float] | None = None,
    cost: str = "6nd",
    level: float = 0.95,
    group: str | None = None,
    columns: Mapping[str, str] | None = None,
    where: str | Sequence[str] = (),
    best: bool = False,
    final: bool = False,
    count: str = "as-given",
) -> Forecast:
    """The loss of runs not yet made, with intervals for the loss itself.

    Parameters
    ----------
    runs
        A table of runs as ``fit`` takes it, or a fitted law, whose runs are then used.
    at
        The (N, D) asked for.
    budget
        One or more budgets in place of ``at``: N and D are the best at each.
    cost
        What a budget pays for.
    level
        Share that the intervals are meant to hold.
    group
        Column that names the run of each row, where rows are checkpoints.
    columns
        Which column is N, D or the loss, where the names do not say it.
    where
        Conditions on the rows, such as "lr=0.1".
    best
        Keep the best run of each N and D.
    final
        Keep the last checkpoint of each run.
    count
        "non-embedding" counts parameters without embeddings, from width and depth.

    Returns
    -------
    Forecast
        Its ``points`` have the losses; ``predict``, ``quantiles`` and ``sample`` give more.

    Raises
    ------
    InputError
        Where the runs allow no forecast, and where points, budgets or the level make no sense.

    Examples
    --------
    >>> runs = {"N": [1e8, 2e8, 4e8] * 4, "D": [b * 1e9 for b in (2, 4, 8, 16) for _ in range(3)]}
    >>> runs["loss"] = [2 + 500 / n**0.35 + 900 / d**0.33 for n, d in zip(runs["N"], runs["D"])]
    >>> found = forecast(runs, at=[(8e8, 3.2e10)], level=0.8)
    >>> bool(found.points[0].loss.contains(2 + 500 / 8e8**0.35 + 900 / 3.2e10**0.33))
    True
    """
    if (at is None) == (budget is None):
        raise InputError("at", "", "give points or budgets, and not both", "write at=[(N, D)] or budget=C")
    budgets: list[float] = []
    if at is not None:
        check_points(at)
    elif budget is not None:
        budgets = [
            check_positive("budget", C) for C in (budget if isinstance(budget, Iterable) else [budget])
        ]
    prepared = prepare_forecast(
        runs, group=group, columns=columns, where=where, best=best, final=final, count=count
    )
    points = best_sizes(prepared, budgets, cost) if at is None else at
    found = prepared.forecast(points, budgets, level)
    warn_of(found.warnings)
    return found


def by_value(
    answer: Callable[..., Any],
    runs: Any,
    by: str,
    *asked: Any,
    where: str | Sequence[str] = (),
    **settings: Any,
) -> tuple[dict[Any, Any], dict[Any, str]]:
    """``forecast`` or ``plan`` with the same settings for the rows of every value of the column ``by``.

    Returns
    -------
    answers, refused
        By value; and why there is none for the others.
    """
    from sparselaw.fitting.clean_runs import as_table
    from sparselaw.fitting.tables import select, split

    found: dict[Any, Any] = {}
    refused: dict[Any, str] = {}
    for value, rows in split(select(as_table(runs), where), by):
        name = value.item() if hasattr(value, "item") else value
        try:
            found[name] = answer(rows, *asked, **settings)
        except InputError as error:
            refused[name] = str(error)
    if not found:
        why = next(iter(refused.values()), "it is empty")
        raise InputError("by", by, f"no value of it has rows enough ({why})", "choose another column")
    return found, refused


def prepare_forecast(runs: Any, **rows: Any) -> Prepared:
    """Everything that does not depend on the points; ``rows`` says how a table is read."""
    if isinstance(runs, Forecast):
        return runs.prepared
    found, clean = known_of(runs, **rows)
    return prepare(found, **clean)


def known_of(runs: Any, **rows: Any) -> tuple[KnownRuns, dict[str, Any]]:
    """The runs of a table, a fitted law or a forecast, and what there is to say of how they were read."""
    from sparselaw.fitting import FittedLaw, clean_runs

    if isinstance(runs, FittedLaw):
        return runs.runs.known(), {"dropped": runs.dropped}
    if isinstance(runs, Forecast):
        return runs.prepared.runs, {"dropped": runs.prepared.dropped, "notes": runs.prepared.notes}
    clean = clean_runs(runs, **rows)
    pooled = [column.words() for column in clean.pooled if column.kind != "seed"]
    known = clean.runs.known()
    notes = list(clean.notes)
    if known.group is not None and len(np.unique(known.group)) < len(known):
        earlier = "rows of one run: earlier checkpoints of a schedule are not final losses"
        notes.append(f"{earlier}; --final keeps the last of each run")
    return known, {"dropped": clean.dropped, "notes": notes, "pooled": pooled}


def table_source(table: Any, level: float = 0.95, **rows: Any) -> Source:
    """By the forecast of the runs; by Chinchilla's law, and a word on why, where they allow none."""
    runs, clean = known_of(table, **rows)
    why = unforeseeable(runs)
    if not why:
        return runs_source(prepare(runs, **clean), check_level(level))
    from sparselaw.fitting import fit

    source = fit_source(fit(table, bootstrap=LAW_DRAWS, warn=False, **rows))
    said = f"planned by Chinchilla's law, conditional on it: no forecast, {why}"
    return replace(source, warnings=lambda *at: (said, *source.warnings(*at)))


@on_one_thread
def best_sizes(prepared: Prepared, budgets: Sequence[float], cost: str) -> list[tuple[float, float]]:
    """(N, D) of the lowest loss that each budget buys: those of the plan."""
    source = runs_source(prepared)
    best = [source.search(source.cost(cost), budget).best for budget in budgets]
    return [(one.N, one.D) for one in best]


def plan_ahead(fitted: FittedLaw) -> Plan | None:
    """For ten times the most expensive run of a fit, by the forecast of its runs; by the law where they allow
    none; None where the law does not trade N against D above a floor, or no plan is to be had."""
    law = fitted.law
    if law.sizes != ("N", "D") or None in (law.floor_name, law.exponent_names, fitted.sparsity):
        return None
    if "ahead" not in fitted.memory:
        runs = fitted.runs.known()
        try:
            by_law = unforeseeable(runs)
            source = fitted if by_law else runs_source(prepare(runs, dropped=fitted.dropped))
            fitted.memory["ahead"] = plan(source, AHEAD * 6.0 * float((runs.N * runs.D).max()))
        except InputError:
            fitted.memory["ahead"] = None
    found: Plan | None = fitted.memory["ahead"]
    return found
