"""The least budget that reaches a loss: the inverse of a plan.

From runs a loss is reached with a chance: the budget is the least at whose best N and D the forecast puts the
loss of a run below it with that probability. The interval of the cost comes from draws of the whole frontier,
each with the budget at which it passes the loss. By a law or the theory the loss is a number, and so is the
budget.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.costs import Cost
from sparselaw.errors import InputError, check_positive
from sparselaw.interval import Interval
from sparselaw.planning.planned import Planned

FARTHEST = math.log(1e40)  # times the budget that is looked at first, either way
CLOSE = 1e-4  # of ln C
ALONG, REACH = 25, math.log(1e3)  # places of the frontier for the interval, and how far they go either way
NO_END = "a factor of a thousand from the best budget is not enough"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """``loss`` is reached with ``probability`` by the budget of the plan; ``cost`` is that budget with its
    interval, the middle of which is the budget for an even chance."""

    loss: float
    probability: float | None  # None by a law or the theory
    cost: Interval

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "target": self.loss,
            "probability": self.probability,
            "cost": self.cost.to_dict(NO_END),
        }


def budget_for(
    planned: Planned, cost: Cost, loss: float, probability: float | None, level: float
) -> tuple[float, Reach]:
    """The least budget whose best N and D reach ``loss``, and what is to be said of it."""
    check_positive("loss", loss)
    if not loss > planned.floor_low:
        raise InputError(
            "loss", loss, f"is below what the floor may be, {planned.floor_low:.4g}", "ask for a larger loss"
        )
    if planned.quantile is None:
        if probability is not None:
            raise InputError(
                "probability", probability, "needs a forecast of runs", "give a table, or leave it out"
            )
        budget = _first(planned, cost, loss, lambda N, D: float(planned.loss(N, D)))
        return budget, Reach(loss=loss, probability=None, cost=Interval(budget, budget, budget))
    chance = 0.5 if probability is None else probability
    if not 0.0 < chance < 1.0:
        raise InputError("probability", chance, "is not between 0 and 1", "choose for example 0.9")
    quantile = planned.quantile
    budget = _first(planned, cost, loss, lambda N, D: quantile(N, D, chance))
    return budget, Reach(loss=loss, probability=chance, cost=_interval(planned, cost, loss, budget, level))


def _first(planned: Planned, cost: Cost, loss: float, value: Any) -> float:
    """Bisection in ln C of the loss at the best place, which falls with the budget."""

    def above(log_C: float) -> bool:
        C = math.exp(log_C)
        try:
            best = planned.allocation(cost, C).best
        except InputError:  # the budget buys nothing that can be judged: too small
            return True
        return not value(best.N, best.D) <= loss

    start = math.log(planned.usual_budget or float(cost.compute(1e3, 1e3)))
    low = high = start
    step = math.log(10.0)
    while above(high):
        low, high = high, high + step
        if high > start + FARTHEST:
            raise InputError("loss", loss, "is reached by no budget in sight", "ask for a larger loss")
    while low == high or not above(low):
        if low < start - FARTHEST:
            raise InputError("loss", loss, "is reached by the smallest budget", "ask for a smaller loss")
        high, low = min(high, low), low - step
    while high - low > CLOSE:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if above(middle) else (low, middle)
    return math.exp(high)


def _interval(planned: Planned, cost: Cost, loss: float, budget: float, level: float) -> Interval:
    """Where draws of the frontier pass the loss."""
    assert planned.log_draws is not None
    logs, N, D = [], [], []
    for log_C in np.linspace(math.log(budget) - REACH, math.log(budget) + REACH, ALONG):
        try:
            best = planned.allocation(cost, math.exp(log_C)).best
        except InputError:
            continue
        logs.append(log_C)
        N.append(best.N)
        D.append(best.D)
    drawn = planned.log_draws(np.array(N), np.array(D))
    places = passes(np.full(len(drawn), math.log(loss)), drawn, np.array(logs))
    ends = np.quantile(places, [0.5 - 0.5 * level, 0.5, 0.5 + 0.5 * level], method="nearest")
    low, middle, high = (math.exp(end) if math.isfinite(end) else math.nan for end in ends)
    return Interval(low, middle, high)


def passes(values: FloatArray, curves: FloatArray, x: FloatArray) -> FloatArray:
    """(draws,): the x at which each of ``curves`` (draws, places), made falling, has its value.

    Minus infinity where it is lower from the start, infinity where it stays above.

    >>> B = np.array([[3.0, 2.5, 1.5], [3.0, 2.5, 1.5]])
    >>> passes(np.array([2.0, 9.0]), B, np.array([-1.0, 0.0, 1.0]))
    array([ 0.5, -inf])
    """
    falling = np.minimum.accumulate(curves, axis=1)
    tilt = 1e-12 * np.arange(curves.shape[1])[::-1]  # np.interp wants it strictly rising
    return np.array(
        [
            np.interp(-value, -(curve + tilt), x, left=-np.inf, right=np.inf)
            for value, curve in zip(values, falling, strict=True)
        ]
    )
