"""A descent without the noise of its batches: what it does to errors and to noise, at any time.

Full batches are a spectral filter of the data's own curvatures. Minibatches learn each mode at its own rate g
(``modes``): the curvature (1 - e^(-eta g))/eta falls by e^(-eta g) a step. With the transforms of ``medium``,

    training error   the inverse of (kappa/z) sum h/(g + kappa'), at 2 tau
    learned          the inverse of S/z
    kernels          the inverse of -z (kappa'/kappa) sum s chi/(g + kappa') for the population loss,
                     of -z sum h chi/(g + kappa') for the training error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.theory.training.contour import FEW_STEPS, ComplexArray, inverse, stepped
from sparselaw.theory.training.filters import Filter, HeavyBall, flow_filter
from sparselaw.theory.training.medium import Medium, Seen
from sparselaw.theory.training.modes import Modes, Spectrum
from sparselaw.theory.training.schedule import Run

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(6)


def full_batch(spectrum: Spectrum, ball: HeavyBall, samples: float, features: float) -> Medium:
    """The data's own curvatures; those that make a run diverge are taken as never seen."""
    kept = ~grows(spectrum.curvature, ball)
    return Medium(
        spectrum.weight[kept],
        spectrum.curvature[kept],
        spectrum.variance[kept],
        spectrum.unseen + float(spectrum.variance[~kept].sum()),
        samples,
        features,
    )


def grows(curvature: FloatArray, ball: HeavyBall) -> np.ndarray:
    """Whether an error of that curvature grows by more than a factor of e^5 in the run: it diverges."""
    edge = 2.0 * (1.0 + ball.momentum) / ball.step
    above = curvature > edge
    growth = np.zeros_like(curvature)
    growth[above] = ball.steps * ball.log_root(curvature[above]).real
    return np.asarray(growth > 5.0)


def column_lengths(medium: Medium, squared: Filter, columns: float) -> float:
    """What columns of the embedding that differ in length add, in the midst of training.

    Their squared length has the variance 2/N, of which the effective ridge holds one half. The other half: the mean
    of rho^2 over curvatures that are 1 + 1/sqrt(N) and 1 - 1/sqrt(N) times as large.
    """
    if math.isinf(columns):
        return 0.0
    apart = min(1.0 / math.sqrt(columns), 0.9)
    longer, shorter = (medium.of_each(squared.stretched(1.0 + sign * apart)) for sign in (1.0, -1.0))
    return 0.5 * (longer + shorter) - medium.of_each(squared)


@dataclass(frozen=True)
class Descending:
    """Modes of a run in minibatches, seen through ``samples`` and ``features``."""

    modes: Modes
    run: Run
    samples: float
    features: float

    @cached_property
    def medium(self) -> Medium:
        modes = self.modes
        return Medium(modes.weight, self._curvature, modes.variance, modes.unseen, self.samples, self.features)

    @cached_property
    def _curvature(self) -> FloatArray:
        if self.run.steps < FEW_STEPS:
            return self.modes.g
        return np.asarray(-np.expm1(-self.run.step * self.modes.g) / self.run.step)

    @property
    def fastest(self) -> float:
        """The largest rate at which anything is learned."""
        return float(self.modes.g.max())

    def filter(self, power: int = 1) -> Filter:
        """What is left of a mode at the end of the run, to some power."""
        steps = power * self.run.steps
        if self.run.steps < FEW_STEPS:
            return flow_filter(self.run.step * steps)
        return HeavyBall(step=self.run.step, momentum=0.0, steps=steps).filter()

    @property
    def _step(self) -> float:
        return self.run.step if self.run.steps >= FEW_STEPS else 0.0

    def one_step(self) -> float:
        """What the noise of a step of size one adds to the loss: sum s h + (sum s)(sum h)(1/N + 1/D)."""
        modes, mixing = self.modes, 1.0 / self.features + 1.0 / self.samples
        each = modes.variance * modes.curvature / np.where(modes.weight > 0.0, modes.weight, 1.0)
        return float(each.sum() + modes.variance.sum() * modes.curvature.sum() * mixing)

    def training_loss(self, times: FloatArray) -> FloatArray:
        """The mean square error over the samples, without label noise."""
        at, jacobian = self._at(2.0 * times)
        error = at.kappa / at.z * self.medium.sums(self.modes.curvature, at.inner)
        return inverse(np.asarray(error * jacobian), 2.0 * times)

    def learned(self, times: FloatArray) -> FloatArray:
        """sum of 1 - e^(-l t) over the modes l of the descent."""
        at, jacobian = self._at(times)
        return inverse(np.asarray(at.resolved / at.z * jacobian), times)

    def kernels(self, ages: FloatArray) -> FloatArray:
        """(2, ages): how fast noise of this age is forgotten, in population loss and in training error."""
        at, jacobian = self._at(2.0 * ages)
        excited, shaken = self.medium.sums(np.stack([self.modes.excited, self.modes.shaken]), at.inner)
        of_loss = -at.z * at.inner / at.kappa * excited
        return inverse(np.stack([of_loss, -at.z * shaken]) * jacobian, 2.0 * ages)

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

    def _at(self, times: FloatArray) -> tuple[Seen, ComplexArray]:
        z, jacobian = stepped(times, self._step)
        return self.medium.seen(z), jacobian
