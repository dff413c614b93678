r"""Covariances of what a law does not know, between points x = (ln N, ln D).

Wiggles: Matern 3/2, (1 + z) e^-z with z = sqrt(3) |x - x'| / length.

Drift: integrated Brownian motion away from the frontier, in ln N, in ln D and in ln ND, each measured from
there. Pinned at the frontier to value 0 and slope 0, and independent on either side,

    W(s, t) = a^3/3 + a^2 b/2 where s t > 0, else 0;   a = min(|s|, |t|), b = ||s| - |t||,
    W(s, s) = |s|^3 / 3.

Its slope is a Brownian motion: exponents wander, the further from the frontier the more.
"""

from __future__ import annotations

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.forecasting.settings import Settings


def matern(x: FloatArray, other: FloatArray, length: float) -> FloatArray:
    """(rows of x, rows of other).

    >>> matern(np.zeros((1, 2)), np.zeros((1, 2)), 4.0)
    array([[1.]])
    """
    apart = x[:, None, :] - other[None, :, :]
    z = np.sqrt(3.0) / length * np.sqrt(np.einsum("ijk,ijk->ij", apart, apart))
    return np.asarray((1.0 + z) * np.exp(-z))


def integrated_brownian(s: FloatArray, t: FloatArray) -> FloatArray:
    """W(s, t): (len(s), len(t)).

    >>> integrated_brownian(np.array([3.0, -3.0]), np.array([1.0]))
    array([[1.33333333],
           [0.        ]])
    """
    s, t = s[:, None], t[None, :]
    near, far = np.minimum(np.abs(s), np.abs(t)), np.maximum(np.abs(s), np.abs(t))
    return np.asarray(np.where(s * t > 0.0, near**2 * (3.0 * far - near) / 6.0, 0.0))


def drift(x: FloatArray, other: FloatArray, settings: Settings) -> FloatArray:
    """For k s0 = 1; ``x`` and ``other`` measured from the frontier."""
    of_sizes = sum(integrated_brownian(x[:, i], other[:, i]) for i in (0, 1))
    of_compute = integrated_brownian(x.sum(axis=1), other.sum(axis=1))
    return np.asarray(settings.drift_of_sizes**2 * of_sizes + settings.drift_of_compute**2 * of_compute)


def drift_variance(x: FloatArray, settings: Settings) -> FloatArray:
    """The diagonal of ``drift(x, x)``."""
    of_sizes = np.sum(np.abs(x) ** 3, axis=1)
    of_compute = np.abs(x.sum(axis=1)) ** 3
    return np.asarray(
        (settings.drift_of_sizes**2 * of_sizes + settings.drift_of_compute**2 * of_compute) / 3.0
    )
