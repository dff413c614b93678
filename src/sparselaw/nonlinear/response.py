"""What the theory asks of an activation f, found from the function alone: its kernel, by parity.

Inputs have either sign alike, so the kernel E f(u x) f(u y) is that of the even part of f and that of its odd
part, which do not mix. A linear target is odd. Where the odd part of f is linear, every coordinate x_j is an
eigenfunction, of eigenvalue slope^2 E x_j^2, and the even part only uses up features. Where it is not,
functions of one parity that the kernel can tell apart stand beside each coordinate, and the target is a
vector among them.

Parts with a kink (|z|) or a jump (the sign) have closed forms. Of any other everything comes from Hermite
coefficients at the means and standard deviations that samples give f. For g standard normal and the
polynomials h_k orthonormal under it,

    f(m + s g) = sum_k c_k(m, s) h_k(g),    E f(m + s g) f(n + t g') = sum_k c_k(m, s) c_k(n, t) r^k

for g, g' of correlation r (Mehler). Means over g are sums on an even grid. What the orders beyond the last
one hold together, E f^2 - sum c_k^2, is given to the next order, which is exact for r = 1.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from sparselaw.arrays import FloatArray

Function = Callable[[Any], Any]  # of arrays

SAME = 1e-10  # relative: parts that differ by less are the same
ROUGH = 0.01  # of E f^2: what the Hermite orders may leave out; a kink has 1e-3, a jump more
LOOKED_AT = np.linspace(0.05, 8.0, 160)  # where f is looked at
SIGN_SCALE = math.pi / 8.0  # 1/(2 E|g|)^2: the slope of the sign is 1/2, as with the ReLU

# Hermite coefficients.
REACH = 13.0  # of the grid: beyond it the root of the normal density is below 1e-18
STEP = 0.1  # at a deviation of one
MOST_ORDERS = 64  # orders
ORDERS_LEFT = 1e-10  # of E f^2: what the orders left out may hold
DEVIATIONS = 65  # at which the coefficients are found; between them they are cubic


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """How far off losses were in simulated cells, relative: what no estimate from within would show."""

    features: float = 0.0  # where N alone matters
    few: float = 0.1  # the same for few features
    data: float = 0.03  # where D alone matters
    between: float = 0.15  # of the part that the other size adds
    below: float = 1.0  # N over the rank, up to which there is a theory of both sizes
    above: float = 1.0  # the rank over N, up to which there is


@dataclass(frozen=True, slots=True)
class Part:
    """One parity of f, odd where coordinates are among its ``targets``. Equal parts have equal digests."""

    digest: str
    targets: bool
    f: Function = field(compare=False, repr=False)
    form: Literal["kink", "jump", "smooth"] = "smooth"

    @property
    def parity(self) -> int:
        return int(self.targets)

    def kernel(self, left: FloatArray, right: FloatArray, covariance: FloatArray) -> FloatArray:
        """E f(X) f(Y) for Gaussian X, Y of variances left, right and this covariance."""
        if self.form == "smooth":
            from sparselaw.nonlinear.kernel_loops import mehler_kernel  # numba: only where it is needed

            norm = math.sqrt(max(float(np.max(left)), float(np.max(right))))
            largest = 2.0 ** (math.ceil(4.0 * math.log2(norm)) / 4.0)  # so that few tables serve all
            return mehler_kernel(_orders(self, largest), self.parity, left, right, covariance)
        size = np.sqrt(left * right)
        cosine = np.clip(covariance / np.maximum(size, 1e-300), -1.0, 1.0)
        if self.form == "jump":  # Sheppard 1899
            return np.asarray(SIGN_SCALE * (2.0 / math.pi) * np.arcsin(cosine))
        even = size * np.sqrt(1.0 - cosine**2) + covariance * np.arcsin(cosine)
        return np.asarray((0.5 / math.pi) * even)

    def mean_and_slope(self, means: FloatArray, deviations: FloatArray) -> tuple[FloatArray, FloatArray]:
        """E f(X) and E f'(X) of an even part for every Gaussian X of these: (deviations, means)."""
        if self.form == "smooth":
            s, m = (x.ravel() for x in np.meshgrid(deviations, means, indexing="ij"))
            found = coefficients(self.f, m, s, self.parity)[0].reshape(deviations.size, means.size, -1)
            return found[:, :, 0], found[:, :, 1] / np.maximum(deviations, 1e-300)[:, None]
        from scipy.special import erf  # only where tables are made

        m, s = means[None, :], np.maximum(deviations[:, None], 1e-100)
        slope = erf(m / (math.sqrt(2.0) * s))
        mean = m * slope + math.sqrt(2.0 / math.pi) * s * np.exp(-0.5 * (m / s) ** 2)
        return 0.5 * mean, 0.5 * slope


@dataclass(frozen=True, slots=True)
class Response:
    """An activation, f(z) = slope z + ``weight`` times the sum of its parts. Equal ones answer alike."""

    digest: str
    slope: float | None  # where the odd part is linear; None where it is among the parts
    parts: tuple[Part, ...]  # those that have tables
    weight: float = 1.0
    trust: Trust = Trust(few=0.12, data=0.04, between=0.2)
    dense: bool = True  # whether there are tables for dense inputs

    @property
    def even(self) -> bool:
        """Whether f has an even part."""
        return self.weight != 0.0 and any(not part.targets for part in self.parts)

    @property
    def even_weight(self) -> float:
        """What the kernel of the parts is multiplied by, where the odd slope is 1/2."""
        return (0.5 * self.weight / self.slope) ** 2 if self.slope else 1.0

    def apply(self, z: FloatArray) -> FloatArray:
        return np.asarray((self.slope or 0.0) * z + self.weight * sum(part.f(z) for part in self.parts))

    def kernel(self, left: FloatArray, right: FloatArray, covariance: FloatArray) -> FloatArray:
        """E f(X) f(Y) for Gaussian X, Y of variances left, right and this covariance."""
        curved = self.kernel_of_parts(left, right, covariance)
        return np.asarray((self.slope or 0.0) ** 2 * covariance + curved)

    def kernel_of_parts(self, left: FloatArray, right: FloatArray, covariance: FloatArray) -> FloatArray:
        """The same without the linear part."""
        found = [part.kernel(left, right, covariance) for part in self.parts]
        return np.asarray(self.weight**2 * sum(found, start=np.zeros(np.shape(covariance))))


