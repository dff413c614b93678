"""The coordinates as modes of the descent: how fast each is learned and how it answers to noise.

A coordinate seen n times in D samples, y = n/D, has the curvature y c. Steps of finite size eta on batches of
b samples:

    x = eta c (1/b + y (1 - 1/b)),   rate g = y c (-ln|1-x| / x),   gain chi = 1/[(1 - x/2) + eps y c/2].

With b = 1 and N infinite e^(-2 g tau) = (1-x)^(2 n P) is exact. One pass over fresh samples is described by
the mean over the law instead of the counts: with m the mean fourth power (s c for an activation, 3 s^2 for a
Gaussian),

    rho = 1 - 2 eta s + eta^2 (m/b + (1 - 2/b) s^2),   g = -ln(rho)/(2 eta),   chi = 2 eta s/(1 - rho).

Here rho leaves out what a coordinate's own error adds to the noise, which the loss brings back. For the few
that are learned within steps it may be negative; their rate is that of rho + (eta s)^2/b, a mean square.

With momentum beta, eta stands for eta/(1 - beta). What a sample does to a coordinate is then spread over the
1/(1 - beta) steps that follow, but is the same in the end: noise acts as without momentum. The mean does not:
its factor 1 - eta h a step is the root r of the heavy ball, and in the gain eta h is (1-beta)/(1+beta) times
as large, the stationary variance of such a recursion of second order:

    rho = r^2 + eta^2 (m - 2 s^2)/b,   chi = 1/[1 - (eta/2) (h (1-beta)/(1+beta) + (c - 2 h)/b)],

h = s, c = m/s for fresh samples (fast ones: the largest root of their second moments), and h = y c, g =
-ln(r)/eta times the stretch of x = eta (c - h)/b for counted ones.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import ActivationInputs
from sparselaw.sums.count_nodes import CountNodes, count_nodes
from sparselaw.theory.training.heavy_ball import mean_square_root, slow_rate
from sparselaw.theory.training.schedule import Run

WIDTH = 0.03  # of a cell in log g: sums change by about WIDTH^2/12
FAINT = 1e-6  # of 1/tau: slower modes are a straight line of g for every cut-off in use
FAST = 0.7  # 1 - rho of a coordinate that is learned in a few steps, whatever the others do
FASTEST = 40.0  # times 1/eta, the rate of a coordinate that one step learns whole
ENDLESS = 1e30  # the gain of a mode that noise makes grow
SLOW = 1e-3  # 1 - rho up to which a mode with momentum needs no root of its second moments
EVERY_COUNT = 12.0  # mean count up to which each n is a mode


@dataclass(frozen=True, slots=True)
class Modes:
    """``weight`` modes of rate ``g``; the others are sums over those modes: weight times the quantity."""

    g: FloatArray
    weight: FloatArray
    variance: FloatArray  # s
    curvature: FloatArray  # y c, or s for fresh samples
    excited: FloatArray  # s chi
    shaken: FloatArray  # y c chi

    def total(self) -> float:
        """The loss before training."""
        return float(self.variance.sum())


@functools.lru_cache(maxsize=8)
def counts_of(inputs: ActivationInputs, D: float) -> CountNodes:
    """The counts of D samples: the same for every N of a curve and for every step."""
    return count_nodes(*inputs.pair_nodes(D), D, every=EVERY_COUNT)


def counted_modes(points: CountNodes, run: Run) -> Modes:
    """Of D samples that are visited again and again, the counts averaged."""
    c = points.c[points.coordinate]
    s, y = points.p[points.coordinate] * c, points.n / run.D
    if run.heavy_ball is not None:  # exact: the curvatures are all that it needs
        return _modes(points.point_weight, y * c, s, y * c, np.ones_like(s), run)
    if run.momentum > 0.0:
        rate = slow_rate(y * c, run.step, run.momentum) * _stretch(run.sample_step * c * (1.0 - y))
        return _modes(points.point_weight, rate, s, y * c, _gain(y * c, c, run), run)
    x = run.step * c * (1.0 / run.batch + y * (1.0 - 1.0 / run.batch))
    gain = 1.0 / ((1.0 - 0.5 * x) + 0.5 * run.sample_step * y * c)
    return _modes(points.point_weight, y * c * _stretch(x), s, y * c, gain, run)


def _gain(mean: FloatArray, single: FloatArray, run: Run) -> FloatArray:
    """chi with momentum, of curvatures h = ``mean`` and c = ``single`` of a sample that shows it."""
    slower = (1.0 - run.momentum) / (1.0 + run.momentum)
    left = 1.0 - 0.5 * run.step * (mean * slower + (single - 2.0 * mean) / run.batch)
    return np.asarray(np.where(left > 0.0, 1.0 / np.where(left > 0.0, left, 1.0), ENDLESS))


def fresh_modes(weight: FloatArray, s: FloatArray, fourth: FloatArray, run: Run) -> Modes:
    """Of samples that are seen once only."""
    eta, b = run.step, run.batch
    if run.momentum > 0.0:
        return _fresh_with_momentum(weight, s, fourth, run)
    falls = 2.0 * eta * s - eta**2 * (fourth / b + (1.0 - 2.0 / b) * s**2)  # 1 - rho
    alone = falls - (eta * s) ** 2 / b  # with the noise that a coordinate makes for itself, never below rho
    fast = falls > FAST
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.minimum(-np.log(np.abs(1.0 - np.where(fast, alone, falls))), FASTEST) / (2.0 * eta)
        rate = np.where(falls < 1e-6, falls * (1.0 + 0.5 * falls) / (2.0 * eta), rate)
        gain = np.where(falls > 0.0, 2.0 * eta * s / falls, np.inf)
    return _modes(weight, rate, s, s, gain, run)


def _fresh_with_momentum(weight: FloatArray, s: FloatArray, fourth: FloatArray, run: Run) -> Modes:
    shaking = run.step**2 * (fourth - 2.0 * s**2) / run.batch
    alone = -np.expm1(-2.0 * run.step * slow_rate(s, run.step, run.momentum))  # 1 - r^2
    falls, fast = alone - shaking, alone > SLOW
    falls[fast] = 1.0 - mean_square_root(s[fast], shaking[fast], run.step, run.momentum)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = -np.log(np.maximum(1.0 - falls, 1e-30)) / (2.0 * run.step)
        rate = np.where(falls < 1e-6, falls * (1.0 + 0.5 * falls) / (2.0 * run.step), rate)
        single = np.where(s > 0.0, fourth / s, 0.0)
    gain = np.where(falls < 0.0, ENDLESS, _gain(s, single, run))  # a mode that grows: no step is stable
    return _modes(weight, np.maximum(rate, 0.0), s, s, gain, run)


def _stretch(x: FloatArray) -> FloatArray:
    """-ln|1-x| / x, at most FASTEST: 1 for small x."""
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = np.minimum(-np.log(np.abs(1.0 - x)), FASTEST) / x
    return np.where(x < 1e-6, 1.0 + 0.5 * x, exact)


def _modes(
    weight: FloatArray, g: FloatArray, s: FloatArray, curvature: FloatArray, gain: FloatArray, run: Run
) -> Modes:
    sums = np.stack([np.ones_like(s), s, curvature, s * gain, curvature * gain]) * weight
    slowest = FAINT / max(run.time, 1e-300)
    rates, sums = _in_cells(g, sums, slowest)
    return Modes(rates, *sums)


def _in_cells(g: FloatArray, sums: FloatArray, slowest: float) -> tuple[FloatArray, FloatArray]:
    """Modes put on a grid of log g, each shared by its two neighbours so that sums and sums of g stay.

    Below ``slowest`` the neighbours are zero and the first of the grid.
    """
    highest = max(float(g.max()), slowest)
    count = int(np.log(highest / slowest) / WIDTH) + 2
    if count >= g.size:
        return g, sums
    grid = np.concatenate([[0.0], slowest * np.exp(WIDTH * np.arange(count))])
    left = np.clip(np.searchsorted(grid, g, side="right") - 1, 0, grid.size - 2)
    right_share = (g - grid[left]) / (grid[left + 1] - grid[left])
    kept = np.zeros((sums.shape[0], grid.size))
    for row, total in zip(sums, kept, strict=True):
        total += np.bincount(left, row * (1.0 - right_share), minlength=grid.size)
        total += np.bincount(left + 1, row * right_share, minlength=grid.size)
    used = kept[0] != 0.0
    return grid[used], kept[:, used]
