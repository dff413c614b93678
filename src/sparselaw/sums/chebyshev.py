"""Smooth functions from a few values: polynomials through places near Chebyshev's."""

from __future__ import annotations

import numpy as np

from sparselaw.arrays import FloatArray


def chebyshev_places(low: float, high: float, count: int) -> FloatArray:
    """Chebyshev's points of the second kind on [low, high], rising."""
    return np.asarray(
        0.5 * (low + high) - 0.5 * (high - low) * np.cos(np.pi * np.arange(count) / (count - 1))
    )


def interpolate(places: FloatArray, values: FloatArray, x: FloatArray) -> FloatArray:
    """The polynomial through (places, values) at x, in Chebyshev's basis."""
    low, high = float(places.min()), float(places.max())
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    degree = places.size - 1
    basis = np.polynomial.chebyshev.chebvander((places - middle) / half, degree)
    coefficients = np.linalg.solve(basis, values)
    return np.asarray(np.polynomial.chebyshev.chebvander((x - middle) / half, degree) @ coefficients)
