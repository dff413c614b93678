"""The N and D that make a loss smallest on the curve C(N, D) = budget.

The loss along the curve may have two valleys with a double-descent peak between them, where it is infinite. So
the whole curve is scanned on a log grid first; every valley of the grid is then narrowed by golden section,
which only compares and so does not mind an infinite wall. N and D are real numbers: nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sparselaw.errors import InputError, check_finite
from sparselaw.planning.costs import Cost

Loss = Callable[[Any, Any], Any]
Side = Literal["N<K", "N>K"]

GRID = 241
GOLDEN = (5.0**0.5 - 1.0) / 2.0
GOLDEN_STEPS = 60  # each shrinks the bracket by 0.618: to the rounding of the loss


@dataclass(frozen=True, slots=True, kw_only=True)
class Valley:
    """A local best along the budget curve."""

    N: float
    D: float
    loss: float
    side: Side | None  # which side of the double-descent peak, where there is one
    at_edge: bool  # the loss still falls where the curve ends, at N = 1 or D = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """The best spending of a budget; ``others`` are the worse valleys, best first."""

    N: float
    D: float
    loss: float
    side: Side | None
    at_edge: bool
    others: tuple[Valley, ...]


def allocate(
    loss: Loss,
    cost: Cost,
    budget: float,
    *,
    seen: Callable[[float], float] | None = None,
    vectorised: bool = True,
    grid: int = GRID,
) -> Allocation:
    """Minimises ``loss(N, D)``; ``seen`` is K(D), which tells the sides of the peak apart."""
    log_N = log_sizes(cost, budget, grid)

    def along(x: Any) -> Any:
        N = np.exp(x)
        D = cost.data_for(N, budget)
        if vectorised:
            return np.asarray(loss(N, D), dtype=np.float64)
        return np.array([float(loss(a, b)) for a, b in zip(np.atleast_1d(N), np.atleast_1d(D), strict=True)])

    values = along(log_N)
    values = np.where(np.isnan(values), np.inf, values)
    if not np.isfinite(values).any():
        raise InputError("budget", budget, "every allocation has an infinite loss", "choose a larger budget")
    valleys = [_valley(along, cost, budget, log_N, i, seen) for i in _valleys(values)]
    valleys = sorted((v for v in valleys if np.isfinite(v.loss)), key=lambda v: v.loss)
    best = valleys[0]
    return Allocation(
        N=best.N, D=best.D, loss=best.loss, side=best.side, at_edge=best.at_edge, others=tuple(valleys[1:])
    )


def log_sizes(cost: Cost, budget: float, count: int) -> np.ndarray:
    """log N over the part of the curve with N >= 1 and D >= 1, log-spaced."""
    if check_finite("budget", budget) <= 0.0:
        raise InputError("budget", budget, "must be positive", "choose budget > 0")
    least = float(cost.compute(1.0, 1.0))
    if budget < least:
        raise InputError("budget", budget, "does not buy N = 1 and D = 1", f"choose budget >= {least:g}")
    # D >= 1 on the cheapest monomial that still leaves one sample
    top = max((np.log(budget) - np.log(c)) / p for c, p, _ in cost.terms)
    return np.linspace(0.0, max(top, 1e-9), count)


def _valleys(values: np.ndarray) -> list[int]:
    """Grid points not above either neighbour; a flat stretch counts once."""
    padded = np.concatenate([[np.inf], values, [np.inf]])
    left, middle, right = padded[:-2], padded[1:-1], padded[2:]
    return [int(i) for i in np.flatnonzero(np.isfinite(middle) & (middle < left) & (middle <= right))]


def _valley(
    along: Callable[[Any], Any],
    cost: Cost,
    budget: float,
    log_N: np.ndarray,
    i: int,
    seen: Callable[[float], float] | None,
) -> Valley:
    low, high = log_N[max(i - 1, 0)], log_N[min(i + 1, log_N.size - 1)]
    x, value = golden(along, np.array([low]), np.array([high]))
    centre = float(along(np.array([log_N[i]]))[0])
    best_x, best = (float(x[0]), float(value[0])) if value[0] <= centre else (float(log_N[i]), centre)
    N = float(np.exp(best_x))
    D = float(cost.data_for(N, budget))
    side: Side | None = None if seen is None else "N<K" if N < seen(D) else "N>K"
    edge = best_x - log_N[0] < 1e-6 or log_N[-1] - best_x < 1e-6
    return Valley(N=N, D=D, loss=best, side=side, at_edge=bool(edge))


def golden(
    f: Callable[[Any], Any], low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Golden-section search in many brackets at once; f maps an array to an array."""
    a, b = low.astype(np.float64), high.astype(np.float64)
    c, d = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
    fc, fd = f(c), f(d)
    for _ in range(GOLDEN_STEPS):
        left = fc < fd
        a, b = np.where(left, a, c), np.where(left, d, b)
        c, d = np.where(left, b - GOLDEN * (b - a), d), np.where(left, c, a + GOLDEN * (b - a))
        fresh = f(np.where(left, c, d))
        fc, fd = np.where(left, fresh, fd), np.where(left, fc, fresh)
    lower = fc < fd
    return np.where(lower, c, d), np.where(lower, fc, fd)
