"""A Gram law seen through D samples and N random features: the effective ridge of every pole.

The law is a sum over modes of curvature h (those of the data's Gram matrix over D), with S = sum weight h/(h
+ kappa') and the variance that each mode carries. Samples that show several coordinates at once mix them,
and so do N random features. Both are a change of variable,

    kappa = kappa' (1 - S/D),     z = kappa (1 - S/N),

with S the same in all three. Then on average over data and features, for H = u G u^T/D,

    tr H (H+z)^-1 = S,    tr u Sigma u^T (H+z)^-1 = t/kappa,    t = unseen + kappa' sum variance/(h + kappa').

Two resolvents at once follow from the resolvent identity, and no digit is lost where their poles are close:
with R = 1/(h + kappa'), P_ij = sum variance R_i R_j, Q_ij = sum weight h R_i R_j, q = 1 - S/D, a = sum
variance R and e_ij = q_j + kappa'_i Q_ij/D,

    A_ij = tr Sigma (G+kappa_i)^-1 (G+kappa_j)^-1 = unseen/(kappa_i kappa_j) + [P q_j + a_j Q/D]/(q_i q_j e)
    1 - B_ij/N, B = tr G^2 (G+kappa_i)^-1 (G+kappa_j)^-1,   = z_i/kappa_i + kappa_j Q/(N e).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.theory.training.filters import CHANCE, NORMAL, ComplexArray, Filter

LAST_STEP = 1e-11  # relative: where Newton's method stops
ITERATIONS = 300
MANY_POLES = (
    64  # poles from which on pairs are differences of single sums, as the resolvent identity has them
)
SAME = 1e-7  # relative: poles that close are one


@dataclass(frozen=True, slots=True)
class EffectiveRidges:
    """Effective ridges at poles z: kappa, and kappa' of the modes; S there."""

    z: ComplexArray
    kappa: ComplexArray
    inner: ComplexArray  # kappa'
    df1: ComplexArray  # S = sum weight h/(h + kappa')
    inverse: ComplexArray  # (modes, poles): 1/(h + kappa')

    def conj(self) -> EffectiveRidges:
        """At the conjugate poles."""
        return EffectiveRidges(*(np.conj(getattr(self, name)) for name in self.__slots__))

    def sums(self, column: FloatArray) -> ComplexArray:
        """sum column/(h + kappa') over the modes at every pole; a matrix of columns gives a row for each."""
        return np.asarray((column @ self.inverse).reshape(column.shape[:-1] + self.inner.shape))


