"""Levenberg-Marquardt: the smallest sum of squares |z(theta)|^2, z with its slopes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray

Residuals = Callable[[FloatArray], tuple[FloatArray, FloatArray]]  # theta -> z (m,), dz/dtheta (m, p)
STEPS, ATTEMPTS = 300, 12
LONGEST = 2.0  # of a step, in any parameter: all are logarithms
CLOSE = 1e-3  # of the decrement: the minimum is nearer than a thirtieth of a standard deviation


class Found(NamedTuple):
    theta: FloatArray
    value: float
    converged: bool


def marquardt(residuals: Residuals, theta: FloatArray, steps: int = STEPS, tolerance: float = 1e-9) -> Found:
    """Stops when the decrement g^T H^-1 g falls below ``tolerance``: what a full step promises to gain.

    z is in units of its standard deviation, so the root of the decrement is the distance from the minimum in
    standard deviations of theta.
    """
    z, slopes = residuals(theta)
    value, damping, decrement = float(z @ z), 1e-3, np.inf
    for _ in range(steps):
        square, gradient = slopes.T @ slopes, slopes.T @ z
        size = np.maximum(np.diag(square), 1e-12 * square.trace())
        decrement = float(gradient @ np.linalg.solve(square + 1e-12 * np.diag(size), gradient))
        if decrement <= tolerance:
            break
        for _attempt in range(ATTEMPTS):
            step = -np.linalg.solve(square + damping * np.diag(size), gradient)
            step *= min(1.0, LONGEST / float(np.abs(step).max(initial=1e-300)))
            new_z, new_slopes = residuals(theta + step)
            with np.errstate(all="ignore"):
                new = float(new_z @ new_z)
            if np.isfinite(new) and np.isfinite(new_slopes).all() and new <= value:
                break
            damping = max(10.0 * damping, 1e-8)
        else:  # nothing nearby is lower: a minimum to rounding, or no minimum
            break
        theta, z, slopes, value = theta + step, new_z, new_slopes, new
        damping *= 0.1
    return Found(theta, value, decrement <= CLOSE)
