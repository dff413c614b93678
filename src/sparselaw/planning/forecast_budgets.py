"""A forecast at given sizes, or at the best sizes for budgets: the function behind `sparselaw forecast`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparselaw.costs import Conditioning, parse_cost
from sparselaw.errors import InputError, check_positive
from sparselaw.planning.allocate import allocate

if TYPE_CHECKING:
    import pandas as pd

    from sparselaw.fitting import FittedLaw
    from sparselaw.fitting.forecast import Forecast
    from sparselaw.laws import CoupledLaw


def forecast(
    runs: pd.DataFrame | Mapping[str, Any] | str | Path | FittedLaw,
    at: Sequence[tuple[float, float]] | None = None,
    *,
    budget: float | Sequence[float] | None = None,
    cost: str = "6nd",
    group: str | None = None,
    columns: Mapping[str, str] | None = None,
    where: str | Sequence[str] = (),
) -> Forecast:
    """The loss of runs not yet made, with 95 % intervals for the loss itself.

    ``runs`` is a table of runs as ``fit`` takes it, or a fitted law, whose runs are then used. ``at`` has the
    (N, D) asked for; or ``budget`` one or more budgets, and N and D are the best the law knows at each.
    """
    from sparselaw.fitting.forecast import forecast_at, prepare_forecast

    if at is not None and budget is None:
        return forecast_at(runs, at, group=group, columns=columns, where=where)
    if at is not None or budget is None:
        raise InputError("at", "", "give points or budgets, and not both", "write at=[(N, D)] or budget=C")
    given = budget if isinstance(budget, Iterable) else [budget]
    budgets = [check_positive("budget", C) for C in given]
    prepared = prepare_forecast(runs, group=group, columns=columns, where=where)
    law = prepared.average.law()
    points = [best_sizes(law, C, cost) for C in budgets]
    return prepared.forecast(points, budgets)


def best_sizes(law: CoupledLaw, budget: float, cost: str) -> tuple[float, float]:
    """(N, D) of the lowest loss that the budget buys."""
    from sparselaw.fitting.sparsity import invert

    implied = Conditioning.of_sparsity(*invert(law.alpha, law.beta))
    best = allocate(law.loss, parse_cost(cost, implied), check_positive("budget", budget)).best
    return best.N, best.D
