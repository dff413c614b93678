"""Newton's method with a bracket, for monotone functions of the logarithm of a positive unknown."""

from __future__ import annotations

import math
from collections.abc import Callable


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
