"""Functions with three derivatives along one variable: rows value, first, second, third."""

from __future__ import annotations

import numpy as np

from sparselaw.arrays import FloatArray


def times(a: FloatArray, b: FloatArray) -> FloatArray:
    """The product."""
    return np.stack(
        [
            a[0] * b[0],
            a[1] * b[0] + a[0] * b[1],
            a[2] * b[0] + 2.0 * a[1] * b[1] + a[0] * b[2],
            a[3] * b[0] + 3.0 * a[2] * b[1] + 3.0 * a[1] * b[2] + a[0] * b[3],
        ]
    )


def inverse(a: FloatArray) -> FloatArray:
    """One over it."""
    i0 = 1.0 / a[0]
    i1 = -a[1] * i0**2
    i2 = -(a[2] * i0 + 2.0 * a[1] * i1) * i0
    return np.stack([i0, i1, i2, -(a[3] * i0 + 3.0 * a[2] * i1 + 3.0 * a[1] * i2) * i0])


def log_slopes(a: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The three derivatives of its logarithm."""
    l1 = a[1] / a[0]
    l2 = a[2] / a[0] - l1**2
    return l1, l2, a[3] / a[0] - 3.0 * a[1] * a[2] / a[0] ** 2 + 2.0 * l1**3


def exponential(a: FloatArray) -> FloatArray:
    """e to its power."""
    d1, d2, d3 = a[1], a[2], a[3]
    return np.asarray(np.exp(a[0]) * np.stack([np.ones_like(d1), d1, d2 + d1**2, d3 + 3.0 * d1 * d2 + d1**3]))


def composed(a: FloatArray, x1: FloatArray, x2: FloatArray, x3: FloatArray) -> FloatArray:
    """As a function of x, where x has these derivatives along the variable."""
    y1 = 1.0 / x1
    y2, y3 = -x2 * y1**3, (3.0 * x2**2 - x1 * x3) * y1**5
    third = a[3] * y1**3 + 3.0 * a[2] * y1 * y2 + a[1] * y3
    return np.stack([a[0], a[1] * y1, a[2] * y1**2 + a[1] * y2, third])
