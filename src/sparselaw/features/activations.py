"""Activation functions f of random features phi = f(u x), and what is known of each in closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.compiled import lazy_njit
from sparselaw.features.base import AnyFloats, FeatureMap, register

if TYPE_CHECKING:
    from sparselaw.inputs import Inputs

LEAK = 0.2  # of the leaky ReLU


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


class _Kinked(FeatureMap):
    """f(z) = c z + k |z|: an odd part that is linear, and a kink."""

    homogeneous: ClassVar[bool] = True
    single_precision: ClassVar[bool] = True  # the kink keeps every eigenvalue of the Gram matrix far above it
    kink: ClassVar[float]

    def even_part(self, z: AnyFloats) -> AnyFloats:
        """k |z|."""
        np.abs(z, out=z)
        z *= self.kink
        return z

    def gaussian_moments(self, covariance: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
        """From the arc-cosine kernel, that of z/2 + |z|/2; parts of either sign are orthogonal."""
        line = (self.odd_slope or 0.0) ** 2 - self.kink**2
        return 4.0 * self.kink**2 * arc_cosine(covariance, left, right) + line * covariance


@register
class ReLU(_Kinked):
    """f(z) = max(z, 0)."""

    name: ClassVar[str] = "relu"
    odd_slope: ClassVar[float | None] = 0.5
    kink: ClassVar[float] = 0.5

    def apply(self, z: AnyFloats) -> AnyFloats:
        return np.asarray(np.maximum(z, 0.0, out=z))


@register
class LeakyReLU(_Kinked):
    """f(z) = z for z > 0 and l z below, l = 0.2."""

    name: ClassVar[str] = "leaky-relu"
    odd_slope: ClassVar[float | None] = (1.0 + LEAK) / 2.0
    kink: ClassVar[float] = (1.0 - LEAK) / 2.0

    def apply(self, z: AnyFloats) -> AnyFloats:
        return np.asarray(np.maximum(z, LEAK * z))


@register
class GELU(FeatureMap):
    """f(z) = z Phi(z) = z/2 + z erf(z / sqrt 2)/2, a smooth ReLU with the same odd part."""

    name: ClassVar[str] = "gelu"
    odd_slope: ClassVar[float | None] = 0.5

    def apply(self, z: AnyFloats) -> AnyFloats:
        from scipy.special import ndtr  # half a second to load: only where it is needed

        return np.asarray(z * ndtr(z))

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
        return np.asarray(0.25 * covariance + even / (2.0 * np.pi))


@register
class Tanh(FeatureMap):
    """f(z) = tanh(z), odd and not linear. Its Gaussian moments are sums over Hermite coefficients."""

    name: ClassVar[str] = "tanh"

    def apply(self, z: AnyFloats) -> AnyFloats:
        return np.asarray(np.tanh(z, out=z))

    def gaussian_moments(self, covariance: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
        """sum_n c_n(s) c_n(t) r^n (Mehler): of an odd function over odd n, by Horner's scheme in r^2."""
        r = correlations(covariance, left, right)
        both = self._odd_orders(np.concatenate([left, right])).T
        square, total = r**2, np.zeros_like(r)
        for order in both[::-1]:
            total *= square
            total += np.outer(order[: len(left)], order[len(left) :])
        return np.asarray(total * r)

    def gaussian_slopes(self, deviations: FloatArray) -> FloatArray:
        """E[f'(a)] = c_1(s) / s; its limit is one."""
        first = self._odd_orders(deviations)[:, 0]
        return np.divide(first, deviations, out=np.ones_like(first), where=deviations > 0.0)

    def _odd_orders(self, deviations: FloatArray) -> FloatArray:
        """c_1, c_3, ... for each deviation, to rounding."""
        from sparselaw.nonlinear.response import coefficients

        found, _ = coefficients(np.tanh, np.zeros_like(deviations), deviations, 1, most=300, negligible=1e-13)
        return np.asarray(found[:, 1::2])