@dataclass(frozen=True, slots=True)
class Medium:
    """``weight`` modes of ``curvature`` that carry ``variance``; ``unseen`` variance no sample shows.

    ``samples`` (infinite: the data mix nothing, or they are given) and ``features`` (infinite: none).
    """

    weight: FloatArray
    curvature: FloatArray
    variance: FloatArray
    unseen: float
    samples: float
    features: float

    @property
    def total(self) -> float:
        """The loss before training."""
        return self.unseen + float(self.variance.sum())

    def ridges_at(self, z: ComplexArray, near: EffectiveRidges | None = None) -> EffectiveRidges:
        """The effective ridges at the poles; rows of ``z`` are followed one from the other.

        ``near``: those of a medium that hardly differs, at the same poles.
        """
        rows = np.atleast_2d(z)
        inner = np.array(rows, dtype=np.complex128)
        if math.isfinite(self.samples) or math.isfinite(self.features):
            trace = float(self.weight @ self.curvature) * (1.0 / self.samples + 1.0 / self.features)
            guess = rows[0] + trace if near is None else near.inner
            for i, row in enumerate(rows):
                inner[i], slope = self._solved(row, guess)
                if i + 1 < len(rows):
                    guess = inner[i] + (rows[i + 1] - row) / slope
                    guess = np.where(guess.imag > 0.0, guess, inner[i])
        inner = inner.reshape(z.shape)
        inverse = 1.0 / (self.curvature[:, None] + inner.ravel())
        df1 = ((self.weight * self.curvature) @ inverse).reshape(z.shape)
        return EffectiveRidges(z, inner * (1.0 - df1 * (1.0 / self.samples)), inner, df1, inverse)

    def left(self, filter: Filter, at: EffectiveRidges | None = None) -> float:
        """The mean population loss after the filter: sum_ij w_i w_j (kappa kappa'/(z z')) A/(1 - B/N)."""
        at = self.ridges_at(filter.z) if at is None else at
        factor = filter.weight * at.kappa / at.z
        upper, mixed = self._pairs(at, at), self._pairs(at, at.conj())
        return float(2.0 * np.real(factor @ upper @ factor + factor @ mixed @ factor.conj()))

    def stiffness(self, z: float) -> tuple[float, float, float]:
        """(kappa, S, N - df2) at a real pole: the loss of that ridge has the pole 1/(N - df2)."""
        at = self.ridges_at(np.array([z], dtype=np.complex128))
        kappa, inner, S = (float(row[0].real) for row in (at.kappa, at.inner, at.df1))
        Q = float((self.weight * self.curvature) @ at.inverse.real.ravel() ** 2)
        e = 1.0 - S / self.samples + inner * Q / self.samples
        return kappa, S, self.features * z / kappa + kappa * Q / e

    def noise(self, once: Filter, squared: Filter) -> float:
        """tr u Sigma u^T (1 - rho)^2/H: what fitted label noise of variance one adds, times D."""
        found = []
        for filter in (once, squared):
            at = self.ridges_at(filter.z)
            trace = (self.unseen + at.inner * at.sums(self.variance)) / at.kappa  # t/kappa
            found.append(float(np.real((filter.weight / filter.z) @ trace)))
        return 2.0 * (2.0 * found[0] - found[1])

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

    def _pairs(self, i: EffectiveRidges, j: EffectiveRidges) -> ComplexArray:
        """A/(1 - B/N) for every pair of poles."""
        P, Q = self._both(self.variance, i, j), self._both(self.weight * self.curvature, i, j)
        mixed, few = 1.0 / self.samples, 1.0 / self.features
        q, other = 1.0 - mixed * i.df1[:, None], 1.0 - mixed * j.df1
        e = other + mixed * i.inner[:, None] * Q
        A = self.unseen / (i.kappa[:, None] * j.kappa) + (P * other + mixed * j.sums(self.variance) * Q) / (
            q * other * e
        )
        return np.asarray(A / ((i.z / i.kappa)[:, None] + few * j.kappa * Q / e))

    def _both(self, column: FloatArray, i: EffectiveRidges, j: EffectiveRidges) -> ComplexArray:
        """sum column R_i R_j for every pair; many are differences of single sums."""
        if i.z.size <= MANY_POLES:
            return np.asarray((i.inverse.T * column) @ j.inverse)
        gap = j.inner[None, :] - i.inner[:, None]
        same = np.abs(gap) < SAME * np.abs(i.inner[:, None])
        found = (i.sums(column)[:, None] - j.sums(column)[None, :]) / np.where(same, 1.0, gap)
        a, b = np.nonzero(same)
        found[a, b] = column @ (i.inverse[:, a] * j.inverse[:, b])
        return np.asarray(found)

    def _solved(self, z: ComplexArray, inner: ComplexArray) -> tuple[ComplexArray, ComplexArray]:
        """kappa' in the half plane of z, and the slope of z there, by Newton's method.

        A step is shortened to nine tenths of its size, and where it would leave the upper half plane.
        """
        mixed, few, column = 1.0 / self.samples, 1.0 / self.features, self.weight * self.curvature
        for _ in range(ITERATIONS):
            inverse = 1.0 / (self.curvature[:, None] + inner)
            S, fall = column @ inverse, -(column @ (inverse * inverse))
            q, m = 1.0 - mixed * S, 1.0 - few * S
            slope = q * m - inner * fall * (mixed * m + few * q)
            step = (inner * q * m - z) / slope
            length, size = np.abs(step), np.abs(inner)
            step *= np.minimum(1.0, 0.9 * size / np.maximum(length, 1e-100 * size + 1e-300))
            leaves = (step.imag >= inner.imag) & (inner.imag > 0.0)
            if leaves.any():
                step[leaves] *= 0.5 * inner.imag[leaves] / step.imag[leaves]
            inner = inner - step
            if (length <= LAST_STEP * size).all():
                break
        return inner, slope
