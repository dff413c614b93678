"""A forecast at given sizes, or at the best sizes for budgets: the function behind `sparselaw forecast`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparselaw.costs import Conditioning, parse_cost
from sparselaw.errors import InputError, check_positive
from sparselaw.forecasting import Forecast, Prepared, prepare
from sparselaw.forecasting.prepared import check_points
from sparselaw.planning.allocate import allocate

if TYPE_CHECKING:
    import pandas as pd

    from sparselaw.fitting import FittedLaw
    from sparselaw.laws import CoupledLaw


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
    if at is not None and budget is None:
        check_points(at)
        return prepare_forecast(runs, group=group, columns=columns, where=where).forecast(at, level=level)
    if at is not None or budget is None:
        raise InputError("at", "", "give points or budgets, and not both", "write at=[(N, D)] or budget=C")
    given = budget if isinstance(budget, Iterable) else [budget]
    budgets = [check_positive("budget", C) for C in given]
    prepared = prepare_forecast(runs, group=group, columns=columns, where=where)
    law = prepared.posterior.law()
    points = [best_sizes(law, C, cost) for C in budgets]
    return prepared.forecast(points, budgets, level)


def prepare_forecast(
    runs: Any,
    *,
    group: str | None = None,
    columns: Mapping[str, str] | None = None,
    where: str | Sequence[str] = (),
) -> Prepared:
    """Reads the runs, or takes those of a fitted law; then everything that does not depend on the points."""
    from sparselaw.fitting import FittedLaw
    from sparselaw.fitting.predicted import known
    from sparselaw.fitting.rows import as_table, clean_runs
    from sparselaw.fitting.select import select

    if isinstance(runs, FittedLaw):
        return prepare(known(runs.runs), dropped=runs.dropped)
    if where:
        runs = select(as_table(runs), (where,) if isinstance(where, str) else where)
    clean = clean_runs(runs, columns=columns, group=group)
    return prepare(
        known(clean.runs),
        dropped=clean.dropped,
        notes=clean.notes,
        pooled=[column.words() for column in clean.pooled if column.kind != "seed"],
    )


def best_sizes(law: CoupledLaw, budget: float, cost: str) -> tuple[float, float]:
    """(N, D) of the lowest loss that the budget buys."""
    from sparselaw.fitting.sparsity import invert

    implied = Conditioning.of_sparsity(*invert(law.alpha, law.beta))
    best = allocate(law.loss, parse_cost(cost, implied), check_positive("budget", budget)).best
    return best.N, best.D
