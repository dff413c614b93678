"""GELU features: z Phi(z) = z/2 + z erf(z / sqrt 2)/2, Phi the normal distribution function."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.features.base import AnyFloats, FeatureMap, register


@register
class GELU(FeatureMap):
    """f(z) = z Phi(z), a smooth ReLU with the same odd part."""

    name: ClassVar[str] = "gelu"
    odd_slope: ClassVar[float | None] = 0.5

    def apply(self, z: AnyFloats) -> AnyFloats:
        from scipy.special import ndtr  # half a second to load: only where it is needed

        values: AnyFloats = z * ndtr(z)
        return values

    def even_part(self, z: AnyFloats) -> AnyFloats:
        """z erf(z / sqrt 2) / 2."""
        from scipy.special import erf

        even: AnyFloats = z * erf(z * z.dtype.type(np.sqrt(0.5)))
        even *= 0.5
        return even

    def gaussian_moments(self, covariance: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
        """With a, b the variances, g the covariance and d = (1 + a)(1 + b) - g^2, the even part is

        {[a b + g^2 (1/(1 + a) + 1/(1 + b) - 1)] / sqrt(d) + g asin(g / sqrt((1 + a)(1 + b)))} / (2 pi).
        """
        a, b = (left**2)[:, None], (right**2)[None, :]
        product, square = (1.0 + a) * (1.0 + b), covariance**2
        bracket = a * b + square * (1.0 / (1.0 + a) + 1.0 / (1.0 + b) - 1.0)
        even = bracket / np.sqrt(product - square) + covariance * np.arcsin(covariance / np.sqrt(product))
        moments: FloatArray = 0.25 * covariance + even / (2.0 * np.pi)
        return moments
