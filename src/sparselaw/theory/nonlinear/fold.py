"""What the theory needs to know of an activation function with one bend."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.theory.nonlinear.response import DensePairs, Part, Trust


class BentPart:
    """|z|/2, the even part of every activation with one bend, up to a factor."""

    targets = False
    jump = False

    @property
    def identity(self) -> dict[str, Any]:
        return {}

    def sums(
        self, start: IntArray, c: FloatArray, part: IntArray, typed: IntArray, types: FloatArray, first: bool
    ) -> FloatArray:
        from sparselaw.theory.nonlinear.bend_kernel import alternating_sums  # numba: only where it is needed

        return alternating_sums(start, c, part, typed, types, first)

    def mean_and_slope(self, means: FloatArray, deviations: FloatArray) -> tuple[FloatArray, FloatArray]:
        from scipy.special import erf  # only where tables are made

        m, s = means[None, :], np.maximum(deviations[:, None], 1e-100)
        slope = erf(m / (math.sqrt(2.0) * s))
        mean = m * slope + math.sqrt(2.0 / math.pi) * s * np.exp(-0.5 * (m / s) ** 2)
        return 0.5 * mean, 0.5 * slope

    def reflected(self, pairs: DensePairs, slope: bool = False) -> FloatArray:
        from sparselaw.theory.nonlinear.gaussian_kernel import reflected_kernel

        assert not slope
        return reflected_kernel(*pairs)


BENT = BentPart()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """f(z) = slope z + bend |z|.

    The kernel of random features is slope^2 x.x' + bend^2 E|u x||u x'|. Inputs have either sign alike, so
    its two parts do not mix, and x_j is an exact eigenfunction of it, of eigenvalue slope^2 E x_j^2. The even
    part holds nothing of a linear target; it only uses up features.
    """

    parts: ClassVar[tuple[Part, ...]] = (BENT,)
    dense: ClassVar[bool] = True
    trust: ClassVar[Trust] = Trust()
    slope: float
    bend: float

    @property
    def even(self) -> bool:
        return self.bend != 0.0

    @property
    def even_weight(self) -> float:
        """The even part of the kernel over the odd part, both for slope = bend: (bend/slope)^2."""
        return (self.bend / self.slope) ** 2

    @property
    def identity(self) -> dict[str, Any]:
        return {"fold": [self.slope, self.bend]}

    def kernel(self, left: FloatArray, right: FloatArray, covariance: FloatArray) -> FloatArray:
        """E f(X) f(Y) for Gaussian X, Y of variances left, right and this covariance."""
        found: FloatArray = self.slope**2 * covariance + self.even_kernel(left, right, covariance)
        return found

    def even_kernel(self, left: FloatArray, right: FloatArray, covariance: FloatArray) -> FloatArray:
        """bend^2 E|X||Y|."""
        size = np.sqrt(left * right)
        cosine = np.clip(covariance / np.maximum(size, 1e-300), -1.0, 1.0)
        even = size * np.sqrt(1.0 - cosine**2) + covariance * np.arcsin(cosine)
        found: FloatArray = self.bend**2 * (2.0 / math.pi) * even
        return found
