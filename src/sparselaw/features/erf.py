"""Features phi = erf(z), the sigmoid whose kernel has a closed form."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.features.base import AnyFloats, FeatureMap, register


@register
class Erf(FeatureMap):
    """f(z) = erf(z), odd and not linear."""

    name: ClassVar[str] = "erf"

    def apply(self, z: AnyFloats) -> AnyFloats:
        from scipy.special import erf  # half a second to load: only where it is needed

        values: AnyFloats = erf(z, out=z)
        return values

    def gaussian_moments(self, covariance: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
        """The arcsine kernel (Williams 1998)."""
        scale = np.sqrt(np.outer(1.0 + 2.0 * left**2, 1.0 + 2.0 * right**2))
        moments: FloatArray = np.arcsin(2.0 * covariance / scale) * (2.0 / np.pi)
        return moments

    def gaussian_slopes(self, deviations: FloatArray) -> FloatArray:
        slopes: FloatArray = 2.0 / np.sqrt(np.pi * (1.0 + 2.0 * deviations**2))
        return slopes
