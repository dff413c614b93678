"""Noise that SGD makes itself: gradients of single batches scatter in proportion to the training error.

The mean square error R over the samples and the population loss L obey

    R(tau) = L_tr(tau) + q (1 - fitted) + eps int K_tr(2a) w(a) R(tau - a) da,
    L(tau) = L_GD(tau) + label noise    + eps int K(2a)    w(a) R(tau - a) da,

A schedule of steps has the eps of the time at which the noise was made, over that of the end.

K the inverse of sum s chi (1 - z/(g+k)) (curvature in place of s for K_tr). Samples are visited once a pass,
so that their noise within one pass cancels but for the order: over ages a the weight is w = 1 - 4 d/T, d the
distance to the nearest end of a pass and T its length. It is exact for Brownian bridges. Fresh samples have
w = 1 and R = L + q. A last batch of r < b samples takes its whole step just before the loss is looked at, and
adds eta^2 (1/r - 1/b) tr S W G W of R. Quasi-static: R hardly changes while noise is remembered, so that

    L = L_GD + label noise + kappa/(1 - kappa) (L_tr + q (1 - fitted)),   kappa = (eps/2) sum s chi.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.theory.training.descent import Descending
from sparselaw.theory.training.modes import Modes
from sparselaw.theory.training.schedule import Run

PER_DECADE = 5  # times at which kernels and training error are computed; between them they are smooth
FINER = 16  # per decade: times at which the equation is solved, and cells of age
EPOCHS = 8  # passes back beyond which the noise of a whole pass has cancelled
CELLS = 24  # of age in one of those passes


def gain(modes: Modes, run: Run) -> float:
    """kappa: the loss that noise keeps up, for each unit of training error."""
    return 0.5 * run.sample_step * run.random_share * float(modes.excited.sum())


def quasi_static(descent: Descending, noise: float) -> float:
    """What minibatches add to the loss where it changes slowly."""
    kappa = gain(descent.modes, descent.run)
    driven = float(_driven(descent, np.array([descent.run.time]), noise)[0])
    return (kappa + _last_batch(descent)) / (1.0 - kappa) * driven


def _driven(descent: Descending, times: FloatArray, noise: float) -> FloatArray:
    """L_tr + q (1 - fitted): of the descent without minibatches."""
    error = descent.training_loss(times)
    return error + noise * (1.0 - descent.fitted_share(times)) if noise > 0.0 else error


def with_memory(descent: Descending, noise: float) -> float:
    """What minibatches add to the loss, from the Volterra equations."""
    run = descent.run
    shortest = min(0.02 / descent.fastest, 0.1 * run.time)
    decades = math.log10(run.time / shortest)
    coarse = np.geomspace(shortest, run.time, max(8, int(PER_DECADE * decades)))
    driven = _powers(coarse, _driven(descent, coarse, noise))
    forgets = run.sample_step * run.random_share * descent.kernels(coarse)
    of_loss, of_error = _powers(coarse, forgets[0]), _powers(coarse, forgets[1])
    times = np.geomspace(shortest, run.time, max(16, int(FINER * decades)))
    error = _solve(driven, of_error, times, run)
    return float(_weights(of_loss, times, times.size - 1, run) @ error) + _last_batch(descent) * float(
        error[-1]
    )


def _last_batch(descent: Descending) -> float:
    """Of the training error, what a last batch shorter than the others adds to the loss."""
    return descent.run.jolt * descent.one_step() if descent.run.jolt > 0.0 else 0.0


Function = Callable[[FloatArray], FloatArray]


def _powers(x: FloatArray, y: FloatArray) -> Function:
    """A positive function through these points, smooth in logarithms; constant before the first.

    Cubic between even points, with central differences for slopes.
    """
    log_x, log_y = np.log(x), np.log(_positive(x, y))
    slope = np.gradient(log_y, log_x)

    def function(at: FloatArray) -> FloatArray:
        u = np.log(np.maximum(at, x[0]))
        i = np.clip(np.searchsorted(log_x, u, side="right") - 1, 0, x.size - 2)
        h = log_x[i + 1] - log_x[i]
        t = np.clip((u - log_x[i]) / h, 0.0, 1.0)
        rise = log_y[i + 1] - log_y[i]
        bend = (slope[i] * h - rise) * (1.0 - t) + (rise - slope[i + 1] * h) * t
        return np.asarray(np.exp(log_y[i] + t * rise + t * (1.0 - t) * bend))

    return function


def _positive(x: FloatArray, y: FloatArray) -> FloatArray:
    """What rounding has made zero or less, far down, falls on from the point before as a power."""
    if (y > 0.0).all():
        return y
    found = np.where(y > 0.0, y, 0.0)
    found[0] = max(found[0], 1e-300)
    for i in range(1, found.size):
        if found[i] == 0.0:
            found[i] = max(found[i - 1] * (x[i - 1] / x[i]) ** 4, 1e-300)
    return found


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


def _weights(of_age: Function, times: FloatArray, i: int, run: Run) -> FloatArray:
    """int kernel(a) w(a) R(t_i - a) da as weights of R at t_0, ..., t_i; R is interpolated in log t."""
    ages, width = _cells(times[i], times[0], run)
    since = np.maximum(times[i] - ages, times[0])
    mass = of_age(ages) * _bridge(run, ages) * run.loudness(since) * width
    left = np.clip(np.searchsorted(times[: i + 1], since, side="right") - 1, 0, max(i - 1, 0))
    if i == 0:
        return np.array([mass.sum()])
    share = np.log(since / times[left]) / math.log(times[1] / times[0])
    earlier = np.bincount(left, mass * (1.0 - share), minlength=i + 1)
    return np.asarray(earlier + np.bincount(left + 1, mass * share, minlength=i + 1), dtype=float)


def _solve(driven: Function, of_age: Function, times: FloatArray, run: Run) -> FloatArray:
    """R at the times, one after the other."""
    error = driven(times)
    for i in range(times.size):
        weights = _weights(of_age, times, i, run)
        with np.errstate(over="ignore", invalid="ignore"):  # larger than a number can hold
            error[i] = (error[i] + float(weights[:-1] @ error[:i])) / (1.0 - weights[-1])
    return error
