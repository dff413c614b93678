"""SGD: a descent at the rates of ``modes``, and the noise that its own batches add.

Without their noise minibatches learn each mode at its own rate g, which takes the place of the curvature in
``medium``:

    training error   the inverse transform of (kappa/z) sum h/(g + kappa'), at 2 tau
    learned          the inverse of S/z
    kernels          the inverse of -z (kappa'/kappa) sum s chi/(g + kappa') for the population loss,
                     of -z sum h chi/(g + kappa') for the training error.

Gradients of single batches scatter in proportion to the training error. The mean square error R over the
samples and the population loss L obey

    R(tau) = L_tr(tau) + q (1 - fitted) + eps int K_tr(2a) w(a) R(tau - a) da,
    L(tau) = L_GD(tau) + label noise    + eps int K(2a)    w(a) R(tau - a) da,

K the kernels above; a schedule of steps has the eps of the time at which the noise was made, over that of the
end. Samples are visited once a pass, so that their noise within one pass cancels but for the order: over ages
a the weight is w = 1 - 4 d/T, d the distance to the nearest end of a pass and T its length, which is exact
for Brownian bridges. Fresh samples have w = 1 and R = L + q. A last batch of r < b samples takes its whole
step just before the loss is looked at, and adds eta^2 (1/r - 1/b) tr S W G W of R. Quasi-static: R hardly
changes while noise is remembered, so that

    L = L_GD + label noise + kappa/(1 - kappa) (L_tr + q (1 - fitted)),   kappa = (eps/2) sum s chi.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.theory.training.filters import inverse, places
from sparselaw.theory.training.medium import Medium
from sparselaw.theory.training.modes import Modes
from sparselaw.theory.training.schedule import Run

PER_DECADE = 5  # times at which kernels and training error are computed; between them they are smooth
FINER = 16  # per decade: times at which the equation is solved, and cells of age
EPOCHS = 8  # passes back beyond which the noise of a whole pass has cancelled
CELLS = 24  # of age in one of those passes
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(6)

Function = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class MeanDescent:
    """A run in minibatches without their noise, seen through ``samples`` and ``features``."""

    modes: Modes
    run: Run
    samples: float
    features: float

    @cached_property
    def medium(self) -> Medium:
        of = self.modes
        return Medium(of.weight, of.g, of.variance, of.unseen, self.samples, self.features)

    def last_batch(self) -> float:
        """Of the training error, what a last batch shorter than the others adds to the loss.

        The noise of a step of size one adds sum s h + (sum s)(sum h)(1/N + 1/D).
        """
        modes, mixing = self.modes, 1.0 / self.features + 1.0 / self.samples
        one_step = modes.product + float(modes.variance.sum() * modes.curvature.sum()) * mixing
        return self.run.own_step**2 * self.run.short_batch * one_step

    def responses(self, times: FloatArray) -> FloatArray:
        """(3, times): the training error without label noise, and the kernels of both losses.

        These say how fast noise of this age is forgotten, in population loss and in training error. Squares
        fall twice as fast, so poles are those of twice the times.
        """
        modes, at = self.modes, self.medium.ridges_at(places(2.0 * times))
        columns = np.stack([modes.curvature, modes.variance_gain, modes.curvature_gain])
        error, of_loss, of_error = at.sums(columns)
        rows = [at.kappa / at.z * error, -at.z * at.inner / at.kappa * of_loss, -at.z * of_error]
        return inverse(np.stack(rows), 2.0 * times)

    def fitted_share(self, times: FloatArray) -> FloatArray:
        """What share of its label noise a sample no longer shows when its turn comes.

        A mode of rate l that is learned fits 1/D of it. With a pass between two visits it remembers a share
        m = (1 - e^(-l T))/(l T) of what it fitted, T the time of a pass, while it moved towards the noise of
        the other samples: the share is the sum of (1 - e^(-2 l tau)) (2 m - 1)/D.
        """
        if self.run.fresh:
            return np.zeros_like(times)
        since = 0.5 * self.run.epoch * (_NODES + 1.0)
        whole = self.learned(2.0 * times)
        old = self.learned((2.0 * times[:, None] + since).ravel()).reshape(times.size, since.size)
        return np.asarray(((old - self.learned(since)) @ _WEIGHTS - whole) / self.run.D)

    def learned(self, times: FloatArray) -> FloatArray:
        """sum of 1 - e^(-l t) over the modes l of the descent."""
        order = np.argsort(times)  # effective ridges are followed from one time to the next
        at = self.medium.ridges_at(places(times[order]))
        found = np.empty_like(times)
        found[order] = inverse(np.asarray(at.df1 / at.z), times[order])
        return found


def quasi_static(descent: MeanDescent, noise: float) -> float:
    """What minibatches add to the loss where it changes slowly."""
    kappa = descent.modes.kappa(descent.run)
    end = np.array([descent.run.time])
    driven = float(descent.responses(end)[0, 0])
    if noise > 0.0:
        driven += noise * (1.0 - float(descent.fitted_share(end)[0]))
    return (kappa + descent.last_batch()) / (1.0 - kappa) * driven


def with_memory(descent: MeanDescent, noise: float) -> float:
    """What minibatches add to the loss, from the Volterra equations."""
    run = descent.run
    shortest = min(0.02 / float(descent.modes.g.max(initial=1e-300)), 0.1 * run.time)
    decades = math.log10(run.time / shortest)
    coarse = np.geomspace(shortest, run.time, max(8, int(PER_DECADE * decades)))
    driven, *kernels = descent.responses(coarse)
    if noise > 0.0:
        driven += noise * (1.0 - descent.fitted_share(coarse))
    strength = run.sample_step * run.random_share
    of_loss, of_error = (_powers(coarse, strength * kernel) for kernel in kernels)
    times = np.geomspace(shortest, run.time, max(16, int(FINER * decades)))
    error = _powers(coarse, driven)(times)
    with np.errstate(over="ignore", invalid="ignore"):  # larger than a number can hold
        for i in range(times.size):
            weights = _weights(of_error, times, i, run)
            error[i] = (error[i] + float(weights[:-1] @ error[:i])) / (1.0 - weights[-1])
        added = float(_weights(of_loss, times, times.size - 1, run) @ error)
        return added + descent.last_batch() * float(error[-1])


def _powers(x: FloatArray, y: FloatArray) -> Function:
    """A positive function through these points, cubic in logarithms; constant before the first.

    What rounding has made zero or less, far down, falls on from the point before as a power.
    """
    y = np.where(y > 0.0, y, 0.0)
    y[0] = max(y[0], 1e-300)
    for i in np.flatnonzero(y == 0.0):
        y[i] = max(y[i - 1] * (x[i - 1] / x[i]) ** 4, 1e-300)
    log_x, log_y = np.log(x), np.log(y)
    slope = np.gradient(log_y, log_x)

    def function(at: FloatArray) -> FloatArray:
        u = np.log(np.maximum(at, x[0]))
        i = np.clip(np.searchsorted(log_x, u, side="right") - 1, 0, x.size - 2)
        h = log_x[i + 1] - log_x[i]
        t = np.clip((u - log_x[i]) / h, 0.0, 1.0)
        rise = log_y[i + 1] - log_y[i]
        cubic = (slope[i] * h - rise) * (1.0 - t) + (rise - slope[i + 1] * h) * t
        return np.asarray(np.exp(log_y[i] + t * rise + t * (1.0 - t) * cubic))

    return function


def _weights(of_age: Function, times: FloatArray, i: int, run: Run) -> FloatArray:
    """int kernel(a) w(a) R(t_i - a) da as weights of R at t_0, ..., t_i; R is interpolated in log t."""
    ages, width = _cells(times[i], times[0], run)
    since = np.maximum(times[i] - ages, times[0])
    mass = of_age(ages) * _bridge(run, ages) * run.relative_step(since) * width
    left = np.clip(np.searchsorted(times[: i + 1], since, side="right") - 1, 0, max(i - 1, 0))
    if i == 0:
        return np.array([mass.sum()])
    share = np.log(since / times[left]) / math.log(times[1] / times[0])
    earlier = np.bincount(left, mass * (1.0 - share), minlength=i + 1)
    return np.asarray(earlier + np.bincount(left + 1, mass * share, minlength=i + 1), dtype=float)


def _cells(until: float, shortest: float, run: Run) -> tuple[FloatArray, FloatArray]:
    """Cells of age up to ``until``: fine where noise is young, where it is old as the run, and in passes."""
    half = max(8, int(FINER * math.log10(max(0.5 * until / shortest, 10.0))))
    steps = np.geomspace(min(shortest, 0.1 * until), 0.5 * until, half)
    edges = [np.array([0.0]), steps, until - steps, np.array([until])]
    if not run.fresh:
        edges.append(run.epoch / CELLS * np.arange(CELLS * EPOCHS + 1))
    ages = np.unique(np.concatenate(edges))
    ages = ages[ages <= until]
    return 0.5 * (ages[1:] + ages[:-1]), np.diff(ages)


def _bridge(run: Run, ages: FloatArray) -> FloatArray:
    """w: 1 at the ends of a pass, -1 in its middle; 1 for fresh samples."""
    if run.fresh:
        return np.ones_like(ages)
    place = np.mod(ages / run.epoch, 1.0)
    weight = 1.0 - 4.0 * np.minimum(place, 1.0 - place)
    return np.where(ages < EPOCHS * run.epoch, weight, 0.0)
