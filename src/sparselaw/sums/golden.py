"""Golden-section search: the lowest place of a bracket, by comparing values alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sparselaw.arrays import FloatArray

GOLDEN = (5.0**0.5 - 1.0) / 2.0
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
