"""What the theory needs to know of any smooth activation, found from the function alone.

Everything comes from Hermite coefficients at the means and standard deviations that samples give f. For g
standard normal and the polynomials h_k orthonormal under it,

    f(m + s g) = sum_k c_k(m, s) h_k(g),    E f(m + s g) f(n + t g') = sum_k c_k(m, s) c_k(n, t) r^k

for g, g' of correlation r (Mehler). Means over g are sums on an even grid. What the orders beyond the last
one hold together, E f^2 - sum c_k^2, is given to the next order, which is exact for r = 1.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.nonlinear.response import DensePairs, Kinked, Response, Step, Trust

Function = Callable[[Any], Any]  # of arrays

SAME = 1e-10  # relative: parts that differ by less are the same
ROUGH = 0.01  # of E f^2: what the Hermite orders may leave out; a kink has 1e-3, a jump more
SMOOTH_TRUST = Trust(few=0.12, data=0.04, between=0.2)
LOOKED_AT = np.linspace(0.05, 8.0, 160)  # where f is looked at

# Hermite coefficients.
REACH = 13.0  # of the grid: beyond it the root of the normal density is below 1e-18
STEP = 0.1  # at a deviation of one
MOST = 64  # orders
SMALL = 1e-10  # of E f^2: what the orders left out may hold
DEVIATIONS = 65  # at which the coefficients are found; between them they are cubic


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
        from sparselaw.nonlinear.mehler import mehler_sums  # numba: only where it is needed

        return mehler_sums(self.f, int(self.targets), start, c, part, typed, types, first)

    def mean_and_slope(self, means: FloatArray, deviations: FloatArray) -> tuple[FloatArray, FloatArray]:
        s, m = (x.ravel() for x in np.meshgrid(deviations, means, indexing="ij"))
        found = coefficients(self.f, m, s, int(self.targets))[0].reshape(deviations.size, means.size, -1)
        return found[:, :, 0], found[:, :, 1] / np.maximum(deviations, 1e-300)[:, None]

    def reflected(self, pairs: DensePairs, slope: bool = False) -> FloatArray:
        from sparselaw.nonlinear.mehler import reflected_mehler

        return reflected_mehler(self.f, int(self.targets), pairs, slope)


@dataclass(frozen=True, slots=True)
class Smooth:
    """f over twice its slope E f(g) g, so that the kernel of x_j is about s_j/4, as with the ReLU."""

    digest: str
    slope: float | None  # 1/2 where the odd part is linear, 0 where there is none
    even: bool
    parts: tuple[SmoothPart, ...]
    even_weight: float = 1.0
    trust: Trust = SMOOTH_TRUST

    @property
    def dense(self) -> bool:
        return True

    @property
    def identity(self) -> dict[str, Any]:
        return {"activation": self.digest}

    def apply(self, z: FloatArray) -> FloatArray:
        return np.asarray((self.slope or 0.0) * z + sum(part.f(z) for part in self.parts))

    def kernel(self, left: FloatArray, right: FloatArray, covariance: FloatArray) -> FloatArray:
        straight = (self.slope or 0.0) ** 2 * covariance
        return np.asarray(straight + self._sum(self.parts, left, right, covariance))

    def even_kernel(self, left: FloatArray, right: FloatArray, covariance: FloatArray) -> FloatArray:
        return self._sum([part for part in self.parts if not part.targets], left, right, covariance)

    def _sum(
        self, parts: Sequence[SmoothPart], left: FloatArray, right: FloatArray, covariance: FloatArray
    ) -> FloatArray:
        from sparselaw.nonlinear.mehler import mehler_kernel

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
    slope, kink = float(odd[0] / z[0]), float(even[0] / z[0])
    linear = bool(np.abs(odd - slope * z).max() <= SAME * size)
    has_even = bool(np.abs(even).max() > SAME * size)
    if linear and np.abs(even - kink * z).max() <= SAME * size:
        return Kinked(slope=slope, kink=kink)
    if not has_even and np.abs(odd - odd[0]).max() <= SAME * size:
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

    parts = [SmoothPart(digest=digest, targets=False, f=even_part)] * has_even
    parts += [SmoothPart(digest=digest, targets=True, f=odd_part)] * (not linear)
    if any(coefficients(part.f, np.zeros(1), np.ones(1), int(part.targets))[1] > ROUGH for part in parts):
        return None
    straight = None if not linear else 0.0 if none else 0.5
    return Smooth(digest=digest, slope=straight, even=has_even, parts=tuple(parts))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Orders:
    """c_k at each mean and at even steps of the deviation from 0 to ``largest``: (means, deviations, K)."""

    largest: float
    values: FloatArray
    left_out: float  # of E f^2, at the worst: what was given to the last order


def hermite_orders(f: Function, means: FloatArray, largest: float, parity: int) -> Orders:
    """``parity``: 0 for an even f, 1 for an odd one; it is the parity of the last order too."""
    s = np.linspace(0.0, largest, DEVIATIONS)
    pairs = np.repeat(means, DEVIATIONS), np.tile(s, means.size)
    kept, left_out = coefficients(f, *pairs, parity)
    return Orders(largest=largest, values=kept.reshape(means.size, DEVIATIONS, -1), left_out=left_out)


def coefficients(
    f: Function, means: FloatArray, deviations: FloatArray, parity: int
) -> tuple[FloatArray, float]:
    """c_k at each pair of a mean and a deviation, (pairs, K), and what was given to the last order."""
    step = STEP / max(1.0, float(deviations.max()))
    points = step * np.arange(-math.ceil(REACH / step), math.ceil(REACH / step) + 1.0)
    root = np.exp(-0.25 * points**2)
    root /= np.linalg.norm(root)
    values = f(means[:, None] + deviations[:, None] * points) * root
    squares = np.sum(values**2, axis=1)
    found = values @ _polynomials(points, root).T
    left = squares[:, None] - np.cumsum(found**2, axis=1)  # beyond each order
    enough = np.flatnonzero(left.max(axis=0) <= SMALL * squares.max())
    last = int(enough[0]) + 1 if enough.size else MOST - 1
    last += (last - parity) % 2
    last = min(last, MOST - 2 + parity % 2)
    rest = np.maximum(left[:, last - 1], 0.0)
    kept = np.concatenate([found[:, :last], np.sqrt(rest)[:, None]], axis=1)
    return np.ascontiguousarray(kept), float(rest.max() / squares.max())


def _polynomials(points: FloatArray, root: FloatArray) -> FloatArray:
    """h_k times the root of the weights, (MOST, points)."""
    rows = [root]
    before = np.zeros_like(root)
    for k in range(MOST - 1):
        rows.append((points * rows[-1] - math.sqrt(k) * before) / math.sqrt(k + 1.0))
        before = rows[-2]
    return np.stack(rows)
