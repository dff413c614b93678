"""ReLU features phi = max(u x, 0) = u x / 2 + |u x| / 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.features.base import AnyFloats, FeatureMap, register
from sparselaw.features.moments import arc_cosine

if TYPE_CHECKING:
    from sparselaw.nonlinear.response import Kinked


@register
class ReLU(FeatureMap):
    """f(z) = max(z, 0)."""

    name: ClassVar[str] = "relu"
    homogeneous: ClassVar[bool] = True
    odd_slope: ClassVar[float | None] = 0.5
    single_precision: ClassVar[bool] = True  # the kink keeps every eigenvalue of the Gram matrix far above it

    @property
    def response(self) -> Kinked:
        from sparselaw.nonlinear.response import Kinked

        return Kinked(slope=0.5, kink=0.5)

    def apply(self, z: AnyFloats) -> AnyFloats:
        positive: AnyFloats = np.maximum(z, 0.0, out=z)
        return positive

    def even_part(self, z: AnyFloats) -> AnyFloats:
        """|z| / 2."""
        np.abs(z, out=z)
        z *= 0.5
        return z

    def gaussian_moments(self, covariance: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
        """The arc-cosine kernel of degree one."""
        return arc_cosine(covariance, left, right)
