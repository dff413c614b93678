"""A descent without the noise of its batches: what it does to errors and to noise, at any time.

Full batches are a spectral filter of the data's own curvatures. Minibatches learn each mode at its own rate g
(``modes``), which takes the place of the curvature in ``medium``:

    training error   the inverse of (kappa/z) sum h/(g + kappa'), at 2 tau
    learned          the inverse of S/z
    kernels          the inverse of -z (kappa'/kappa) sum s chi/(g + kappa') for the population loss,
                     of -z sum h chi/(g + kappa') for the training error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.theory.training.contour import inverse, places
from sparselaw.theory.training.filters import CHANCE, NORMAL, Filter, HeavyBall, flow_filter
from sparselaw.theory.training.medium import Medium
from sparselaw.theory.training.modes import FAINT, Modes, Spectrum
from sparselaw.theory.training.schedule import Run

SPACING = 0.04  # of the lattice of log curvatures
NEIGHBOURS = 6  # that share a curvature
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(6)


def full_batch(spectrum: Spectrum, ball: HeavyBall, samples: float, features: float) -> Medium:
    """The data's own curvatures; those that make a run diverge are taken as never seen.

    Where the contour has many poles, curvatures that hardly differ are put together.
    """
    grown = grows(spectrum.curvature, ball)
    kept = ~grown
    unseen = spectrum.unseen + float(spectrum.variance[grown].sum())
    columns = np.stack([spectrum.weight, spectrum.variance])[:, kept]
    curvature = spectrum.curvature[kept]
    if ball.circled:
        slowest = FAINT * (1.0 - ball.momentum) / (ball.step * ball.steps)
        share = np.minimum(curvature / slowest, 1.0)  # of slower ones, which are a straight line
        unseen += float(columns[1] @ (1.0 - share))
        curvature, columns = on_lattice(np.maximum(curvature, slowest), columns * share)
    return Medium(columns[0], curvature, columns[1], unseen, samples, features)


def on_lattice(curvature: FloatArray, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fewer curvatures with the same sums of smooth functions: Lagrange's polynomials on a lattice."""
    place = np.log(curvature) / SPACING
    first = np.floor(place) - (NEIGHBOURS // 2 - 1)
    lowest = first.min(initial=0.0)
    index, away = (first - lowest).astype(np.intp), (place - first)[:, None] - np.arange(NEIGHBOURS)
    kept = np.zeros((len(columns), int(index.max(initial=0)) + NEIGHBOURS))
    if kept.shape[1] >= curvature.size:
        return curvature, columns
    for k in range(NEIGHBOURS):
        others = [i for i in range(NEIGHBOURS) if i != k]
        share = np.prod(away[:, others], axis=1) / math.prod(k - i for i in others)
        for row, total in zip(columns, kept, strict=True):
            total += np.bincount(index + k, row * share, minlength=total.size)
    return np.exp(SPACING * (lowest + np.arange(kept.shape[1]))), kept


def grows(curvature: FloatArray, ball: HeavyBall) -> np.ndarray:
    """Whether an error of that curvature grows by more than a factor of e^5 in the run: it diverges."""
    edge = 2.0 * (1.0 + ball.momentum) / ball.step
    above = curvature > edge
    growth = np.zeros_like(curvature)
    growth[above] = ball.steps * ball.log_root(curvature[above]).real
    return np.asarray(growth > 5.0)


def column_lengths(
    medium: Medium, left: Callable[[FloatArray], FloatArray], edge: float, columns: float
) -> float:
    """What columns of the embedding that differ in length add, in the midst of training.

    Their squared length has the variance 2/N, of which the effective ridge holds one half: the mean of rho^2
    over lengths of variance 2/N less that of variance 1/N. ``left`` is rho; beyond the ``edge`` of stability
    a run would have diverged.
    """
    if math.isinf(columns):
        return 0.0

    def mean(degrees: float) -> float:
        drawn = np.minimum(np.multiply.outer(_lengths(degrees), medium.curvature), edge)
        return float(CHANCE @ (left(drawn) ** 2 @ medium.variance))

    return mean(columns) - mean(2.0 * columns)


def _lengths(degrees: float) -> FloatArray:
    """chi-square over its degrees of freedom at normal nodes, by the cube of Wilson and Hilferty."""
    root = math.sqrt(2.0 / (9.0 * degrees))
    drawn = np.maximum(1.0 - root**2 + root * NORMAL, 0.1) ** 3
    return np.asarray(drawn / (CHANCE @ drawn))


@dataclass(frozen=True)
class Descending:
    """Modes of a run in minibatches, seen through ``samples`` and ``features``."""

    modes: Modes
    run: Run
    samples: float
    features: float

    @cached_property
    def medium(self) -> Medium:
        of = self.modes
        return Medium(of.weight, of.g, of.variance, of.unseen, self.samples, self.features)

    @property
    def fastest(self) -> float:
        """The largest rate at which anything is learned."""
        return float(self.modes.g.max())

    def left(self, rate: FloatArray) -> FloatArray:
        """What is left of a mode at the end of the run."""
        return np.asarray(np.exp(-self.run.time * rate))

    def filter(self, power: int = 1) -> Filter:
        """The same to some power, as poles."""
        return flow_filter(power * self.run.time)

    def one_step(self) -> float:
        """What the noise of a step of size one adds to the loss: sum s h + (sum s)(sum h)(1/N + 1/D)."""
        modes, mixing = self.modes, 1.0 / self.features + 1.0 / self.samples
        each = modes.variance * modes.curvature / np.where(modes.weight > 0.0, modes.weight, 1.0)
        return float(each.sum() + modes.variance.sum() * modes.curvature.sum() * mixing)

    def training_loss(self, times: FloatArray) -> FloatArray:
        """The mean square error over the samples, without label noise."""
        at = self.medium.seen(places(2.0 * times))
        error = at.kappa / at.z * self.medium.sums(self.modes.curvature, at.inner)
        return inverse(np.asarray(error), 2.0 * times)

    def learned(self, times: FloatArray) -> FloatArray:
        """sum of 1 - e^(-l t) over the modes l of the descent."""
        at = self.medium.seen(places(times))
        return inverse(np.asarray(at.resolved / at.z), times)

    def kernels(self, ages: FloatArray) -> FloatArray:
        """(2, ages): how fast noise of this age is forgotten, in population loss and in training error."""
        at = self.medium.seen(places(2.0 * ages))
        excited, shaken = self.medium.sums(np.stack([self.modes.excited, self.modes.shaken]), at.inner)
        of_loss = -at.z * at.inner / at.kappa * excited
        return inverse(np.stack([of_loss, -at.z * shaken]), 2.0 * ages)

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
