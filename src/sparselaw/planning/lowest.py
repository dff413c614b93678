"""The lowest place of a bracket by polynomials, where a value takes long; ``search.golden`` only compares."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.search import chebyshev_places, golden, interpolate

PLACES = 7  # values through which a polynomial goes
SHRINK = 0.05  # half width of the next bracket, relative to the last
ROUNDS = 2
MOVES = 12  # of a bracket whose lowest place is its end
FEW_PLACES = 4  # values of a dear loss at first, and through which a polynomial goes
ROUGH_PLACES = 9  # values of the rough loss through which a polynomial stands for it in a bracket
FINE_GRID = 81  # places of a bracket at which that polynomial is looked at
MOST_VALUES = 9  # of the dear loss in one bracket
CLOSE = 0.02  # distance from a known value, in brackets, at which the search ends


def narrowed(
    f: Callable[[FloatArray], FloatArray], low: FloatArray, high: FloatArray, ends: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    """For a smooth positive f: the lowest place of a polynomial through seven values of log f.

    A bracket whose lowest place is its end moves there, no further than ``ends``. Where f is infinite in a
    bracket, golden section takes over.
    """
    return _in_each(f, low, high, 24, lambda a, b: _narrow(f, a, b, ends))


def refined(
    f: Callable[[FloatArray], FloatArray],
    rough: Callable[[FloatArray], FloatArray],
    low: FloatArray,
    high: FloatArray,
    ends: tuple[float, float],
) -> tuple[FloatArray, FloatArray]:
    """The same for a dear f with a quick ``rough`` near it: polynomials through a few log(f/rough)."""
    return _in_each(f, low, high, 12, lambda a, b: _refine(f, rough, a, b, ends))


def _in_each(
    f: Callable[[FloatArray], FloatArray],
    low: FloatArray,
    high: FloatArray,
    steps: int,
    search: Callable[[float, float], tuple[float, float] | None],
) -> tuple[FloatArray, FloatArray]:
    """What ``search`` finds in each bracket, and golden section where it finds nothing."""
    x, value = np.empty(low.size), np.empty(low.size)
    for i in range(low.size):
        found = search(float(low[i]), float(high[i]))
        if found is None:
            section = golden(f, low[i : i + 1], high[i : i + 1], steps)
            found = float(section[0][0]), float(section[1][0])
        x[i], value[i] = found
    return x, value


def _refine(
    f: Callable[[FloatArray], FloatArray],
    rough: Callable[[FloatArray], FloatArray],
    low: float,
    high: float,
    ends: tuple[float, float],
) -> tuple[float, float] | None:
    """Values of f at all places so far count: four at first, then one where each guess is lowest."""
    places = chebyshev_places(low, high, FEW_PLACES)
    known = dict(zip(places.tolist(), f(places).tolist(), strict=True))
    drawn: tuple[FloatArray, FloatArray] | None = None
    for _ in range(MOVES):
        values = np.array(list(known.values()))
        if not (np.isfinite(values).all() and (values > 0.0).all()):
            return None
        at = np.array(list(known))
        near = _apart(at, float(at[np.argmin(values)]), CLOSE * (high - low))
        start, stop = max(low, ends[0]), min(high, ends[1])
        grid = np.linspace(start, stop, FINE_GRID)
        with np.errstate(all="ignore"):
            if drawn is None or start < drawn[0][0] or stop > drawn[0][-1]:
                first, last = min(start, at[near].min()), max(stop, at[near].max())
                places = chebyshev_places(float(first), float(last), ROUGH_PLACES)
                drawn = places, np.log(rough(places))
            ratio = np.log(values[near]) - interpolate(*drawn, at[near])
            through = np.polynomial.Polynomial.fit(at[near], ratio, len(near) - 1)
            guess = interpolate(*drawn, grid) + through(grid)
        if not (np.isfinite(ratio).all() and np.isfinite(guess).any()):
            return None
        i = int(np.nanargmin(guess))
        x, width = float(grid[i]), high - low
        if i in (0, FINE_GRID - 1) and ends[0] < x < ends[1]:
            low, high = x - width, x + width
            fresh = [low if i == 0 else high]
        elif min(abs(x - a) for a in known) < min(CLOSE * width, 0.01) or len(known) >= MOST_VALUES:
            best = min(known, key=known.__getitem__)
            return best, known[best]
        else:
            x = _parabola(grid, guess, i)
            low, high = x - 0.25 * width, x + 0.25 * width
            fresh = [x]
        fresh = [min(max(place, ends[0]), ends[1]) for place in fresh]
        known |= dict(zip(fresh, f(np.array(fresh)).tolist(), strict=True))
    best = min(known, key=known.__getitem__)
    return best, known[best]


def _apart(places: FloatArray, centre: float, least: float) -> list[int]:
    """Which places are nearest to the centre, no two of them closer than ``least``."""
    kept: list[int] = []
    for i in np.argsort(np.abs(places - centre)):
        if len(kept) < FEW_PLACES and all(abs(places[i] - places[j]) >= least for j in kept):
            kept.append(int(i))
    return kept


def _parabola(grid: FloatArray, values: FloatArray, i: int) -> float:
    """The lowest place of a parabola through the grid's lowest value and its neighbours."""
    if not 0 < i < grid.size - 1:
        return float(grid[i])
    before, here, after = values[i - 1 : i + 2]
    bend = before - 2.0 * here + after
    shift = 0.5 * (before - after) / bend if np.isfinite(bend) and bend > 0.0 else 0.0
    return float(grid[i] + shift * (grid[1] - grid[0]))


def _narrow(
    f: Callable[[FloatArray], FloatArray], low: float, high: float, ends: tuple[float, float]
) -> tuple[float, float] | None:
    done, best = 0, (low, np.inf)
    for _ in range(MOVES):
        places = chebyshev_places(low, high, PLACES)
        values = f(places)
        if not (np.isfinite(values).all() and (values > 0.0).all()):
            return None
        i = int(np.argmin(values))
        if values[i] < best[1]:
            best = float(places[i]), float(values[i])
        at_end = i in (0, PLACES - 1)
        if at_end and ends[0] < places[i] < ends[1]:
            width = high - low
            low, high = max(places[i] - 0.5 * width, ends[0]), min(places[i] + 0.5 * width, ends[1])
            continue
        x = _lowest(places, np.log(values))
        done += 1
        width = high - low
        if done == ROUNDS:
            last = float(f(np.array([x]))[0])
            return (x, last) if last <= best[1] else best
        low, high = max(x - SHRINK * width, ends[0]), min(x + SHRINK * width, ends[1])
    return best


def _lowest(places: FloatArray, values: FloatArray) -> float:
    """Where the polynomial through these values is lowest: a root of its derivative, or an end."""
    through = np.polynomial.Chebyshev.fit(places, values, places.size - 1)
    turning = through.deriv().roots()
    inside = turning.real[
        (np.abs(turning.imag) < 1e-9) & (turning.real > places[0]) & (turning.real < places[-1])
    ]
    candidates = np.concatenate([inside, places[[0, -1]]])
    return float(candidates[np.argmin(through(candidates))])
