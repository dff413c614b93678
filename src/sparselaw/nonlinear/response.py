"""What the theory asks of an activation f: its kernel, and what its even and odd parts have to be known for.

Inputs have either sign alike, so the kernel E f(u x) f(u y) is that of the even part of f and that of its odd
part, which do not mix. A linear target is odd. Where the odd part of f is linear, every coordinate is an
eigenfunction of its own and the even part only uses up features. Where it is not, functions of one parity
that the kernel can tell apart stand beside each coordinate, and the target is a vector among them.

``Response`` and ``Part`` are what is asked; ``Kinked`` (ReLU, |z|) and ``Step`` (the sign) answer in closed
form, and ``smooth.Smooth`` answers for any other function.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from sparselaw.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """How far off losses were in simulated cells, relative: what no estimate from within would show."""

    features: float = 0.0  # where N alone matters
    few: float = 0.1  # the same for few features
    data: float = 0.03  # where D alone matters
    between: float = 0.15  # of the part that the other size adds
    below: float = 1.0  # N over the rank, up to which there is a theory of both sizes
    above: float = 1.0  # the rank over N, up to which there is


STEP_TRUST = Trust(features=0.2, few=0.5, data=0.08, between=0.3, below=0.3, above=0.06)
STEP_SCALE = math.pi / 8.0  # 1/(2 E|g|)^2: the slope is 1/2, as with the ReLU


class DensePairs(NamedTuple):
    """Dense samples in pairs, and the types of units that look at them."""

    head: FloatArray  # (n, q): sizes of the first coordinates
    rest: FloatArray  # (n, n): products of all others
    types: FloatArray  # (Q, 2): |u_1| and |u_j|
    known: tuple[bool, int]  # whether |u_1| is known, and the coordinate j (0: none)


class Part(Protocol):
    """The kernel of one parity, as the tables of sectors need it."""

    def __hash__(self) -> int: ...

    @property
    def targets(self) -> bool:
        """Whether coordinates are among its functions."""

    @property
    def jump(self) -> bool:
        """Whether it has a jump, which makes small sectors larger."""

    @property
    def identity(self) -> dict[str, Any]:
        """Under which its tables are kept."""

    def sums(
        self, start: IntArray, c: FloatArray, part: IntArray, typed: IntArray, types: FloatArray, first: bool
    ) -> FloatArray:
        """2^-m sum over signs of prod_{ODD} e E f(X) f(Y) for each configuration and type: (E, Q).

        Configuration e has the active coordinates start[e] to start[e+1] of two samples, of squared amplitude
        c and ``part`` (ODD, SHARED, LEFT, RIGHT). ``types`` (Q, 2) has |u_1|, if ``first``, and the |u| of
        the coordinates that are ``typed``; the others are Gaussian.
        """

    def mean_and_slope(self, means: FloatArray, deviations: FloatArray) -> tuple[FloatArray, FloatArray]:
        """E f(X) and E f'(X) for every Gaussian X of these means and deviations: (deviations, means).

        It is asked of even parts alone.
        """

    def reflected(self, pairs: DensePairs, slope: bool = False) -> FloatArray:
        """E f(u x) f(u y) for each pair, each reflection of y, and each type: (2^q, n, n, Q).

        With ``slope`` it is E f'(u x) f'(u y).
        """


class Response(Protocol):
    """An activation, up to a factor. It is equal to others with the same answers."""

    def __hash__(self) -> int: ...

    @property
    def parts(self) -> tuple[Part, ...]:
        """Those that have tables, since they are not known in closed form."""

    @property
    def even_weight(self) -> float:
        """What the kernel of the parts is multiplied by, where the odd slope is 1/2."""

    @property
    def slope(self) -> float | None:
        """a where the odd part of f is a z; None where it is not linear."""

    @property
    def even(self) -> bool:
        """Whether f has an even part."""

    @property
    def trust(self) -> Trust:
        """What simulation says of its losses."""

    @property
    def dense(self) -> bool:
        """Whether there are tables for dense inputs."""

    @property
    def identity(self) -> dict[str, Any]:
        """Under which results for this activation are kept."""

    def apply(self, z: FloatArray) -> FloatArray:
        """f(z)."""

    def kernel(self, left: FloatArray, right: FloatArray, covariance: FloatArray) -> FloatArray:
        """E f(X) f(Y) for Gaussian X, Y of variances left, right and this covariance."""

    def even_kernel(self, left: FloatArray, right: FloatArray, covariance: FloatArray) -> FloatArray:
        """The same of the even part of f."""


@dataclass(frozen=True, slots=True)
class KinkPart:
    """|z|/2, the even part of every activation with one kink, up to a factor; with ``jump`` the sign, odd."""

    jump: bool = False

    @property
    def targets(self) -> bool:
        return self.jump

    @property
    def identity(self) -> dict[str, Any]:
        return {"activation": "sign"} if self.jump else {}

    def sums(
        self, start: IntArray, c: FloatArray, part: IntArray, typed: IntArray, types: FloatArray, first: bool
    ) -> FloatArray:
        from sparselaw.nonlinear.kink_kernel import alternating_sums  # numba: only where it is needed

        return alternating_sums(start, c, part, typed, types, first, step=self.jump)

    def mean_and_slope(self, means: FloatArray, deviations: FloatArray) -> tuple[FloatArray, FloatArray]:
        from scipy.special import erf  # only where tables are made

        m, s = means[None, :], np.maximum(deviations[:, None], 1e-100)
        slope = erf(m / (math.sqrt(2.0) * s))
        mean = m * slope + math.sqrt(2.0 / math.pi) * s * np.exp(-0.5 * (m / s) ** 2)
        return 0.5 * mean, 0.5 * slope

    def reflected(self, pairs: DensePairs, slope: bool = False) -> FloatArray:
        from sparselaw.nonlinear.kink_kernel import reflected_kernel

        assert not slope
        assert not self.jump  # dense inputs have no tables of a step
        return reflected_kernel(*pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kinked:
    """f(z) = slope z + kink |z|.

    The kernel of random features is slope^2 x.x' + kink^2 E|u x||u x'|. Inputs have either sign alike, so
    its two parts do not mix, and x_j is an exact eigenfunction of it, of eigenvalue slope^2 E x_j^2. The even
    part holds nothing of a linear target; it only uses up features.
    """

    parts: ClassVar[tuple[Part, ...]] = (KinkPart(),)
    dense: ClassVar[bool] = True
    trust: ClassVar[Trust] = Trust()
    slope: float
    kink: float

    @property
    def even(self) -> bool:
        return self.kink != 0.0

    @property
    def even_weight(self) -> float:
        """The even part of the kernel over the odd part, both for slope = kink: (kink/slope)^2."""
        return (self.kink / self.slope) ** 2

    @property
    def identity(self) -> dict[str, Any]:
        return {"kinked": [self.slope, self.kink]}

    def apply(self, z: FloatArray) -> FloatArray:
        return np.asarray(self.slope * z + self.kink * np.abs(z))

    def kernel(self, left: FloatArray, right: FloatArray, covariance: FloatArray) -> FloatArray:
        """E f(X) f(Y) for Gaussian X, Y of variances left, right and this covariance."""
        found: FloatArray = self.slope**2 * covariance + self.even_kernel(left, right, covariance)
        return found

    def even_kernel(self, left: FloatArray, right: FloatArray, covariance: FloatArray) -> FloatArray:
        """kink^2 E|X||Y|."""
        size = np.sqrt(left * right)
        cosine = np.clip(covariance / np.maximum(size, 1e-300), -1.0, 1.0)
        even = size * np.sqrt(1.0 - cosine**2) + covariance * np.arcsin(cosine)
        found: FloatArray = self.kink**2 * (2.0 / math.pi) * even
        return found


@dataclass(frozen=True, slots=True)
class Step:
    """f(z) = sign(z) over twice its slope E|g|."""

    parts: tuple[Part, ...] = (KinkPart(jump=True),)
    slope: float | None = None
    even: bool = False
    even_weight: float = 1.0
    trust: Trust = STEP_TRUST
    dense: bool = False

    @property
    def identity(self) -> dict[str, Any]:
        return {"activation": "sign"}

    def apply(self, z: FloatArray) -> FloatArray:
        return np.asarray(math.sqrt(STEP_SCALE) * np.sign(z))

    def kernel(self, left: FloatArray, right: FloatArray, covariance: FloatArray) -> FloatArray:
        """2/pi asin(cosine) (Sheppard 1899), times the scale."""
        size = np.maximum(np.sqrt(left * right), 1e-300)
        cosine = np.clip(covariance / size, -1.0, 1.0)
        return np.asarray(STEP_SCALE * (2.0 / math.pi) * np.arcsin(cosine))

    def even_kernel(self, left: FloatArray, right: FloatArray, covariance: FloatArray) -> FloatArray:
        return np.zeros(np.broadcast_shapes(left.shape, right.shape, covariance.shape))