@register
class Erf(FeatureMap):
    """f(z) = erf(z), the sigmoid whose kernel has a closed form."""

    name: ClassVar[str] = "erf"

    def apply(self, z: AnyFloats) -> AnyFloats:
        from scipy.special import erf

        return np.asarray(erf(z, out=z))

    def gaussian_moments(self, covariance: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
        """The arcsine kernel (Williams 1998)."""
        scale = np.sqrt(np.outer(1.0 + 2.0 * left**2, 1.0 + 2.0 * right**2))
        return np.asarray(np.arcsin(2.0 * covariance / scale) * (2.0 / np.pi))

    def gaussian_slopes(self, deviations: FloatArray) -> FloatArray:
        return np.asarray(2.0 / np.sqrt(np.pi * (1.0 + 2.0 * deviations**2)))


@register
class Sign(FeatureMap):
    """f(z) = sign(z), one bit for each unit; zero at zero."""

    name: ClassVar[str] = "sign"

    def apply(self, z: AnyFloats) -> AnyFloats:
        return np.asarray(np.sign(z, out=z))

    def gaussian_moments(self, covariance: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
        """2/pi asin(cosine): the two agree where a random direction does not part them (Sheppard 1899)."""
        return np.asarray(np.arcsin(correlations(covariance, left, right)) * (2.0 / np.pi))

    def gaussian_slopes(self, deviations: FloatArray) -> FloatArray:
        """E|a| / E a^2."""
        root = np.sqrt(2.0 / np.pi)
        return np.divide(root, deviations, out=np.zeros_like(deviations), where=deviations > 0.0)


@register
class Absolute(_Kinked):
    """f(z) = |z|. Its odd part is zero, so the best readout is zero and more features do not help."""

    name: ClassVar[str] = "abs"
    odd_slope: ClassVar[float | None] = 0.0
    kink: ClassVar[float] = 1.0

    def apply(self, z: AnyFloats) -> AnyFloats:
        return np.asarray(np.abs(z, out=z))


@register
class Trained(Linear):
    """f(z) = z; the embedding is fitted: the first layer of a two-layer linear network at its optimum."""

    name: ClassVar[str] = "trained"
    kind: ClassVar[str] = "trained"
    has_surface: ClassVar[bool] = False
    several_outputs: ClassVar[bool] = True
    optimal: ClassVar[bool] = True

    @property
    def response(self) -> None:
        return None

    def own_loss(self, inputs: Inputs, N: int, D: int, outputs: int) -> float | None:
        from sparselaw.inputs import ActivationInputs
        from sparselaw.theory.reduced_rank import trained_loss

        if inputs.sampling != "activations":
            return None
        return trained_loss(cast(ActivationInputs, inputs), N, D, outputs)


def correlations(covariance: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """covariance / (left right), zero where a deviation is."""
    size = np.outer(left, right)
    return np.clip(np.divide(covariance, size, out=np.zeros_like(size), where=size > 0.0), -1.0, 1.0)


def arc_cosine(covariance: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """left right (sin f + (pi - f) cos f) / (2 pi) with cos f = covariance / (left right).

    A deviation of zero gives zero.
    """
    moments = np.empty_like(covariance)
    _arc_cosine(covariance, left, right, moments)
    return moments


@lazy_njit(error_model="numpy")
def _arc_cosine(covariance, left, right, moments):  # type: ignore[no-untyped-def]
    for i in range(covariance.shape[0]):
        for j in range(covariance.shape[1]):
            size = left[i] * right[j]
            cosine = 0.0
            if size > 0.0:
                cosine = min(1.0, max(-1.0, covariance[i, j] / size))
            sine = np.sqrt((1.0 - cosine) * (1.0 + cosine))
            angle = np.arccos(cosine)
            moments[i, j] = size * (sine + (np.pi - angle) * cosine) / (2.0 * np.pi)
