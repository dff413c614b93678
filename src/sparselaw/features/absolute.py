"""Absolute values phi = |u x|: an even function, which says nothing of a linear target."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.features.base import AnyFloats, FeatureMap, register
from sparselaw.features.moments import arc_cosine


@register
class Absolute(FeatureMap):
    """f(z) = |z|. Its odd part is zero, so the best readout is zero and more features do not help."""

    name: ClassVar[str] = "abs"
    homogeneous: ClassVar[bool] = True
    odd_slope: ClassVar[float | None] = 0.0
    single_precision: ClassVar[bool] = True  # a kink, as for the ReLU

    def apply(self, z: AnyFloats) -> AnyFloats:
        size: AnyFloats = np.abs(z, out=z)
        return size

    def gaussian_moments(self, covariance: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
        """From the ReLU: relu = z/2 + |z|/2, and the parts of either sign are orthogonal."""
        return 4.0 * arc_cosine(covariance, left, right) - covariance
