"""The next order of the loss surface below the peak: terms of relative size 1/N in closed form.

The leading surface is the limit of many features. With f = g/(g+k), E sum f = N, B, C, F = E sum f^2, f^3,
f^4,

    v = N/(N-B), t = B/(N-B), d = (B-C)/(N-B)^2, b = 2 (v C - t B), c = 3 (v F - t C),
    T = t d - (b-c)/(N-B)^2 - 2 (B-C) b/(N-B)^3,
    loss = E sum s (1-f)^2 { v + T + [-2 t f + 3 v f^2 + f b/(N-B)]/(N-B) - 2 v d f }.

The first term in braces is the leading surface. For D to infinity the whole is k N [1 + (N C - B^2)/(N
(N-B)^2)], a factor 1 + (a-1)/(2N) for variances j^-a.

A ridge is a tail of infinitely many coordinates with vanishing g and no variance: E sum f = N counts its h =
N ridge/k, and nothing else changes. Label noise of variance one adds tr Sigma Q G Q, with Q = W^T (W G W^T +
ridge)^-1 W. As Q G Q = (1 + ridge d/d ridge) Q, and E Q_ii = d/dg_i of E log det (W G W^T + ridge), whose
next order is log(1 - B/N)/2, with A_m = E sum s (1-f)^2 f^m and t = E sum s (1-f) it is

    q + (h/(N-B)) dq/dx,   q = (t - [A1 - A0 (B-C)/(N-B)]/(N-B))/k,   x = log k.
"""

from __future__ import annotations

import math
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


@dataclass(frozen=True, slots=True)
class Spectral:
    """Sums of one cut-off: of f^2, f^3, f^4, of s (1-f)^2 f^m for m = 0, 1, 2, and of s (1-f)."""

    log_k: float
    held: float  # N ridge/k
    B: float
    C: float
    F: float
    A0: float
    A1: float
    A2: float
    t: float

    def width(self, N: float) -> FiniteWidth:
        return finite_width(N, self.B, self.C, self.F, self.A0, self.A1, self.A2)

    def noise(self, N: float) -> FiniteWidth:
        """What label noise of variance one adds, with and without terms of order 1/N."""
        free, k = N - self.B, math.exp(self.log_k)
        share = self.held / free
        g = (self.B - self.C) / free
        # derivatives along x = log k, from df/dx = -f (1-f)
        B1, C1 = -2.0 * (self.B - self.C), -3.0 * (self.C - self.F)
        g1 = (B1 - C1) / free + g * B1 / free
        W = self.A1 - self.A0 * g
        W1 = 3.0 * self.A2 - self.A1 - 2.0 * self.A1 * g - self.A0 * g1
        next_order = -(W + share * (W1 + W * (B1 / free - 1.0))) / (k * free)
        return FiniteWidth((self.t - share * self.A0) / k, next_order, free / N)


def diagonal_sums(weight: FloatArray, s: FloatArray, f: FloatArray, log_k: float, held: float) -> Spectral:
    """Of a diagonal Gram: points of ``weight`` coordinates each, with variance s and f resolved of them."""
    lost = weight * s * (1.0 - f) ** 2
    B, C, F = (float(weight @ f**m) for m in (2, 3, 4))
    A0, A1, A2 = (float(lost @ f**m) for m in (0, 1, 2))
    return Spectral(log_k, held, B, C, F, A0, A1, A2, t=float((weight * s) @ (1.0 - f)))


def width_share(N: float, B: float, C: float) -> float:
    """(N C - B^2)/(N (N-B)^2): the correction relative to k N for infinitely many samples."""
    return (N * C - B * B) / (N * (N - B) ** 2)
