"""What a descent without its own noise does to errors and to noise: all that the loss of SGD is made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.theory.training.contour import WEIGHT, ComplexArray
from sparselaw.theory.training.schedule import Run

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(6)

APART = 1e-9  # relative differences of k that are resolved
SHORTER = 1e-3  # times the time, where they are not
LONGEST = 100


class Propagator(ABC):
    """A descent of N features; times are tau = step times number of steps."""

    run: Run

    @abstractmethod
    def _places(self, times: FloatArray) -> tuple[ComplexArray, ComplexArray]:
        """z at which functions of the time are taken apart, and dz over that of the contour."""

    def _end(self, cutoffs: Callable[[ComplexArray], ComplexArray]) -> tuple[ComplexArray, ComplexArray]:
        """(k, k/z dz times the weights of the contour) for two-point functions at the end of the run.

        Those need differences of k. After endless time k is the same everywhere to the last digit; the time
        is then cut to where it differs in its tenth, which changes nothing else.
        """
        tau, ball = self.run.time, self.run.heavy_ball
        for _ in range(LONGEST):
            if ball is None:
                z, jacobian = self._places(np.asarray(tau))
                k = cutoffs(z)
                factor = (k / z) * jacobian * WEIGHT / tau
            else:
                z, weight = ball.nodes(1)
                k = cutoffs(z)
                factor = (k / z) * weight
                ball = replace(ball, steps=SHORTER * ball.steps)
            tau *= SHORTER
            if np.abs(k - k[0]).max() > APART * np.abs(k[0]):
                break
        return k, np.asarray(factor)

    @property
    @abstractmethod
    def fastest(self) -> float:
        """The largest rate at which anything is learned."""

    @abstractmethod
    def gains(self) -> tuple[float, float]:
        """(sum s chi, sum y c chi): the answers of population loss and training error to noise, in all."""

    @abstractmethod
    def one_step(self) -> float:
        """What the noise of a single step of size one adds to the population loss, of the training error."""

    @abstractmethod
    def population_loss(self) -> float:
        """At the end of the run, without label noise."""

    @abstractmethod
    def label_noise(self) -> float:
        """What label noise of variance one adds to it."""

    @abstractmethod
    def training_loss(self, times: FloatArray) -> FloatArray:
        """The mean square error over the samples, without label noise."""

    @abstractmethod
    def learned(self, times: FloatArray) -> FloatArray:
        """sum of 1 - e^(-l t) over the modes l of the descent."""

    def fitted_share(self, times: FloatArray) -> FloatArray:
        """What share of its label noise a sample no longer shows when its turn comes.

        A mode of rate l that is learned fits 1/D of it. With a pass between two visits it remembers a share
        m = (1 - e^(-l T))/(l T) of what it fitted, T the time of a pass, while it moved towards the noise of
        the other samples: the share is the sum of (1 - e^(-2 l tau)) (2 m - 1)/D.
        """
        if self.run.fresh:
            return np.zeros_like(times)
        since = 0.5 * self.run.epoch * (_NODES + 1.0)
        whole = self._learned_at(2.0 * times)
        old = self._learned_at((2.0 * times[:, None] + since).ravel()).reshape(times.size, since.size)
        young = self._learned_at(since)
        return np.asarray(((old - young) @ _WEIGHTS - whole) / self.run.D)

    def _learned_at(self, times: FloatArray) -> FloatArray:
        """``learned`` at times in any order: it wants them ascending."""
        order = np.argsort(times)
        found = np.empty_like(times)
        found[order] = self.learned(times[order])
        return found

    @abstractmethod
    def kernels(self, ages: FloatArray) -> FloatArray:
        """(2, ages): how fast noise of this age is forgotten, in population loss and in training error."""
