"""Features phi = tanh(z)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.features import moments
from sparselaw.features.base import AnyFloats, FeatureMap, register


@register
class Tanh(FeatureMap):
    """f(z) = tanh(z), odd and not linear. Its Gaussian moments are sums over Hermite polynomials."""

    name: ClassVar[str] = "tanh"

    def apply(self, z: AnyFloats) -> AnyFloats:
        values: AnyFloats = np.tanh(z, out=z)
        return values

    def gaussian_moments(self, covariance: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
        return moments.hermite_moments(np.tanh, covariance, left, right)

    def gaussian_slopes(self, deviations: FloatArray) -> FloatArray:
        """E[f'(a)] = E[1 - tanh(a)^2]."""
        return moments.gaussian_mean(lambda z: 1.0 - np.tanh(z) ** 2, deviations)
