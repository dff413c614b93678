"""Features phi = sign(z): one bit for each unit."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.features.base import AnyFloats, FeatureMap, register


@register
class Sign(FeatureMap):
    """f(z) = sign(z), odd and not linear; zero at zero."""

    name: ClassVar[str] = "sign"

    def apply(self, z: AnyFloats) -> AnyFloats:
        signs: AnyFloats = np.sign(z, out=z)
        return signs

    def gaussian_moments(self, covariance: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
        """2/pi asin(cosine): the two agree where a random direction does not part them (Sheppard 1899)."""
        size = np.outer(left, right)
        cosine = np.divide(covariance, size, out=np.zeros_like(size), where=size > 0.0)
        moments: FloatArray = np.arcsin(np.clip(cosine, -1.0, 1.0)) * (2.0 / np.pi)
        return moments

    def gaussian_slopes(self, deviations: FloatArray) -> FloatArray:
        """E|a| / E a^2."""
        root = np.sqrt(2.0 / np.pi)
        return np.divide(root, deviations, out=np.zeros_like(deviations), where=deviations > 0.0)
