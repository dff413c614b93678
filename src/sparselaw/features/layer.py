"""A layer of N units: what the features are, applied to u x.

    phi(x) = f(sqrt(N) u x) / sqrt(N),    u of independent entries N(0, 1/N),

so that a unit is given a number of variance |x|^2 whatever N, and the kernel phi(x) . phi(x') tends to
E f(a) f(b). Where f is homogeneous, f(c z) = c f(z) for c > 0, as are linear and ReLU features, this is the
paper's phi = f(u x). For the others f(u x) would be a new function at each N: arguments would shrink with
1/sqrt(N), and a smooth f would become linear.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sparselaw.arrays import FloatArray
from sparselaw.features.base import AnyFloats, FeatureMap


@dataclass(frozen=True, slots=True)
class Layer:
    """The function phi of u x, and what is known of it; see ``FeatureMap`` for each."""

    features: FeatureMap
    width: int

    @property
    def gain(self) -> float:
        """What u x is multiplied by, and the features divided by."""
        return 1.0 if self.features.homogeneous else math.sqrt(self.width)

    @property
    def odd_slope(self) -> float | None:
        return self.features.odd_slope

    @property
    def single_precision(self) -> bool:
        return self.features.single_precision

    def apply(self, z: AnyFloats) -> AnyFloats:
        if self.features.homogeneous:
            return self.features.apply(z)
        z *= self.gain
        return self.features.apply(z) / z.dtype.type(self.gain)

    def even_part(self, z: AnyFloats) -> AnyFloats:
        if self.features.homogeneous:
            return self.features.even_part(z)
        z *= self.gain
        return self.features.even_part(z) / z.dtype.type(self.gain)

    def gaussian_moments(
        self, covariance: FloatArray, left: FloatArray, right: FloatArray
    ) -> FloatArray | None:
        if self.features.homogeneous:
            return self.features.gaussian_moments(covariance, left, right)
        gain = self.gain
        moments = self.features.gaussian_moments(gain**2 * covariance, gain * left, gain * right)
        return None if moments is None else moments / gain**2

    def gaussian_slopes(self, deviations: FloatArray) -> FloatArray | None:
        return self.features.gaussian_slopes(self.gain * deviations)
