"""Minima and roots of functions of one variable, polynomials through a few of their values, and where curves
pass a value.

scipy has the same for one scalar at a time, at 60 ms of start-up; here many brackets are searched side by
side.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sparselaw.arrays import FloatArray

GOLDEN = (5.0**0.5 - 1.0) / 2.0
SAME_PLACE = 1e-10  # of a crossing
GOLDEN_STEPS = 40  # each shrinks the bracket by 0.618; the loss is flat to rounding before the last


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


def chebyshev_places(low: float, high: float, count: int) -> FloatArray:
    """Chebyshev's points of the second kind on [low, high], rising."""
    return np.asarray(
        0.5 * (low + high) - 0.5 * (high - low) * np.cos(np.pi * np.arange(count) / (count - 1))
    )


def interpolate(places: FloatArray, values: FloatArray, x: FloatArray) -> FloatArray:
    """The polynomial through (places, values) at x, in Chebyshev's basis."""
    low, high = float(places.min()), float(places.max())
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    degree = places.size - 1
    basis = np.polynomial.chebyshev.chebvander((places - middle) / half, degree)
    coefficients = np.linalg.solve(basis, values)
    return np.asarray(np.polynomial.chebyshev.chebvander((x - middle) / half, degree) @ coefficients)


def crossing(f: Callable[[float], float], low: float, high: float) -> float | None:
    """Where a rising function crosses zero, or None where it does not: false position, by Illinois.

    >>> round(crossing(lambda x: x**3 - 2.0, 0.0, 2.0) ** 3, 9)
    2.0
    """
    f_low, f_high = f(low), f(high)
    if not f_low < 0.0 <= f_high:
        return None
    side = 0
    for _ in range(100):
        x = (low * f_high - high * f_low) / (f_high - f_low)
        value = f(x)
        if min(high - low, abs(value)) < SAME_PLACE * max(abs(high), 1.0):
            break
        if value < 0.0:
            low, f_low, f_high = x, value, f_high * (0.5 if side < 0 else 1.0)
            side = -1
        else:
            high, f_high, f_low = x, value, f_low * (0.5 if side > 0 else 1.0)
            side = 1
    return x


def solve_decreasing(function: Callable[[float], tuple[float, float]], target: float, start: float) -> float:
    """The x with value(x) = target, for a positive decreasing value; ``function`` gives (value, slope).

    Newton steps on log(value). Until the root is bracketed they are no longer than a stride that doubles;
    afterwards a step that leaves the bracket, or shrinks it too slowly, is replaced by its middle. So a bad
    start costs a few evaluations and never a wrong root.
    """
    low, high, x, stride, width = -math.inf, math.inf, start, 1.0, math.inf
    log_target = math.log(target)
    for _ in range(300):
        value, slope = function(x)
        gap = math.log(value) - log_target if value > 0.0 else -math.inf
        step = -gap * value / slope if slope < 0.0 and math.isfinite(gap) else math.copysign(math.inf, gap)
        if abs(step) <= 1e-14 * max(1.0, abs(x)) or abs(gap) < 1e-15:
            return x
        low, high = (x, high) if gap > 0.0 else (low, x)
        if math.isinf(high - low):
            step = max(-stride, min(stride, step))
            stride *= 2.0
        elif not low < x + step < high or high - low > 0.5 * width:
            step = 0.5 * (low + high) - x
        width = high - low
        if width <= 4e-16 * max(1.0, abs(x)):
            return x
        x += step
    return x


def passes(values: FloatArray, curves: FloatArray, x: FloatArray) -> FloatArray:
    """(draws,): the x at which each of ``curves`` (draws, places), made falling, has its value.

    Minus infinity where it is lower from the start, infinity where it stays above.

    >>> B = np.array([[3.0, 2.5, 1.5], [3.0, 2.5, 1.5]])
    >>> passes(np.array([2.0, 9.0]), B, np.array([-1.0, 0.0, 1.0]))
    array([ 0.5, -inf])
    """
    falling = np.minimum.accumulate(curves, axis=1)
    count = np.count_nonzero(falling > values[:, None], axis=1)  # places above the value
    row, right = np.arange(len(values)), np.clip(count, 1, len(x) - 1)
    above, below = falling[row, right - 1], falling[row, right]
    fall = above - below
    share = np.divide(above - values, fall, out=np.zeros_like(fall), where=fall > 0.0)
    inside = x[right - 1] + share * (x[right] - x[right - 1])
    found = np.where(count == len(x), np.inf, np.where(values > falling[:, 0], -np.inf, inside))
    return np.asarray(found)
