"""A Gram law seen through D samples and N random features: the effective ridge of every pole.

The law is a sum over modes of curvature h (those of the data's Gram matrix over D), with S = sum weight h/(h
+ kappa') and the variance that each mode carries. Samples that show several coordinates at once mix them,
and so do N random features. Both are a change of variable,

    kappa = kappa' (1 - S/D),     z = kappa (1 - S/N),

with S the same in all three. Then on average over data and features, for H = u G u^T/D,

    tr H (H+z)^-1 = S,    tr u Sigma u^T (H+z)^-1 = t/kappa,    t = open + kappa' sum variance/(h + kappa').

Two resolvents at once follow from the resolvent identity, and no digit is lost where their poles are close:
with R = 1/(h + kappa'), P_ij = sum variance R_i R_j, Q_ij = sum weight h R_i R_j, q = 1 - S/D, a = sum
variance R and e_ij = q_j + kappa'_i Q_ij/D,

    A_ij = tr Sigma (G+kappa_i)^-1 (G+kappa_j)^-1 = open/(kappa_i kappa_j) + [P q_j + a_j Q/D]/(q_i q_j e)
    1 - B_ij/N, B = tr G^2 (G+kappa_i)^-1 (G+kappa_j)^-1,   = z_i/kappa_i + kappa_j Q/(N e).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.theory.training.filters import CHANCE, NORMAL, ComplexArray, Filter

CLOSE = 1e-11  # relative: where Newton's method stops
ITERATIONS = 300
MANY = 64  # poles from which on pairs are differences of single sums, as the resolvent identity has them
SAME = 1e-7  # relative: poles that close are one


@dataclass(frozen=True, slots=True)
class Seen:
    """Effective ridges at poles z: kappa, and kappa' of the modes; S there."""

    z: ComplexArray
    kappa: ComplexArray
    inner: ComplexArray  # kappa'
    resolved: ComplexArray  # S

    def conj(self) -> Seen:
        return Seen(self.z.conj(), self.kappa.conj(), self.inner.conj(), self.resolved.conj())


