"""The N and D that make a loss smallest on the curve C(N, D) = budget.

The loss along the curve may have two valleys with a double-descent peak between them, where it is infinite.
So the whole curve is scanned on a log grid first, closely on both sides of the peak; every valley of the scan
is then narrowed by golden section, which only compares and so does not mind an infinite wall. Where a value
takes long, polynomials through few of them narrow it. N and D are real numbers: nothing is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.costs import Cost
from sparselaw.errors import InputError, check_finite
from sparselaw.search import chebyshev_places, crossing, golden, interpolate

Loss = Callable[[Any, Any], Any]
Curve = Callable[[FloatArray], FloatArray]  # of log N along a budget

GRID = 241
AROUND_PEAK = np.geomspace(1e-3, 2.0, 18)  # distances from the peak in log N that are always looked at
STEPS = 24  # of golden section in a bracket with a wall
# Values through which a polynomial goes; how far apart they lie, and half the width of the next bracket, both
# in brackets; how near to a known value, in log N, the search ends.
OF_LOSS, OF_RATIO = (7, 0.005, 0.05, 2e-6), (4, 0.02, 0.25, 0.01)
ROUGH_PLACES = 9  # values of the rough loss through which a polynomial stands for it in a bracket
FINE_GRID = 81  # places of a bracket at which the polynomial is looked at
MOVES = 12  # of a bracket


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """The double-descent peak stands at N = threshold(D); ``name`` is K or D."""

    threshold: Callable[[float], float]
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
    rough: Loss | None = None,
) -> Allocation:
    """Minimises ``loss(N, D)``, a function of arrays, along the budget curve.

    Where a value takes long, ``rough`` is given, a quick loss within a few per cent of it or the loss itself:
    the curve is scanned by that, and polynomials through few values narrow each valley.
    """
    edge = log_sizes(cost, budget, grid)
    ends = float(edge[0]), float(edge[-1])
    log_N = edge
    wall = None if peak is None else peak_place(cost, budget, peak, edge)
    if wall is not None:
        log_N = np.unique(np.concatenate([edge, wall - AROUND_PEAK, wall + AROUND_PEAK]))
        log_N = log_N[(log_N >= ends[0]) & (log_N <= ends[1])]
        log_N = log_N[np.abs(log_N - wall) >= AROUND_PEAK[0] / 2]

    def along(x: FloatArray, surface: Loss = loss) -> FloatArray:
        N = np.exp(x)
        values = np.asarray(surface(N, cost.data_for(N, budget)), dtype=np.float64)
        return np.where(np.isnan(values), np.inf, values)

    values = along(log_N, loss if rough is None else rough)
    if not np.isfinite(values).any():
        raise InputError("budget", budget, "every allocation has an infinite loss", "choose a larger budget")
    before, after = np.append(np.inf, values[:-1]), np.append(values[1:], np.inf)
    places = np.flatnonzero(np.isfinite(values) & (values < before) & (values <= after))
    low, high = log_N[np.maximum(places - 1, 0)], log_N[np.minimum(places + 1, log_N.size - 1)]
    if rough is None:
        x, found = golden(along, low, high)
        better = found < values[places]
        x, found = np.where(better, x, log_N[places]), np.where(better, found, values[places])
    else:
        beside = None if rough is loss else lambda places: along(places, rough)
        each = [narrowed(along, float(a), float(b), ends, beside) for a, b in zip(low, high, strict=True)]
        x, found = np.array(each).T
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
    N = np.exp(x[order])
    valleys = [
        Valley(
            N=float(n),
            D=float(d),
            loss=float(value),
            side=None if peak is None else f"N{'<' if n < peak.threshold(float(d)) else '>'}{peak.name}",
            at_edge=bool(min(place - ends[0], ends[1] - place) < 1e-6),
        )
        for place, n, d, value in zip(x[order], N, cost.data_for(N, budget), found[order], strict=True)
    ]
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
        return x - math.log(peak.threshold(float(cost.data_for(math.exp(x), budget))))

    return crossing(above, float(edge[0]), float(edge[-1]))


def narrowed(
    f: Curve, low: float, high: float, ends: tuple[float, float], rough: Curve | None = None
) -> tuple[float, float]:
    """The lowest place of a smooth positive f near a bracket and its value, from few values of f.

    All values so far count: a few at first, then one wherever the polynomial through the nearest of them is
    lowest. With a quick ``rough`` near f it goes through log(f/rough), and fewer will do. A bracket whose
    lowest place is its end moves there, no further than ``ends``. Where f is infinite in a bracket, golden
    section takes over.
    """
    first, apart, shrink, close = OF_LOSS if rough is None else OF_RATIO
    fresh = chebyshev_places(low, high, first)
    known: dict[float, float] = {}
    drawn: tuple[FloatArray, FloatArray] | None = None
    for _ in range(MOVES):
        known |= dict(zip(fresh.tolist(), f(fresh).tolist(), strict=True))
        at, values = np.array(list(known)), np.array(list(known.values()))
        best = float(at[np.argmin(values)])
        width, start, stop = high - low, max(low, ends[0]), min(high, ends[1])
        near: list[int] = []
        for i in np.argsort(np.abs(at - best)):  # the nearest, no two of them too close
            if len(near) < first and all(abs(at[i] - at[j]) >= apart * width for j in near):
                near.append(int(i))
        grid = np.linspace(start, stop, FINE_GRID)
        with np.errstate(all="ignore"):
            ratio, guess = np.log(values[near]), np.zeros(FINE_GRID)
            if rough is not None:
                if drawn is None or start < drawn[0][0] or stop > drawn[0][-1]:
                    places = chebyshev_places(
                        min(start, float(at[near].min())), max(stop, float(at[near].max())), ROUGH_PLACES
                    )
                    drawn = places, np.log(rough(places))
                ratio, guess = ratio - interpolate(*drawn, at[near]), interpolate(*drawn, grid)
            if not np.isfinite(ratio).all():
                break
            guess = guess + interpolate(at[near], ratio, grid)
        if not np.isfinite(guess).any():
            break
        i = int(np.nanargmin(guess))
        x = float(grid[i])
        if i in (0, FINE_GRID - 1) and ends[0] < x < ends[1]:
            low, high = x - width, x + width
            fresh = np.clip([low if i == 0 else high], *ends)
            continue
        if 0 < i < FINE_GRID - 1:
            left, middle, right = guess[i - 1 : i + 2]
            bend = left - 2.0 * middle + right
            x += float(0.5 * (left - right) / bend * (grid[1] - grid[0])) if bend > 0.0 else 0.0
        if np.abs(at - x).min() < min(0.02 * width, close):
            break
        low, high = x - shrink * width, x + shrink * width
        fresh = np.array([min(max(x, ends[0]), ends[1])])
    if not all(0.0 < value < np.inf for value in known.values()):
        section = golden(f, np.array([low]), np.array([high]), STEPS)
        return float(section[0][0]), float(section[1][0])
    return best, known[best]
