"""What the theory needs to know of any smooth activation, found from the function alone."""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.theory.nonlinear.fold import Fold
from sparselaw.theory.nonlinear.hermite_orders import Function, Orders, coefficients, hermite_orders
from sparselaw.theory.nonlinear.response import DensePairs, Response, Trust
from sparselaw.theory.nonlinear.step import Step

SAME = 1e-10  # relative: parts that differ by less are the same
ROUGH = 0.01  # of E f^2: what the Hermite orders may leave out; a bend has 1e-3, a jump more
SEEN = Trust(few=0.12, data=0.04, between=0.2)
LOOKED_AT = np.linspace(0.05, 8.0, 160)  # where f is looked at


@dataclass(frozen=True, slots=True)
class SmoothPart:
    """One parity of f. Equal parts have equal digests."""

    digest: str
    targets: bool
    f: Function = field(compare=False, repr=False)
    jump: bool = False

    @property
    def identity(self) -> dict[str, Any]:
        return {"activation": self.digest}

    def sums(
        self, start: IntArray, c: FloatArray, part: IntArray, typed: IntArray, types: FloatArray, first: bool
    ) -> FloatArray:
        from sparselaw.theory.nonlinear.mehler_sums import mehler_sums  # numba: only where it is needed

        return mehler_sums(self.f, int(self.targets), start, c, part, typed, types, first)

    def mean_and_slope(self, means: FloatArray, deviations: FloatArray) -> tuple[FloatArray, FloatArray]:
        s, m = (x.ravel() for x in np.meshgrid(deviations, means, indexing="ij"))
        found = coefficients(self.f, m, s, int(self.targets))[0].reshape(deviations.size, means.size, -1)
        return found[:, :, 0], found[:, :, 1] / np.maximum(deviations, 1e-300)[:, None]

    def reflected(self, pairs: DensePairs, slope: bool = False) -> FloatArray:
        from sparselaw.theory.nonlinear.reflected_mehler import reflected_mehler

        return reflected_mehler(self.f, int(self.targets), pairs, slope)


@dataclass(frozen=True, slots=True)
class Smooth:
    """f over twice its slope E f(g) g, so that the kernel of x_j is about s_j/4, as with the ReLU."""

    digest: str
    slope: float | None  # 1/2 where the odd part is linear, 0 where there is none
    even: bool
    parts: tuple[SmoothPart, ...]
    even_weight: float = 1.0
    trust: Trust = SEEN

    @property
    def dense(self) -> bool:
        return True

    @property
    def identity(self) -> dict[str, Any]:
        return {"activation": self.digest}

    def kernel(self, left: FloatArray, right: FloatArray, covariance: FloatArray) -> FloatArray:
        straight = (self.slope or 0.0) ** 2 * covariance
        return np.asarray(straight + self._sum(self.parts, left, right, covariance))

    def even_kernel(self, left: FloatArray, right: FloatArray, covariance: FloatArray) -> FloatArray:
        return self._sum([part for part in self.parts if not part.targets], left, right, covariance)

    def _sum(
        self, parts: Sequence[SmoothPart], left: FloatArray, right: FloatArray, covariance: FloatArray
    ) -> FloatArray:
        from sparselaw.theory.nonlinear.mehler_sums import mehler_kernel

        norm = math.sqrt(max(float(np.max(left)), float(np.max(right))))
        largest = 2.0 ** (math.ceil(4.0 * math.log2(norm)) / 4.0)  # so that few tables serve all
        total = np.zeros(np.shape(covariance))
        for part in parts:
            total = total + mehler_kernel(_orders(part, largest), int(part.targets), left, right, covariance)
        return total


@functools.lru_cache(maxsize=16)
def _orders(part: SmoothPart, largest: float) -> Orders:
    return hermite_orders(part.f, np.zeros(1), largest, int(part.targets))


def response_of(f: Function) -> Response | None:
    """The response of an activation, None if it is too rough; f may overwrite what it is given."""
    z = LOOKED_AT
    above, below = f(z.copy()), f(-z)
    odd, even = 0.5 * (above - below), 0.5 * (above + below)
    size = float(max(np.abs(above).max(), np.abs(below).max()))
    slope, bend = float(odd[0] / z[0]), float(even[0] / z[0])
    linear = bool(np.abs(odd - slope * z).max() <= SAME * size)
    bent = bool(np.abs(even).max() > SAME * size)
    if linear and np.abs(even - bend * z).max() <= SAME * size:
        return Fold(slope=slope, bend=bend)
    if not bent and np.abs(odd - odd[0]).max() <= SAME * size:
        return Step()
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    scale = slope if linear else float(weights @ (points * f(points.copy())) / weights.sum())
    none = abs(scale) <= SAME * size
    factor = 1.0 / size if none else 0.5 / scale
    digest = hashlib.sha256(np.round(np.concatenate([above, below]) / size, 12).tobytes()).hexdigest()[:24]

    def odd_part(x: FloatArray) -> FloatArray:
        return np.asarray((0.5 * factor) * (f(x.copy()) - f(-x)))

    def even_part(x: FloatArray) -> FloatArray:
        return np.asarray((0.5 * factor) * (f(x.copy()) + f(-x)))

    parts = [SmoothPart(digest=digest, targets=False, f=even_part)] * bent
    parts += [SmoothPart(digest=digest, targets=True, f=odd_part)] * (not linear)
    if any(coefficients(part.f, np.zeros(1), np.ones(1), int(part.targets))[1] > ROUGH for part in parts):
        return None
    straight = None if not linear else 0.0 if none else 0.5
    return Smooth(digest=digest, slope=straight, even=bent, parts=tuple(parts))
