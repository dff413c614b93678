"""Newton's method with a bracket, for monotone functions of the logarithm of a positive unknown."""

from __future__ import annotations

import math
from collections.abc import Callable


def solve_decreasing(function: Callable[[float], tuple[float, float]], target: float, start: float) -> float:
    """The x with value(x) = target, for a positive decreasing value; ``function`` gives (value, slope).

    Newton steps on log(value), kept inside a bracket that grows by doubling and shrinks by halving, so
    that a bad start costs a few evaluations and never a wrong root.
    """
    low, high, x, stride = -math.inf, math.inf, start, 1.0
    log_target = math.log(target)
    for _ in range(200):
        value, slope = function(x)
        gap = math.log(value) - log_target if value > 0.0 else -math.inf
        step = -gap * value / slope if slope < 0.0 and math.isfinite(gap) else math.nan
        if gap == 0.0 or abs(step) <= 1e-14 * max(1.0, abs(x)) or abs(gap) < 1e-15:
            return x
        low, high = (x, high) if gap > 0.0 else (low, x)
        following = x + step
        if not low < following < high:
            if math.isinf(low) or math.isinf(high):
                following = x + math.copysign(stride, gap)
                stride *= 2.0
            else:
                following = 0.5 * (low + high)
        if high - low <= 4e-16 * max(1.0, abs(x)):
            return x
        x = following
    return x
