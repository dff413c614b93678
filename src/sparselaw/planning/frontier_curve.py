"""The best loss against compute at finite sizes: where ``theory.frontier`` is its limit for large budgets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.costs import parse_cost
from sparselaw.planning.allocate import Valley
from sparselaw.planning.plan import planned_for
from sparselaw.records import finite
from sparselaw.search import chebyshev_places, interpolate

if TYPE_CHECKING:
    from sparselaw.theory import Surface

PLACES = 6  # budgets that are planned for where they are many


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierCurve:
    """The best N and D at each budget, and the loss there."""

    cost: str
    budget: FloatArray
    N: FloatArray
    D: FloatArray
    loss: FloatArray

    def as_dict(self) -> dict[str, Any]:
        columns = {name: getattr(self, name) for name in ("budget", "N", "D", "loss")}
        values = {name: [finite(float(v)) for v in column] for name, column in columns.items()}
        return {"cost": self.cost, **values}


def frontier_curve(
    source: Any,
    budgets: Any,
    cost: str | None = None,
    *,
    side: str | None = None,
    surface: Surface = "sharp",
) -> FrontierCurve:
    """For a law, a fitted law or inputs, on one ``side`` of the peak or the better one.

    Many budgets are read off a polynomial through six in log C: that of one side, because the better side may
    change. Where that side has no valley, at small budgets, there is no number.

    >>> from sparselaw.laws import TwoPowerLaw
    >>> found = frontier_curve(TwoPowerLaw(A=1.0, B=1.0, alpha_N=1.0, alpha_D=1.0), [6e4, 6e6])
    >>> found.N.round().tolist()
    [100.0, 1000.0]
    """
    planned = planned_for(source, surface)
    spending = parse_cost(planned.usual_cost if cost is None else cost, planned.conditioning)
    asked = np.asarray(budgets, dtype=float)
    places = asked
    if asked.size > PLACES:
        places = np.exp(chebyshev_places(float(np.log(asked.min())), float(np.log(asked.max())), PLACES))
    found = [planned.allocation(spending, float(C)) for C in places]
    many = asked.size > PLACES
    side = side or (found[-1].best.side if many else None)
    best = [_on(side, (one.best, *one.others)) for one in found]
    columns = np.log([[valley.N, valley.D, valley.loss] for valley in best])
    if many:
        own = np.array([valley.side == side and math.isfinite(valley.loss) for valley in best], bool)
        own = own if own.any() else np.ones(places.size, bool)
        columns = interpolate(np.log(places[own]), columns[own], np.log(asked))
        columns[(asked < 0.999 * places[own].min()) | (asked > 1.001 * places[own].max())] = np.nan
    N, D, loss = np.exp(columns).T
    return FrontierCurve(cost=spending.name, budget=asked, N=N, D=D, loss=loss)


def _on(side: str | None, valleys: tuple[Valley, ...]) -> Valley:
    """The best valley of that side, or of all where it has none."""
    finite_ones = [valley for valley in valleys if math.isfinite(valley.loss)]
    return next((valley for valley in finite_ones if valley.side == side), valleys[0])