@dataclass(frozen=True, slots=True)
class Medium:
    """``weight`` modes of ``curvature`` that carry ``variance``; ``open`` is the variance of what is unseen.

    ``samples`` (infinite: the data mix nothing, or they are given) and ``features`` (infinite: none).
    """

    weight: FloatArray
    curvature: FloatArray
    variance: FloatArray
    open: float
    samples: float
    features: float

    @property
    def total(self) -> float:
        """The loss before training."""
        return self.open + float(self.variance.sum())

    def seen(self, z: ComplexArray) -> Seen:
        """The effective ridges at the poles; rows of ``z`` are followed one from the other."""
        rows = np.atleast_2d(z)
        inner = np.empty(rows.shape, dtype=np.complex128)
        flat = not (math.isfinite(self.samples) or math.isfinite(self.features))
        trace = float(self.weight @ self.curvature) * (1.0 / self.samples + 1.0 / self.features)
        guess = rows[0] + trace
        for i, row in enumerate(rows):
            if flat:
                inner[i] = row
                continue
            inner[i], slope = _newton(self._shift, row, guess)
            if i + 1 < len(rows):
                guess = inner[i] + (rows[i + 1] - row) / slope
                guess = np.where(guess.imag > 0.0, guess, inner[i])
        inner = inner.reshape(z.shape)
        resolved = self.sums(self.weight * self.curvature, inner)
        return Seen(z, np.asarray(inner * (1.0 - resolved * (1.0 / self.samples))), inner, resolved)

    def sums(self, column: FloatArray, inner: ComplexArray) -> ComplexArray:
        """sum column/(h + kappa') at every kappa'; a matrix of columns gives a row for each."""
        flat = column @ (1.0 / (self.curvature[:, None] + inner.ravel()))
        return np.asarray(flat.reshape(column.shape[:-1] + inner.shape))

    def fitted(self, at: Seen) -> ComplexArray:
        """tr u Sigma u^T (H+z)^-1 = t/kappa."""
        unresolved = self.open + at.inner * self.sums(self.variance, at.inner)
        return np.asarray(unresolved / at.kappa)

    def left(self, filter: Filter) -> float:
        """The mean population loss after the filter: sum_ij w_i w_j (kappa kappa'/(z z')) A/(1 - B/N)."""
        at = self.seen(filter.z)
        factor = filter.weight * at.kappa / at.z
        upper = self._pairs(at, at)
        if filter.real:
            return float(np.real(factor @ upper @ factor))
        mixed = self._pairs(at, at.conj())
        return float(2.0 * np.real(factor @ upper @ factor + factor @ mixed @ factor.conj()))

    def stiffness(self, z: float) -> tuple[float, float, float]:
        """(kappa, S, N - df2) at a real pole: the loss of that ridge has the pole 1/(N - df2)."""
        at = self.seen(np.array([z], dtype=np.complex128))
        kappa, inner, S = (float(row[0].real) for row in (at.kappa, at.inner, at.resolved))
        Q = float((self.weight * self.curvature) @ (1.0 / (self.curvature + inner)) ** 2)
        e = 1.0 - S / self.samples + inner * Q / self.samples
        return kappa, S, self.features * z / kappa + kappa * Q / e

    def noise(self, once: Filter, squared: Filter) -> float:
        """tr u Sigma u^T (1 - rho)^2/H: what fitted label noise of variance one adds, times D."""
        both = (float(np.real((f.weight / f.z) @ self.fitted(self.seen(f.z)))) for f in (once, squared))
        first, second = both
        return (1.0 if once.real else 2.0) * (2.0 * first - second)

    def column_lengths(self, left: Callable[[FloatArray], FloatArray], edge: float, columns: float) -> float:
        """What columns of the embedding that differ in length add, in the midst of training.

        Their squared length has the variance 2/N, of which the effective ridge holds one half: the mean of
        rho^2 over lengths of variance 2/N less that of variance 1/N. ``left`` is rho; beyond the ``edge`` of
        stability a run would have diverged.
        """
        if math.isinf(columns):
            return 0.0

        def mean(degrees: float) -> float:
            """Over chi-square lengths at normal places, by the cube of Wilson and Hilferty."""
            root = math.sqrt(2.0 / (9.0 * degrees))
            lengths = np.maximum(1.0 - root**2 + root * NORMAL, 0.1) ** 3
            drawn = np.minimum(np.multiply.outer(lengths / (CHANCE @ lengths), self.curvature), edge)
            return float(CHANCE @ (left(drawn) ** 2 @ self.variance))

        return mean(columns) - mean(2.0 * columns)

    def _pairs(self, i: Seen, j: Seen) -> ComplexArray:
        """A/(1 - B/N) for every pair of poles."""
        own = self.sums(self.variance, j.inner)
        P = self._both(self.variance, i.inner, j.inner)
        Q = self._both(self.weight * self.curvature, i.inner, j.inner)
        mixed, few = 1.0 / self.samples, 1.0 / self.features
        q, other = 1.0 - mixed * i.resolved[:, None], 1.0 - mixed * j.resolved
        e = other + mixed * i.inner[:, None] * Q
        A = self.open / (i.kappa[:, None] * j.kappa) + (P * other + mixed * own * Q) / (q * other * e)
        return np.asarray(A / ((i.z / i.kappa)[:, None] + few * j.kappa * Q / e))

    def _both(self, column: FloatArray, left: ComplexArray, right: ComplexArray) -> ComplexArray:
        """sum column/((h + left)(h + right)) for every pair; many are differences of single sums."""
        if left.size <= MANY:
            by_left, by_right = (1.0 / (self.curvature + inner[:, None]) for inner in (left, right))
            return np.asarray((by_left * column) @ by_right.T)
        gap = right[None, :] - left[:, None]
        same = np.abs(gap) < SAME * np.abs(left[:, None])
        single = self.sums(column, left)
        found = (single[:, None] - self.sums(column, right)[None, :]) / np.where(same, 1.0, gap)
        for a, b in zip(*np.nonzero(same), strict=True):
            found[a, b] = column @ (1.0 / ((self.curvature + left[a]) * (self.curvature + right[b])))
        return np.asarray(found)

    def _shift(self, inner: ComplexArray) -> tuple[ComplexArray, ComplexArray]:
        """z and its slope at kappa'."""
        inverse = 1.0 / (self.curvature[:, None] + inner)
        column = self.weight * self.curvature
        S = column @ inverse
        np.multiply(inverse, inverse, out=inverse)
        slope = -(column @ inverse)
        mixed, few = 1.0 / self.samples, 1.0 / self.features
        q, m = 1.0 - mixed * S, 1.0 - few * S
        return inner * q * m, q * m - inner * slope * (mixed * m + few * q)


Shift = Callable[[ComplexArray], tuple[ComplexArray, ComplexArray]]


def _newton(shift: Shift, z: ComplexArray, k: ComplexArray) -> tuple[ComplexArray, ComplexArray]:
    """The root of shift(k) = z in the half plane of z, and the slope there."""
    for _ in range(ITERATIONS):
        value, slope = shift(k)
        step = _damped(k, (value - z) / slope)
        k = k - step
        if np.all(np.abs(step) <= CLOSE * np.abs(k)):
            break
    return k, slope


def _damped(k: ComplexArray, step: ComplexArray) -> ComplexArray:
    """Shortened where k - step would leave the upper half plane, and to nine tenths of k's size."""
    length = np.abs(step)
    share = np.minimum(1.0, 0.9 * np.abs(k) / np.where(length > 0.0, length, 1.0))
    falls = step.imag * share
    cut = (falls >= k.imag) & (k.imag > 0.0)
    share = np.where(cut, share * 0.5 * k.imag / np.where(falls > 0.0, falls, 1.0), share)
    return np.asarray(step * share)
