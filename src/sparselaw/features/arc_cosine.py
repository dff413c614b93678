"""The arc-cosine kernel of degree one, compiled; apart so that the features can be listed without numba."""

from __future__ import annotations

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.compiled import njit


def arc_cosine(covariance: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """left right (sin f + (pi - f) cos f) / (2 pi) with cos f = covariance / (left right).

    A deviation of zero gives zero.
    """
    moments = np.empty_like(covariance)
    _arc_cosine(covariance, left, right, moments)
    return moments


@njit(error_model="numpy")
def _arc_cosine(covariance, left, right, moments):  # type: ignore[no-untyped-def]
    for i in range(covariance.shape[0]):
        for j in range(covariance.shape[1]):
            size = left[i] * right[j]
            cosine = 0.0
            if size > 0.0:
                cosine = min(1.0, max(-1.0, covariance[i, j] / size))
            sine = np.sqrt((1.0 - cosine) * (1.0 + cosine))
            angle = np.arccos(cosine)
            moments[i, j] = size * (sine + (np.pi - angle) * cosine) / (2.0 * np.pi)
