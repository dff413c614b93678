"""The N and D that make a loss smallest on the curve C(N, D) = budget.

The loss along the curve may have two valleys with a double-descent peak between them, where it is infinite.
So the whole curve is scanned on a log grid first, closely on both sides of the peak; every valley of the scan
is then narrowed by golden section, which only compares and so does not mind an infinite wall, or by
polynomials (``lowest``). N and D are real numbers: nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.costs import Cost
from sparselaw.errors import InputError, check_finite
from sparselaw.planning.lowest import narrowed, refined
from sparselaw.search import GOLDEN_STEPS, golden

Loss = Callable[[Any, Any], Any]
Threshold = Callable[[float], float]

GRID = 241
MOST_SECANTS = 200  # on the way to the peak: a fourth of them halve the bracket
AROUND_PEAK = np.geomspace(1e-3, 2.0, 18)  # distances from the peak in log N that are always looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """The double-descent peak stands at N = threshold(D); ``name`` is K or D."""

    threshold: Threshold
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Valley:
    """A local best along the budget curve."""

    N: float
    D: float
    loss: float
    side: str | None  # which side of the peak ("N<K" or "N>K"), where there is one
    at_edge: bool  # the loss still falls where the curve ends, at N = 1 or D = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """The best spending of a budget; ``others`` are the worse valleys, best first."""

    best: Valley
    others: tuple[Valley, ...]


def allocate(
    loss: Loss,
    cost: Cost,
    budget: float,
    *,
    peak: Peak | None = None,
    grid: int = GRID,
    steps: int = GOLDEN_STEPS,
    rough: Loss | None = None,
    costly: bool = False,
) -> Allocation:
    """Minimises ``loss(N, D)``, a function of arrays, along the budget curve.

    Where ``rough`` is given, a quick loss within a few per cent of it, the curve is scanned by that, and each
    valley is narrowed by polynomials through few values of the loss itself, or of its ratio to the rough one
    where a value is ``costly``.
    """
    edge = log_sizes(cost, budget, grid)
    log_N = edge if peak is None else _around(edge, peak_place(cost, budget, peak, edge))

    def along(x: FloatArray, surface: Loss = loss) -> FloatArray:
        N = np.exp(x)
        values = np.asarray(surface(N, cost.data_for(N, budget)), dtype=np.float64)
        return np.where(np.isnan(values), np.inf, values)

    values = along(log_N, loss if rough is None else rough)
    if not np.isfinite(values).any():
        raise InputError("budget", budget, "every allocation has an infinite loss", "choose a larger budget")
    places = _valleys(values)
    low, high = log_N[np.maximum(places - 1, 0)], log_N[np.minimum(places + 1, log_N.size - 1)]
    if rough is None:
        x, found = golden(along, low, high, steps)
        better = found < values[places]
        x, found = np.where(better, x, log_N[places]), np.where(better, found, values[places])
    elif costly:
        ends = float(edge[0]), float(edge[-1])
        x, found = refined(along, lambda places: along(places, rough), low, high, ends)
    else:
        x, found = narrowed(along, low, high, (float(edge[0]), float(edge[-1])))
    if not np.isfinite(found).all():  # the rough loss led onto the wall: then the loss itself on the grid
        exact = along(log_N)
        lowest = int(np.argmin(exact))
        x, found = np.append(x, log_N[lowest]), np.append(found, exact[lowest])
        x, found = x[np.isfinite(found)], found[np.isfinite(found)]
        if not found.size:
            raise InputError(
                "budget", budget, "every allocation has an infinite loss", "choose another budget"
            )
    with np.errstate(divide="ignore"):  # equal but for rounding: the smaller model first
        order = np.lexsort((x, np.round(np.log(found), 9)))
    valleys = [_valley(float(x[i]), float(found[i]), cost, budget, edge, peak) for i in order]
    return Allocation(best=valleys[0], others=tuple(valleys[1:]))


def log_sizes(cost: Cost, budget: float, count: int) -> FloatArray:
    """log N over the part of the curve with N >= 1 and D >= 1, evenly spaced."""
    if check_finite("budget", budget) <= 0.0:
        raise InputError("budget", budget, "must be positive", "choose budget > 0")
    least = float(cost.compute(1.0, 1.0))
    if budget < least:
        raise InputError("budget", budget, "does not buy N = 1 and D = 1", f"choose budget >= {least:g}")
    return np.linspace(0.0, max(cost.log_largest_N(budget), 1e-9), count)


def peak_place(cost: Cost, budget: float, peak: Peak, edge: FloatArray) -> float | None:
    """log N of the peak on the curve: N rises along it while the threshold falls, so they cross once."""

    def above(x: float) -> float:
        N = float(np.exp(x))
        return x - float(np.log(peak.threshold(float(cost.data_for(N, budget)))))

    low, high = float(edge[0]), float(edge[-1])
    at_low, at_high = above(low), above(high)
    if not at_low < 0.0 <= at_high:
        return None
    # By hand: scipy.optimize takes several times as long to import. Secants between the ends, of which one
    # that stays counts half (Illinois); every fourth time the bracket is halved. The slope is at least one.
    side = 0
    for i in range(MOST_SECANTS):
        halved = 0.5 * (low + high)
        middle = low + (high - low) * at_low / (at_low - at_high) if i % 4 != 3 else halved
        middle = middle if low < middle < high else halved
        here = above(middle)
        if abs(here) < 1e-10 * max(high, 1.0) or high - low < 1e-10 * max(high, 1.0):
            return middle
        if here < 0.0:
            low, at_low, at_high = middle, here, at_high * (0.5 if side == -1 else 1.0)
        else:
            high, at_high, at_low = middle, here, at_low * (0.5 if side == 1 else 1.0)
        side = -1 if here < 0.0 else 1
    return 0.5 * (low + high)


def _around(edge: FloatArray, wall: float | None) -> FloatArray:
    if wall is None:
        return edge
    merged: FloatArray = np.unique(np.concatenate([edge, wall - AROUND_PEAK, wall + AROUND_PEAK]))
    inside = (merged >= edge[0]) & (merged <= edge[-1])
    return np.asarray(merged[inside & (np.abs(merged - wall) >= AROUND_PEAK[0] / 2)])


def _valleys(values: FloatArray) -> np.ndarray:
    """Places below their left neighbour and not above their right one; a flat stretch counts once."""
    padded = np.concatenate([[np.inf], values, [np.inf]])
    left, middle, right = padded[:-2], padded[1:-1], padded[2:]
    return np.flatnonzero(np.isfinite(middle) & (middle < left) & (middle <= right))


def _valley(x: float, loss: float, cost: Cost, budget: float, edge: FloatArray, peak: Peak | None) -> Valley:
    N = float(np.exp(x))
    D = float(cost.data_for(N, budget))
    side = None if peak is None else f"N{'<' if N < peak.threshold(D) else '>'}{peak.name}"
    return Valley(N=N, D=D, loss=loss, side=side, at_edge=min(x - edge[0], edge[-1] - x) < 1e-6)
