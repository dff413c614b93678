"""Descent on a diagonal Gram with N random features: sparse data, or fresh samples of any kind.

With k = k(z), A1 = sum s/(g+k) and B1 = sum g/(g+k):

    population   (2 pi i)^-2 int int e^((z+z') tau) (k k'/(z z')) A/(1 - B/N) dz dz',
                 A = [A1(k) - A1(k')]/(k' - k),   B = [k' B1(k') - k B1(k)]/(k' - k)
    training     the inverse of (k/z) sum y c/(g+k), at 2 tau
    label noise  (1/D) [H(2 tau) - 2 H(tau)], H the inverse of -A1/z
    learned      the inverse of B1/z
    kernels      the inverse of -z sum s chi/(g+k), and with y c in place of s

Steps of finite size: a mode of rate g has the curvature (1 - e^(-eta g))/eta, of which the contour of
``stepped`` takes (1 - eta T)^steps. With momentum on the full batch it is the polynomial of the heavy ball.
tau to infinity is the loss surface without ridge.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.theory.training.contour import FEW_STEPS, ComplexArray, inverse, stepped
from sparselaw.theory.training.cutoffs import embedded, solve
from sparselaw.theory.training.modes import Modes
from sparselaw.theory.training.propagator import Propagator
from sparselaw.theory.training.schedule import Run

_NORMAL, _WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


class CountedDescent(Propagator):
    """Modes of a run and the N features they are seen through."""

    def __init__(
        self, modes: Modes, run: Run, N: float, columns: float = math.inf, shared: float = math.inf
    ) -> None:
        """``columns`` and ``shared``: the N and the D of the terms beyond leading order; infinite: none."""
        self.modes, self.run, self.N, self._columns, self._shared = modes, run, N, columns, shared
        self._curvature = modes.g
        self._ball = run.heavy_ball
        if self._ball is not None and not self._ball.covered:
            self._shared = math.inf  # no contour: only infinitely many features are asked for
        if run.steps >= FEW_STEPS and self._ball is None:
            self._curvature = -np.expm1(-run.step * modes.g) / run.step

    @property
    def fastest(self) -> float:
        return float(self.modes.g.max())

    def gains(self) -> tuple[float, float]:
        return float(self.modes.excited.sum()), float(self.modes.shaken.sum())

    def one_step(self) -> float:
        """tr S W G W: sum s y c + (sum s)(sum y c)/N."""
        modes = self.modes
        each = modes.variance * modes.curvature / np.where(modes.weight > 0.0, modes.weight, 1.0)
        return float(each.sum() + modes.variance.sum() * modes.curvature.sum() / self.N)

    def population_loss(self) -> float:
        """With two terms beyond leading order.

        Columns of the embedding differ in length, W_jj with the variance 2/N of which the transforms hold one
        half: 2/N (g tau)^2 e^(-2 g tau) of s. And coordinates share samples, a second mixing, by D in place
        of N, of what was seen; coordinates never seen are in no sample.
        """
        modes, scatter = self.modes, self._scatter()
        if math.isinf(self._shared):
            return self._mean_loss(modes, self.N) + scatter
        never = modes.g == 0.0
        unseen = replace(modes, variance=np.where(never, modes.variance, 0.0))
        seen = replace(modes, variance=np.where(never, 0.0, modes.variance))
        both = 1.0 / (1.0 / self.N + 1.0 / self._shared)
        return self._mean_loss(unseen, self.N) + self._mean_loss(seen, both) + scatter

    def _scatter(self) -> float:
        """Of the columns' lengths. Swings of a heavy ball take it to large phases: f^2 is averaged there."""
        if self._ball is None:
            worn = self.modes.g * self.run.time
            return 2.0 / self._columns * float(self.modes.variance @ (worn**2 * np.exp(-2.0 * worn)))
        if math.isinf(self._columns):
            return 0.0
        lengths = np.maximum(1.0 + _NORMAL / math.sqrt(self._columns), 0.0)
        stable = 1.99 * (1.0 + self._ball.momentum) / self._ball.step  # others would have ended the run
        there = _WEIGHTS @ self._ball.left(np.minimum(lengths[:, None] * self.modes.g, stable)) ** 2
        return float(self.modes.variance @ (there - self._ball.left(self.modes.g) ** 2))

    def _mean_loss(self, modes: Modes, N: float) -> float:
        tau = self.run.time
        if (math.isinf(N) or tau == 0.0) and self._ball is not None:
            return float(modes.variance @ self._ball.left(modes.g) ** 2)
        if math.isinf(N) or tau == 0.0:
            return float(modes.variance @ np.exp(-2.0 * modes.g * tau))
        k, factor = self._end(lambda z: self._cutoffs(z, N))
        g = self._curvature
        resolvent = 1.0 / (g[:, None] + k)
        lost, resolved = modes.variance @ resolvent, (modes.weight * g) @ resolvent
        square = resolvent * resolvent
        lost_slope, resolved_slope = modes.variance @ square, (modes.weight * g**2) @ square
        upper = divided(k, k, lost, lost, lost_slope) / (
            1.0 - divided(k, k, -k * resolved, -k * resolved, resolved_slope) / N
        )
        mixed = divided(k, k.conj(), lost, lost.conj()) / (
            1.0 - divided(k, k.conj(), -k * resolved, (-k * resolved).conj()) / N
        )
        return over_both_halves(factor, upper, mixed)

    def label_noise(self) -> float:
        modes, tau = self.modes, self.run.time
        if self.run.fresh or tau == 0.0:  # every sample brings its own: it is all noise of the batches
            return 0.0
        if math.isinf(self.N):
            with np.errstate(divide="ignore", invalid="ignore"):
                fitted = np.expm1(-modes.g * tau) if self._ball is None else 1.0 - self._ball.left(modes.g)
                each = fitted**2 / modes.g
            return float(modes.variance @ np.where(modes.g > 0.0, each, 0.0)) / self.run.D
        if self._ball is not None:
            once, twice = (self._of_ball(power) for power in (1, 2))
            return float(twice - 2.0 * once) / self.run.D
        times = np.array([tau, 2.0 * tau])
        z, jacobian = self._places(times)
        lost = self._sums(modes.variance[None, :], self._cutoffs(z))[0]
        once, twice = inverse(-jacobian * lost / z, times)
        return float(twice - 2.0 * once) / self.run.D

    def _of_ball(self, power: int) -> float:
        """H of a power of the heavy ball's polynomial."""
        assert self._ball is not None
        z, weight = self._ball.nodes(power)
        lost = self._sums(self.modes.variance[None, :], self._cutoffs(z))[0]
        return float(2.0 * np.real(weight @ (-lost / z)))

    def training_loss(self, times: FloatArray) -> FloatArray:
        return np.asarray(self._answers(self.modes.curvature[None, :], 2.0 * times, shifted=True)[0])

    def learned(self, times: FloatArray) -> FloatArray:
        weight = self.modes.weight
        return np.asarray(float(weight.sum()) - self._answers(weight[None, :], times, shifted=True)[0])

    def kernels(self, ages: FloatArray) -> FloatArray:
        return self._answers(np.stack([self.modes.excited, self.modes.shaken]), 2.0 * ages, shifted=False)

    def _answers(self, rows: FloatArray, times: FloatArray, *, shifted: bool) -> FloatArray:
        """The inverse of (k/z) sum a/(g+k) (shifted), or of -z sum a/(g+k), for each row a."""
        modes = self.modes
        if math.isinf(self.N):
            falling = np.exp(-modes.g[:, None] * times)
            return np.asarray((rows if shifted else rows * modes.g) @ falling, dtype=float)
        z, jacobian = self._places(times)
        k = self._cutoffs(z)
        return inverse(self._sums(rows, k) * jacobian * (k / z if shifted else -z), times)

    def _places(self, times: FloatArray) -> tuple[ComplexArray, ComplexArray]:
        """Of a finished function of the curvatures; short ages of few steps keep small ones."""
        return stepped(times, self.run.step if self.run.steps >= FEW_STEPS else 0.0)

    def _cutoffs(self, z: ComplexArray, N: float | None = None) -> ComplexArray:
        modes, N = self.modes, self.N if N is None else N
        start = float(modes.weight @ self._curvature) / N
        return solve(embedded(self._curvature, modes.weight, N), z, start)

    def _sums(self, rows: FloatArray, k: ComplexArray) -> ComplexArray:
        flat = rows @ (1.0 / (self._curvature[:, None] + k.ravel()))
        return np.asarray(flat.reshape(rows.shape[0], *k.shape))


def divided(
    k: ComplexArray, other: ComplexArray, value: ComplexArray, other_value: ComplexArray,
    diagonal: ComplexArray | None = None,
) -> ComplexArray:  # fmt: skip
    """[f(k) - f(k')]/(k' - k) for every pair, with ``diagonal`` = -f' where k and k' are the same nodes."""
    gap = other[None, :] - k[:, None]
    if diagonal is not None:
        np.fill_diagonal(gap, 1.0)
    quotient = (value[:, None] - other_value[None, :]) / gap
    if diagonal is not None:
        np.fill_diagonal(quotient, diagonal)
    return np.asarray(quotient)


def over_both_halves(factor: ComplexArray, upper: ComplexArray, mixed: ComplexArray) -> float:
    """The double sum over the whole contour: its lower half is the conjugate of the upper one."""
    return float(2.0 * np.real(factor @ upper @ factor) + 2.0 * np.real(factor @ mixed @ factor.conj()))
