"""Descent on D samples of dense Gaussian inputs with N random features.

Data and embedding each shift the Laplace variable: with f(k) = sum v/(v+k),

    m = k (1 - f/N),   z = m (1 - f/D).

Two-point functions follow from averaging over the data first, given the embedding, and then over it:

    population   (k k'/(z z')) A/[(1 - B/N)(1 - C)],   A = [f(k) - f(k')]/(k' - k),
                 B = [k' f(k') - k f(k)]/(k' - k),   C = [m' f(k') - m f(k)]/(m' - m)/D
    training     (k/m) f at 2 tau         learned   f/z
    label noise  (1/D) [H(2 tau) - 2 H(tau)], H the inverse of -(m/z^2) f
    kernels      -m sum v chi/(v+k) for the population, -z sum v chi/(v+k) for the training error

A step of finite size eta takes (1 - eta l)^t in place of e^(-l tau): with z = (e^(eta s) - 1)/eta the contour
of s serves for both. D to infinity is the descent of ``counted_descent`` with g = v.
"""

from __future__ import annotations

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.theory.training.contour import ComplexArray, inverse, stepped
from sparselaw.theory.training.counted_descent import divided, over_both_halves
from sparselaw.theory.training.cutoffs import solve
from sparselaw.theory.training.modes import ENDLESS
from sparselaw.theory.training.propagator import Propagator
from sparselaw.theory.training.schedule import Run


class GaussianDescent(Propagator):
    """Variances v (a tail of very small ones as v = 0) with their sums ``variance`` = weight v."""

    def __init__(self, v: FloatArray, variance: FloatArray, run: Run, N: float, samples: float) -> None:
        self._v, self._variance, self.run, self.N, self.D = v, variance, run, N, samples
        slower = (1.0 - run.momentum) / (1.0 + run.momentum)
        left = 1.0 - 0.5 * run.step * v * (slower + 1.0 / run.batch)
        chi = np.where(left > 0.0, 1.0 / np.where(left > 0.0, left, 1.0), ENDLESS)
        self._ball = run.heavy_ball
        self._excited = variance * chi

    @property
    def fastest(self) -> float:
        return float(self._v.max())

    def gains(self) -> tuple[float, float]:
        total = float(self._excited.sum())
        return total, total

    def one_step(self) -> float:
        total = float(self._variance.sum())
        return float(self._variance @ self._v) + total**2 * (1.0 / self.N + 1.0 / self.D)

    def population_loss(self) -> float:
        tau = self.run.time
        if tau == 0.0:
            return float(self._variance.sum())
        k, factor = self._end(self._cutoffs)
        f, slope = self._resolved(k)
        m = k * (1.0 - f / self.N)
        m_slope = 1.0 - f / self.N - k * slope / self.N
        kf, mf = -k * f, -m * f
        upper = divided(k, k, f, f, -slope) / (
            (1.0 - divided(k, k, kf, kf, f + k * slope) / self.N)
            * (1.0 - divided(m, m, mf, mf, f + m * slope / m_slope) / self.D)
        )
        mixed = divided(k, k.conj(), f, f.conj()) / (
            (1.0 - divided(k, k.conj(), kf, kf.conj()) / self.N)
            * (1.0 - divided(m, m.conj(), mf, mf.conj()) / self.D)
        )
        return over_both_halves(factor, upper, mixed)

    def label_noise(self) -> float:
        if self.run.time == 0.0:
            return 0.0
        if self._ball is not None:
            once, twice = (self._of_ball(power) for power in (1, 2))
            return float(twice - 2.0 * once) / self.D
        times = self.run.time * np.array([1.0, 2.0])
        z, jacobian = self._places(times)
        k = self._cutoffs(z)
        f = self._resolved(k.ravel())[0].reshape(k.shape)
        once, twice = inverse(-jacobian * k * (1.0 - f / self.N) * f / z**2, times)
        return float(twice - 2.0 * once) / self.D

    def _of_ball(self, power: int) -> float:
        """H of a power of the heavy ball's polynomial."""
        assert self._ball is not None
        z, weight = self._ball.nodes(power)
        k = self._cutoffs(z)
        f = self._resolved(k)[0]
        return float(2.0 * np.real(weight @ (-k * (1.0 - f / self.N) * f / z**2)))

    def training_loss(self, times: FloatArray) -> FloatArray:
        z, jacobian = self._places(2.0 * times)
        k = self._cutoffs(z)
        f = self._resolved(k.ravel())[0].reshape(k.shape)
        return inverse(jacobian * f / (1.0 - f / self.N), 2.0 * times)

    def learned(self, times: FloatArray) -> FloatArray:
        z, jacobian = self._places(times)
        k = self._cutoffs(z)
        f = self._resolved(k.ravel())[0].reshape(k.shape)
        return inverse(jacobian * f / z, times)

    def kernels(self, ages: FloatArray) -> FloatArray:
        z, jacobian = self._places(2.0 * ages)
        k = self._cutoffs(z)
        resolvent = 1.0 / (self._v[:, None] + k.ravel())
        f = (self._variance @ resolvent).reshape(k.shape)
        answer = jacobian * (self._excited @ resolvent).reshape(k.shape)
        of_loss = inverse(-k * (1.0 - f / self.N) * answer, 2.0 * ages)
        return np.stack([of_loss, inverse(-z * answer, 2.0 * ages)])

    def _resolved(self, k: ComplexArray) -> tuple[ComplexArray, ComplexArray]:
        """f and its slope."""
        resolvent = np.asarray(1.0 / (self._v[:, None] + k), dtype=np.complex128)
        f: ComplexArray = self._variance @ resolvent
        slope: ComplexArray = -(self._variance @ resolvent**2)
        return f, slope

    def _places(self, times: FloatArray) -> tuple[ComplexArray, ComplexArray]:
        """z, and dz over that of the contour."""
        return stepped(times, self.run.step if self.run.momentum == 0.0 else 0.0)

    def _cutoffs(self, z: ComplexArray) -> ComplexArray:
        def shift(k: ComplexArray) -> tuple[ComplexArray, ComplexArray]:
            f, slope = self._resolved(k)
            features, samples = 1.0 - f / self.N, 1.0 - f / self.D
            return k * features * samples, (
                features * samples - k * slope * (samples / self.N + features / self.D)
            )

        return solve(shift, z, float(self._variance.sum()) * (1.0 / self.N + 1.0 / self.D))
