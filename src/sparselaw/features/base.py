"""What random features phi = f(u x) answer about their activation function f, and the one list of them.

The size of u x that f is given is that of the sample, at every width: see ``Layer``.

New features are a class with a name and ``apply``, and ``@register`` above it. The rest says what
is known in closed form; what is not known is measured on test inputs.

Inputs come with either sign alike, so that the error of a readout is an odd part plus an even part. Where the
odd part of f is exactly linear, (f(z) - f(-z))/2 = c z, the odd part of the error is that of a linear readout
and has a closed form; only the even part, that of f(z) - c z, is left for test inputs.

A layer of N units has the features

    phi(x) = f(sqrt(N) u x) / sqrt(N),    u of independent entries N(0, 1/N),

so that a unit is given a number of variance |x|^2 whatever N, and the kernel phi(x) . phi(x') tends to
E f(a) f(b). Where f is homogeneous, f(c z) = c f(z) for c > 0, as are linear and ReLU features, this is the
paper's phi = f(u x). For the others f(u x) would be a new function at each N: arguments would shrink with
1/sqrt(N), and a smooth f would become linear.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.registry import add

if TYPE_CHECKING:
    from sparselaw.inputs import Inputs
    from sparselaw.nonlinear.response import Response

AnyFloats = NDArray[np.floating[Any]]  # of double or of single precision


class FeatureMap(ABC):
    """The function f. It travels with a task to other processes, which must be able to import its class."""

    name: ClassVar[str]
    kind: ClassVar[str] = "nonlinear"  # which trials it has, see trials.run
    has_surface: ClassVar[bool] = False  # whether the loss surface in closed form is that of these features
    homogeneous: ClassVar[bool] = False  # whether f(c z) = c f(z) for c > 0, and the size of u x is no matter
    odd_slope: ClassVar[float | None] = None  # c where the odd part of f is exactly c z
    optimal: ClassVar[bool] = (
        False  # found with their readout in one step: no other solver, no other estimator
    )
    several_outputs: ClassVar[bool] = False  # whether the number of outputs changes the loss of each
    single_precision: ClassVar[bool] = False  # whether it is enough for f(u x) of a wide layer

    def own_loss(self, inputs: Inputs, N: int, D: int, outputs: int) -> float | None:
        """The loss in closed form where it is not that of the surface; None if there is none."""
        del inputs, N, D, outputs
        return None

    @property
    def response(self) -> Response | None:
        """What the theory of nonlinear features is about, found from f alone; None where it has none."""
        from sparselaw.nonlinear.response import response_of

        return response_of(self.apply)

    @abstractmethod
    def apply(self, z: AnyFloats) -> AnyFloats:
        """f(z); z may be overwritten."""

    def even_part(self, z: AnyFloats) -> AnyFloats:
        """f(z) - c z, where there is an odd slope c; z may be overwritten."""
        odd = z * z.dtype.type(self.odd_slope or 0.0)
        return self.apply(z) - odd

    def gaussian_moments(
        self, covariance: FloatArray, left: FloatArray, right: FloatArray
    ) -> FloatArray | None:
        """E[f(a_i) f(b_j)] for jointly Gaussian a_i, b_j of deviations left_i, right_j; None if unknown."""
        del covariance, left, right
        return None

    def gaussian_slopes(self, deviations: FloatArray) -> FloatArray | None:
        """E[f'(a_i)] for Gaussian a_i, which makes E[f(a_i) y] = E[f'(a_i)] E[a_i y]; None if unknown."""
        return None if self.odd_slope is None else np.full_like(deviations, self.odd_slope)


FEATURES: dict[str, FeatureMap] = {}

F = TypeVar("F", bound="FeatureMap | type[FeatureMap]")


def register(features: F) -> F:
    """Add features to the list, under their name; also a decorator of their class."""
    made = features() if isinstance(features, type) else features
    add(FEATURES, "features", made.name, made, type)
    return features


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
        return self._scaled(self.features.apply, z)

    def even_part(self, z: AnyFloats) -> AnyFloats:
        return self._scaled(self.features.even_part, z)

    def _scaled(self, f: Callable[[AnyFloats], AnyFloats], z: AnyFloats) -> AnyFloats:
        if self.features.homogeneous:
            return f(z)
        z *= self.gain
        return f(z) / z.dtype.type(self.gain)

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
