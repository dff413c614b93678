"""Many roots of one monotone function at once: the vectorised twin of ``roots``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sparselaw.arrays import FloatArray

CLOSE = 1e-6  # a Newton step of this size leaves an error of about its square
ROUNDS = 200


def solve_decreasing_many(
    function: Callable[[FloatArray], tuple[FloatArray, FloatArray]], target: FloatArray, start: FloatArray
) -> FloatArray:
    """The x with value(x) = target, each from its own start; ``function`` gives values and slopes.

    Newton steps on log(value), as in ``solve_decreasing``: limited by a stride that doubles until the root
    is bracketed, then kept within the bracket.
    """
    x, log_target = start.astype(float), np.log(target)
    low, high = np.full(x.size, -np.inf), np.full(x.size, np.inf)
    going, stride = np.arange(x.size), 1.0
    for _ in range(ROUNDS):
        if not going.size:
            break
        here = x[going]
        with np.errstate(all="ignore"):
            value, slope = function(here)
            gap = np.where(value > 0.0, np.log(np.maximum(value, 1e-300)), -np.inf) - log_target[going]
            step = np.where((slope < 0.0) & np.isfinite(gap), -gap * value / slope, np.inf * np.sign(gap))
        step[np.isnan(step)] = 0.0
        low[going] = np.where(gap > 0.0, here, low[going])
        high[going] = np.where(gap > 0.0, high[going], here)
        a, b = low[going], high[going]
        open_ended = np.isinf(b - a)
        step = np.where(open_ended, np.clip(step, -stride, stride), step)
        outside = ~open_ended & ~((here + step > a) & (here + step < b)) & (gap != 0.0)
        step = np.where(outside, 0.5 * (a + b) - here, step)
        x[going] = here + step
        done = np.abs(step) <= CLOSE * np.maximum(1.0, np.abs(here))
        done |= ~open_ended & (b - a <= 4e-16 * np.maximum(1.0, np.abs(here)))
        going = going[~done]
        stride *= 2.0
    return x
