"""The loss along a whole budget curve, from N = 1 to D = 1: the isoFLOP valley as a picture shows it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.costs import parse_cost
from sparselaw.planning.allocate import log_sizes, peak_place
from sparselaw.planning.plan import planned_for
from sparselaw.records import finite

if TYPE_CHECKING:
    from sparselaw.theory import Surface

COUNT = 81
BESIDE = np.geomspace(0.01, 0.6, 12)  # distances from the peak in log N that are always shown


@dataclass(frozen=True, slots=True, kw_only=True)
class ValleyCurve:
    """N, the D that the rest of the budget buys, and the loss there; infinite at the peak."""

    budget: float
    cost: str
    N: FloatArray
    D: FloatArray
    loss: FloatArray

    def as_dict(self) -> dict[str, Any]:
        columns = {"N": self.N, "D": self.D, "loss": self.loss}
        values = {name: [finite(float(v)) for v in column] for name, column in columns.items()}
        return {"budget": self.budget, "cost": self.cost, **values}


def valley_curve(
    source: Any,
    budget: float,
    cost: str | None = None,
    *,
    between: tuple[float, float] = (1.0, math.inf),
    count: int = COUNT,
    surface: Surface = "sharp",
) -> ValleyCurve:
    """For a law, a fitted law or inputs; ``between`` limits N.

    >>> from sparselaw.laws import TwoPowerLaw
    >>> found = valley_curve(TwoPowerLaw(A=1.0, B=1.0, alpha_N=1.0, alpha_D=1.0), budget=6e4)
    >>> round(float(found.N[found.loss.argmin()]))
    100
    """
    planned = planned_for(source, surface)
    spending = parse_cost(planned.usual_cost if cost is None else cost, planned.conditioning)
    edge = log_sizes(spending, budget, 2)
    low, high = np.clip(edge, *np.log(between))
    x = np.linspace(float(low), float(high), count)
    wall = None if planned.peak is None else peak_place(spending, budget, planned.peak, edge)
    if wall is not None:
        near = np.concatenate([wall - BESIDE, wall + BESIDE])
        x = np.unique(np.concatenate([x[np.abs(x - wall) > BESIDE[0]], near[(near >= low) & (near <= high)]]))
    N = np.exp(x)
    D = np.asarray(spending.data_for(N, budget))
    losses = np.asarray(planned.loss(N, D), dtype=float)
    if wall is not None and low < wall < high:
        i = int(np.searchsorted(x, wall))
        top = float(np.exp(wall))
        N, D = np.insert(N, i, top), np.insert(D, i, float(spending.data_for(top, budget)))
        losses = np.insert(losses, i, np.inf)
    return ValleyCurve(budget=budget, cost=spending.name, N=N, D=D, loss=losses)
