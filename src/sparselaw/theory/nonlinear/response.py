"""What the theory asks of an activation f: its kernel, and what its even and odd parts have to be known for.

Inputs have either sign alike, so the kernel E f(u x) f(u y) is that of the even part of f and that of its odd
part, which do not mix. A linear target is odd. Where the odd part of f is linear, every coordinate is an
eigenfunction of its own and the even part only uses up features. Where it is not, functions of one parity
that the kernel can tell apart stand beside each coordinate, and the target is a vector among them.
"""

from __future__ import annotations

from typing import Any, Protocol

from sparselaw.arrays import FloatArray, IntArray


class Part(Protocol):
    """The kernel of one parity, as the tables of sectors need it."""

    def __hash__(self) -> int: ...

    @property
    def targets(self) -> bool:
        """Whether coordinates are among its functions."""

    def sums(
        self, start: IntArray, c: FloatArray, part: IntArray, typed: IntArray, types: FloatArray, first: bool
    ) -> FloatArray:
        """2^-m sum over signs of prod_{ODD} e E f(X) f(Y) for each configuration and type: (E, Q).

        Configuration e has the active coordinates start[e] to start[e+1] of two samples, of squared amplitude
        c and ``part`` (ODD, SHARED, LEFT, RIGHT). ``types`` (Q, 2) has |u_1|, if ``first``, and the |u| of
        the coordinates that are ``typed``; the others are Gaussian.
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
    def dense(self) -> bool:
        """Whether there are tables for dense inputs."""

    @property
    def identity(self) -> dict[str, Any]:
        """Under which results for this activation are kept."""

    @property
    def table_identity(self) -> dict[str, Any]:
        """Under which its tables are kept; activations may share them."""

    def kernel(self, left: FloatArray, right: FloatArray, covariance: FloatArray) -> FloatArray:
        """E f(X) f(Y) for Gaussian X, Y of variances left, right and this covariance."""

    def even_kernel(self, left: FloatArray, right: FloatArray, covariance: FloatArray) -> FloatArray:
        """The same of the even part of f."""