KINK = Part("kink", False, lambda z: 0.5 * np.abs(z), "kink")
JUMP = Part("sign", True, lambda z: math.sqrt(SIGN_SCALE) * np.sign(z), "jump")
SIGN_TRUST = Trust(features=0.2, few=0.5, data=0.08, between=0.3, below=0.3, above=0.06)
SIGN = Response("sign", None, (JUMP,), trust=SIGN_TRUST, dense=False)


def kinked(slope: float, kink: float) -> Response:
    """f(z) = slope z + kink |z|."""
    return Response(f"kinked {slope!r} {kink!r}", slope, (KINK,), 2.0 * kink, Trust())


def response_of(f: Function) -> Response | None:
    """The response of an activation, None if it is too rough; f may overwrite what it is given.

    Smooth ones are divided by twice their slope E f(g) g: the kernel of x_j is about s_j/4, as with the ReLU.
    """
    z = LOOKED_AT
    above, below = f(z.copy()), f(-z)
    odd, even = 0.5 * (above - below), 0.5 * (above + below)
    size = float(max(np.abs(above).max(), np.abs(below).max()))
    slope, kink = float(odd[0] / z[0]), float(even[0] / z[0])
    linear = bool(np.abs(odd - slope * z).max() <= SAME * size)
    has_even = bool(np.abs(even).max() > SAME * size)
    if linear and np.abs(even - kink * z).max() <= SAME * size:
        return kinked(slope, kink)
    if not has_even and np.abs(odd - odd[0]).max() <= SAME * size:
        return SIGN
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    scale = slope if linear else float(weights @ (points * f(points.copy())) / weights.sum())
    none = abs(scale) <= SAME * size
    factor = 1.0 / size if none else 0.5 / scale
    digest = hashlib.sha256(np.round(np.concatenate([above, below]) / size, 12).tobytes()).hexdigest()[:24]

    def part(odd: bool) -> Part:
        sign = -1.0 if odd else 1.0
        return Part(digest, odd, lambda x: (0.5 * factor) * (f(x.copy()) + sign * f(-x)))

    parts = [part(False)] * has_even + [part(True)] * (not linear)
    if any(coefficients(one.f, np.zeros(1), np.ones(1), one.parity)[1] > ROUGH for one in parts):
        return None
    return Response(digest, None if not linear else 0.0 if none else 0.5, tuple(parts))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Orders:
    """c_k at each mean and at even steps of the deviation from 0 to ``largest``: (means, deviations, K)."""

    largest: float
    values: FloatArray
    left_out: float  # of E f^2, at the worst: what was given to the last order


def hermite_orders(f: Function, means: FloatArray, largest: float, parity: int) -> Orders:
    """``parity``: 0 for an even f, 1 for an odd one; it is the parity of the last order too."""
    s = np.linspace(0.0, largest, DEVIATIONS)
    kept, left_out = coefficients(f, np.repeat(means, DEVIATIONS), np.tile(s, means.size), parity)
    return Orders(largest=largest, values=kept.reshape(means.size, DEVIATIONS, -1), left_out=left_out)


@functools.lru_cache(maxsize=16)
def _orders(part: Part, largest: float) -> Orders:
    return hermite_orders(part.f, np.zeros(1), largest, part.parity)


def coefficients(
    f: Function,
    means: FloatArray,
    deviations: FloatArray,
    parity: int,
    most: int = MOST_ORDERS,
    negligible: float = ORDERS_LEFT,
) -> tuple[FloatArray, float]:
    """c_k at each pair of a mean and a deviation, (pairs, K), and what was given to the last order."""
    step = STEP / max(1.0, float(deviations.max()))
    points = step * np.arange(-math.ceil(REACH / step), math.ceil(REACH / step) + 1.0)
    root = np.exp(-0.25 * points**2)
    root /= np.linalg.norm(root)
    polynomials = [np.zeros_like(root), root]  # h_k times the root of the weights
    for k in range(most - 1):
        before, last = polynomials[-2:]
        polynomials.append((points * last - math.sqrt(k) * before) / math.sqrt(k + 1.0))
    values = f(means[:, None] + deviations[:, None] * points) * root
    squares = np.sum(values**2, axis=1)
    found = values @ np.stack(polynomials[1:]).T
    left = squares[:, None] - np.cumsum(found**2, axis=1)  # beyond each order
    enough = np.flatnonzero(left.max(axis=0) <= negligible * squares.max())
    count = int(enough[0]) + 1 if enough.size else most - 1
    count = min(count + (count - parity) % 2, most - 2 + parity % 2)
    rest = np.maximum(left[:, count - 1], 0.0)
    kept = np.concatenate([found[:, :count], np.sqrt(rest)[:, None]], axis=1)
    return np.ascontiguousarray(kept), float(rest.max() / squares.max())
