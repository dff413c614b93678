"""The lowest place of a bracket: by comparing values, or by polynomials where a value is dear."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.sums.chebyshev import chebyshev_places

GOLDEN = (5.0**0.5 - 1.0) / 2.0
GOLDEN_STEPS = 40  # each shrinks the bracket by 0.618; the loss is flat to rounding before the last
PLACES = 7  # values through which a polynomial goes
SHRINK = 0.05  # half width of the next bracket, relative to the last
ROUNDS = 2
MOVES = 12  # of a bracket whose lowest place is its end


def golden(
    f: Callable[[FloatArray], FloatArray], low: FloatArray, high: FloatArray, steps: int = GOLDEN_STEPS
) -> tuple[FloatArray, FloatArray]:
    """Golden-section search in many brackets at once; f maps an array to an array."""
    a, b = low.astype(np.float64), high.astype(np.float64)
    c, d = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
    fc, fd = f(c), f(d)
    for _ in range(steps):
        left = fc < fd
        a, b = np.where(left, a, c), np.where(left, d, b)
        c, d = np.where(left, b - GOLDEN * (b - a), d), np.where(left, c, a + GOLDEN * (b - a))
        fresh = f(np.where(left, c, d))
        fc, fd = np.where(left, fresh, fd), np.where(left, fc, fresh)
    lower = fc < fd
    return np.where(lower, c, d), np.where(lower, fc, fd)


def narrowed(
    f: Callable[[FloatArray], FloatArray], low: FloatArray, high: FloatArray, ends: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    """The same for a smooth positive f: the lowest place of a polynomial through seven values of log f.

    A bracket whose lowest place is its end moves there, no further than ``ends``. Where f is infinite in a
    bracket, golden section takes over.
    """
    x, value = np.empty(low.size), np.empty(low.size)
    for i in range(low.size):
        found = _narrow(f, float(low[i]), float(high[i]), ends)
        if found is None:
            section = golden(f, low[i : i + 1], high[i : i + 1], 24)
            found = float(section[0][0]), float(section[1][0])
        x[i], value[i] = found
    return x, value


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
