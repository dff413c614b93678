"""Derivatives of a function known at a few places."""

from __future__ import annotations

import math

import numpy as np

from sparselaw.arrays import FloatArray


def derivative_weights(places: FloatArray, x: float, orders: int = 4) -> FloatArray:
    """Rows m: the weights with which values at the places give the m-th derivative at x (polynomial)."""
    powers = np.vander(places - x, increasing=True)
    inverse = np.linalg.inv(powers)
    return np.stack([math.factorial(m) * inverse[m] for m in range(orders)])
