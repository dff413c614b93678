"""A power law's exponent from several independent seeds, with an interval that rests on their spread."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.interval import Interval, student_factor
from sparselaw.log_slope import log_slope


def exponent(sizes: Sequence[float], values: FloatArray) -> Interval:
    """The slope of log value against log size; ``values`` is (seeds, sizes).

    Each seed gives a slope of its own by least squares. They are independent and alike, so their mean has a
    Student interval, whatever the shape of the curve: it is the exponent over this range of sizes.
    """
    slopes, _ = log_slope(sizes, values)
    best = float(slopes.mean())
    if len(slopes) < 2:
        return Interval(float("-inf"), best, float("inf"))
    half = float(student_factor(len(slopes)) * slopes.std(ddof=1) / np.sqrt(len(slopes)))
    return Interval(best - half, best, best + half)
