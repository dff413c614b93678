"""What the theory asks of an activation f: its kernel, and what its even and odd parts have to be known for.

Inputs have either sign alike, so the kernel E f(u x) f(u y) is that of the even part of f and that of its odd
part, which do not mix. A linear target is odd. Where the odd part of f is linear, every coordinate is an
eigenfunction of its own and the even part only uses up features. Where it is not, functions of one parity
that the kernel can tell apart stand beside each coordinate, and the target is a vector among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

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

    def kernel(self, left: FloatArray, right: FloatArray, covariance: FloatArray) -> FloatArray:
        """E f(X) f(Y) for Gaussian X, Y of variances left, right and this covariance."""

    def even_kernel(self, left: FloatArray, right: FloatArray, covariance: FloatArray) -> FloatArray:
        """The same of the even part of f."""
