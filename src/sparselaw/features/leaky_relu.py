"""Leaky ReLU features: max(z, l z) = (1 + l)/2 z + (1 - l)/2 |z|."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.features.base import AnyFloats, FeatureMap, register
from sparselaw.features.moments import arc_cosine

if TYPE_CHECKING:
    from sparselaw.nonlinear.response import Kinked

LEAK = 0.2


@register
class LeakyReLU(FeatureMap):
    """f(z) = z for z > 0 and l z below, l = 0.2."""

    name: ClassVar[str] = "leaky-relu"
    homogeneous: ClassVar[bool] = True
    odd_slope: ClassVar[float | None] = (1.0 + LEAK) / 2.0
    single_precision: ClassVar[bool] = True  # a kink, as for the ReLU

    @property
    def response(self) -> Kinked:
        from sparselaw.nonlinear.response import Kinked

        return Kinked(slope=(1.0 + LEAK) / 2.0, kink=(1.0 - LEAK) / 2.0)

    def apply(self, z: AnyFloats) -> AnyFloats:
        leaky: AnyFloats = np.maximum(z, LEAK * z)
        return leaky

    def even_part(self, z: AnyFloats) -> AnyFloats:
        """(1 - l)/2 |z|."""
        np.abs(z, out=z)
        z *= (1.0 - LEAK) / 2.0
        return z

    def gaussian_moments(self, covariance: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
        """(1 - l)^2 times those of the ReLU, and l times the covariance: f = (1 - l) relu + l z."""
        return (1.0 - LEAK) ** 2 * arc_cosine(covariance, left, right) + LEAK * covariance
