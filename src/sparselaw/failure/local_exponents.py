"""How fast the failure probability falls with D: between neighbours, and over a whole range."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.failure.failure_point import FailurePoint
from sparselaw.interval import Z95, Interval
from sparselaw.log_slope import log_slope
from sparselaw.plain import put


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalExponent:
    """-d log P / d log D between two neighbouring D; None where a probability or its lower end is zero."""

    D_low: int
    D_high: int
    exponent: Interval | None

    def as_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        result: dict[str, Any] = {"D_low": self.D_low, "D_high": self.D_high}
        put(result, "exponent", self.exponent, "a probability may be zero: no failure was seen")
        return result


def local_exponents(points: Sequence[FailurePoint]) -> list[LocalExponent]:
    """The points are independent: the ends of their intervals add in squares, each on its own side."""
    ordered = sorted(points, key=lambda point: point.D)
    return [_between(a, b) for a, b in itertools.pairwise(ordered) if a.D < b.D]


def _between(a: FailurePoint, b: FailurePoint) -> LocalExponent:
    low, high = a.probability, b.probability
    if min(low.low, high.low) <= 0.0:
        return LocalExponent(D_low=a.D, D_high=b.D, exponent=None)
    step = math.log(b.D / a.D)
    best = math.log(low.best / high.best) / step
    down = math.hypot(math.log(low.best / low.low), math.log(high.high / high.best)) / step
    up = math.hypot(math.log(low.high / low.best), math.log(high.best / high.low)) / step
    return LocalExponent(D_low=a.D, D_high=b.D, exponent=Interval(best - down, best, best + up))


def fitted_exponent(points: Sequence[FailurePoint]) -> Interval | None:
    """The exponent of one power law through all points, weighted by their intervals in log P.

    None with fewer than two usable points, or where a point is known exactly and needs no fit.
    """
    usable = [p for p in points if p.probability.low > 0.0 and p.probability.high > p.probability.low]
    if len({p.D for p in usable}) < 2:
        return None
    deviation = np.log([p.probability.high / p.probability.low for p in usable]) / (2.0 * Z95)
    slope, spread = log_slope([p.D for p in usable], [p.probability.best for p in usable], deviation**-2.0)
    best = -slope
    half = Z95 / math.sqrt(spread)
    return Interval(best - half, best, best + half)
