"""The next order of the loss surface below the peak: terms of relative size 1/N in closed form.

The leading surface is the limit of many features. With f = g/(g+k), E sum f = N, B, C, F = E sum f^2, f^3,
f^4,

    v = N/(N-B), t = B/(N-B), d = (B-C)/(N-B)^2, b = 2 (v C - t B), c = 3 (v F - t C),
    T = t d - (b-c)/(N-B)^2 - 2 (B-C) b/(N-B)^3,
    loss = E sum s (1-f)^2 { v + T + [-2 t f + 3 v f^2 + f b/(N-B)]/(N-B) - 2 v d f }.

The first term in braces is the leading surface. For D to infinity the whole is k N [1 + (N C - B^2)/(N
(N-B)^2)], a factor 1 + (a-1)/(2N) for variances j^-a.
"""

from __future__ import annotations

from dataclasses import dataclass

from sparselaw.arrays import FloatArray


@dataclass(frozen=True, slots=True)
class FiniteWidth:
    """The loss with and without its terms of order 1/N; ``slack`` is (N-B)/N, small near the peak."""

    leading: float
    correction: float
    slack: float


def finite_width(N: float, B: float, C: float, F: float, A0: float, A1: float, A2: float) -> FiniteWidth:
    """From the sums of f^2, f^3, f^4 and of s (1-f)^2 f^m, m = 0, 1, 2."""
    free = N - B
    v, t, d = N / free, B / free, (B - C) / free**2
    b, c = 2.0 * (v * C - t * B), 3.0 * (v * F - t * C)
    T = t * d - (b - c) / free**2 - 2.0 * (B - C) * b / free**3
    correction = A0 * T + (-2.0 * t * A1 + 3.0 * v * A2 + A1 * b / free) / free - 2.0 * v * d * A1
    return FiniteWidth(A0 * v, correction, free / N)


def diagonal_width(weight: FloatArray, s: FloatArray, f: FloatArray, N: float) -> FiniteWidth:
    """Of a diagonal Gram: points of ``weight`` coordinates each, with variance s and f resolved of them."""
    B, C, F = (float(weight @ f**m) for m in (2, 3, 4))
    lost = weight * s * (1.0 - f) ** 2
    A0, A1, A2 = (float(lost @ f**m) for m in (0, 1, 2))
    return finite_width(N, B, C, F, A0, A1, A2)


def width_share(N: float, B: float, C: float) -> float:
    """(N C - B^2)/(N (N-B)^2): the correction relative to k N for infinitely many samples."""
    return (N * C - B * B) / (N * (N - B) ** 2)
