"""Levenberg-Marquardt: the smallest sum of squares |z(theta)|^2, z with its slopes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray

Residuals = Callable[[FloatArray], tuple[FloatArray, FloatArray]]  # theta -> z (m,), dz/dtheta (m, p)
ATTEMPTS = 12
LONGEST = 2.0  # of a step, in any parameter: all are logarithms


class Found(NamedTuple):
    theta: FloatArray
    value: float
    converged: bool


def marquardt(residuals: Residuals, theta: FloatArray, steps: int = 100, tolerance: float = 1e-9) -> Found:
    """Stops when a full step no longer lowers the sum by more than ``tolerance`` of it."""
    z, slopes = residuals(theta)
    value = float(z @ z)
    damping = 1e-3
    for _ in range(steps):
        square, gradient = slopes.T @ slopes, slopes.T @ z
        size = np.maximum(np.diag(square), 1e-12 * square.trace())
        for _attempt in range(ATTEMPTS):
            step = -np.linalg.solve(square + damping * np.diag(size), gradient)
            step *= min(1.0, LONGEST / float(np.abs(step).max(initial=1e-300)))
            new_z, new_slopes = residuals(theta + step)
            with np.errstate(all="ignore"):
                new = float(new_z @ new_z)
            if np.isfinite(new) and np.isfinite(new_slopes).all() and new <= value:
                break
            damping = max(10.0 * damping, 1e-8)
        else:
            # Nothing nearby is lower: a minimum to rounding, if the promised gain is nothing.
            gain = float(gradient @ np.linalg.lstsq(square, gradient)[0])
            return Found(theta, value, gain <= 1e-6 * max(value, 1e-12))
        gained, length = value - new, float(np.abs(step).max())
        theta, z, slopes, value = theta + step, new_z, new_slopes, new
        small_damping = damping <= 1e-2
        damping *= 0.1
        if small_damping and gained <= tolerance * value and length < 1e-3:
            return Found(theta, value, True)
    return Found(theta, value, False)
