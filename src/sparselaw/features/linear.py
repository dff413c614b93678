"""Linear features phi = u x."""

from __future__ import annotations

from typing import ClassVar

from sparselaw.arrays import FloatArray
from sparselaw.features.base import AnyFloats, FeatureMap, register


@register
class Linear(FeatureMap):
    """f(z) = z."""

    name: ClassVar[str] = "linear"
    kind: ClassVar[str] = "linear"
    has_surface: ClassVar[bool] = True
    homogeneous: ClassVar[bool] = True
    odd_slope: ClassVar[float | None] = 1.0

    def apply(self, z: AnyFloats) -> AnyFloats:
        return z

    def gaussian_moments(self, covariance: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
        del left, right
        return covariance
