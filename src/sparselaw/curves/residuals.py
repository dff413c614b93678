"""The covariance of the residuals of log losses: points of one run are far from independent.

Four parts. White noise of single points. Noise of a run with a short memory, in proportion to its rate. A
smooth misfit along ln tau (Matern 3/2), half of it shared by all runs of a size and half the run's own;
larger early in training and beyond the last tau that was fitted. And a random walk along the depth of
annealing, the run's own: how much annealing brings differs from run to run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.curves.law import Track, Units

LENGTH = 0.7  # of the smooth misfit, in ln tau
EARLIER, BEYOND = 0.5, 1.5  # growth of the misfit: by tau^-1/2 before the last tau, by 1.5 ln tau after it
FULL_DROP = 0.07  # relative: a usual annealing from the peak to nothing
SHARED, ACROSS = 0.5, 0.25  # of the smooth misfit: between runs of one size, and of two
OF_SIZE = 2e-3  # misfit of the law over sizes, one number a size, where there are several
MEMORY = 0.08  # of the short noise, in ln tau
SCALES = np.log([1.0e-3, 0.05, 2e-4]), np.array([0.5, 0.35, 1.0])  # of misfit, walk, short noise: ln, sd


@dataclass(frozen=True, slots=True)
class Places:
    """Where points lie: ln(tau/last), relative depth of annealing, rate over the largest, run, size."""

    log_tau: FloatArray
    depth: FloatArray
    heat: FloatArray
    run: FloatArray
    N: FloatArray

    def growth(self) -> FloatArray:
        """The misfit over its size at the last tau of the fit."""
        u = self.log_tau
        return np.where(u < 0.0, np.exp(-EARLIER * np.minimum(u, 0.0)), 1.0 + BEYOND * np.maximum(u, 0.0))


def places(tracks: Sequence[Track], depth: FloatArray, units: Units) -> Places:
    """``depth`` is how far annealing has lowered the loss, over the loss."""
    return Places(
        np.log(np.concatenate([t.tau for t in tracks]) / units.last),
        depth,
        np.concatenate([t.schedule.rate(t.step) for t in tracks]) / units.rate,
        np.concatenate([np.full(t.step.size, float(t.run)) for t in tracks]),
        np.concatenate([np.full(t.step.size, t.N) for t in tracks]),
    )


@dataclass(frozen=True, slots=True)
class Covariance:
    """Covariances of two lists of places as a function of the scales: prepared once, scaled many times."""

    smooth: FloatArray
    walk: FloatArray
    short: FloatArray
    fixed: FloatArray

    def at(self, scales: FloatArray) -> FloatArray:
        """``scales``: of the misfit, of the walk and of the short noise."""
        a, b, c = (scales**2).tolist()
        return np.asarray(a * self.smooth + b * self.walk + c * self.short + self.fixed)


def covariance(one: Places, two: Places, several_sizes: bool) -> Covariance:
    """Without the white noise, which is no covariance of two points."""
    apart = np.abs(one.log_tau[:, None] - two.log_tau[None, :]) / LENGTH
    run = one.run[:, None] == two.run[None, :]
    size = one.N[:, None] == two.N[None, :]
    share = ACROSS + (SHARED - ACROSS) * size + (1.0 - SHARED) * run
    smooth = share * (1.0 + apart) * np.exp(-apart) * one.growth()[:, None] * two.growth()[None, :]
    walk = run * FULL_DROP * np.minimum(one.depth[:, None], two.depth[None, :])
    fixed = OF_SIZE**2 * size if several_sizes else np.zeros_like(smooth)
    short = run * one.heat[:, None] * two.heat[None, :] * np.exp(-apart * (LENGTH / MEMORY))
    return Covariance(smooth, walk, short, fixed)
