"""The modes of a descent in minibatches: how fast each is learned and how it answers to the noise of batches.

A mode has the curvature h and shows the curvature c in a single sample (an activation: c its squared
amplitude, h = n c/D after n sightings; a Gaussian direction: c = 3 h). Steps of finite size eta on batches
of b samples:

    x = eta (c/b + h (1 - 1/b)),   rate g = h (-ln|1-x| / x),   gain chi = 1/[1 - (eta/2) (h + (c - 2 h)/b)].

With b = 1 and N infinite e^(-2 g tau) = (1-x)^(2 n P) is exact for activations. One pass over fresh samples
is described by the mean over the law instead of the counts (h = s):

    rho = 1 - 2 eta s + eta^2 (s c/b + (1 - 2/b) s^2),   g = -ln(rho)/(2 eta),   chi = 2 eta s/(1 - rho).

Here rho leaves out what a coordinate's own error adds to the noise, which the loss brings back. For the few
that are learned within steps it may be negative; their rate is that of rho + (eta s)^2/b, a mean square.

With momentum beta, eta stands for eta/(1 - beta). What a sample does to a coordinate is then shared by the
1/(1 - beta) steps that follow, but is the same in the end: noise acts as without momentum. The mean does not:
its factor 1 - eta h a step is the root r of the heavy ball, and in the gain eta h is (1-beta)/(1+beta) times
as large, the stationary variance of such a recursion of second order:

    rho = r^2 + eta^2 (c - 2 s) s/b,   chi = 1/[1 - (eta/2) (h (1-beta)/(1+beta) + (c - 2 h)/b)],

fast ones by the largest root of their second moments, and g = -ln(r)/eta times the stretch of x = eta (c -
h)/b for counted ones.

A mode with x > 2 grows at every visit. It stays as far off as it has grown in the run (of fresh samples: at
one visit, since runs with two are far off), which no feature resolves. Where that is by more than e^DIVERGED,
in the run or at one visit, a run that sees it diverges. Such modes are taken as never seen, and how many a
run is expected to see is said beside (``diverging``).

In a schedule every segment has the x of its own step, and g is the mean of their rates over the time.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincc

from sparselaw.arrays import FloatArray
from sparselaw.gram.law import Atoms, on_lattice
from sparselaw.inputs import Inputs
from sparselaw.theory.training.filters import HeavyBall
from sparselaw.theory.training.schedule import Descent, Run

SPACING = 0.04  # of the lattice of log curvatures
NEIGHBOURS = 6  # of the lattice that share a curvature
FAINT = 1e-6  # of 1/tau: every function in use is a straight line of slower curvatures
FAST = 0.7  # 1 - rho of a coordinate that is learned in a few steps, whatever the others do
FASTEST = 40.0  # times 1/eta, the rate of a coordinate that one step learns whole
ENDLESS = 1e30  # the gain of a mode that noise makes grow
DIVERGED = 5.0  # ln of the growth of a mode from which on the run counts as diverged
OFTEN = 0.5  # modes that make a run diverge, expected in a run: from there on the mean is no use
SLOW = 1e-3  # 1 - rho up to which a mode with momentum needs no root of its second moments
FIRST = 1000.0  # coordinates that may have the largest variance


@dataclass(frozen=True, slots=True)
class Spectrum:
    """``weight`` modes of ``curvature`` h, of which a single sample shows ``single``.

    ``variance`` is theirs, summed over the modes; ``unseen`` that of coordinates which no sample shows.
    """

    weight: FloatArray
    curvature: FloatArray
    single: FloatArray
    variance: FloatArray
    unseen: float

    @classmethod
    def of(cls, atoms: Atoms, D: float = 1.0) -> Spectrum:
        """Atoms of G: curvatures are those of G/D."""
        curvature = np.exp(atoms.log_g - math.log(D))
        single = 3.0 * curvature if atoms.log_single is None else np.exp(atoms.log_single)
        return cls(atoms.weight, curvature, single, atoms.variance, atoms.unseen)


@dataclass(frozen=True, slots=True)
class Modes:
    """``weight`` modes of rate ``g``; the others are sums over those modes: weight times the quantity."""

    g: FloatArray
    weight: FloatArray
    variance: FloatArray  # s
    curvature: FloatArray  # h
    variance_gain: FloatArray  # s chi
    curvature_gain: FloatArray  # h chi
    product: float = 0.0  # sum s h
    unseen: float = 0.0
    diverging: float = 0.0  # coordinates that a run is expected to see and that make it diverge
    kicks: float = 0.0  # sum of x^2 of the growing coordinates that a run is expected to see

    def kappa(self, run: Run) -> float:
        """The loss that the noise of batches keeps up, for each unit of training error."""
        return 0.5 * run.sample_step * run.random_share * float(self.variance_gain.sum())


def counted_modes(spectrum: Spectrum, run: Run) -> Modes:
    """Of D samples that are visited again and again."""
    h, c = spectrum.curvature, spectrum.single
    if run.momentum > 0.0:
        x = np.maximum(run.sample_step * (c - h), 0.0)
        rates = [_slow_rate(h, run, step) * _stretch(step * x) for _, step in run.shares]
    else:
        x = run.step * (c / run.batch + h * (1.0 - 1.0 / run.batch))
        rates = [h * _stretch(step * x) for _, step in run.shares]
    return _modes(spectrum, rates, run, x)


def fresh_modes(spectrum: Spectrum, run: Run) -> Modes:
    """Of samples that are seen once only: the spectrum is that of the population."""
    s, c, b = spectrum.curvature, spectrum.single, run.batch
    rates = []
    for _, step in run.shares:
        eta = step * run.step
        if run.momentum > 0.0:
            noise = eta**2 * s * (c - 2.0 * s) / b
            slow = -np.expm1(-2.0 * eta * _slow_rate(s, run, step))  # 1 - r^2
            falls, fast = slow - noise, slow > SLOW
            falls[fast] = 1.0 - _mean_square_root(s[fast], noise[fast], run.momentum, step * run.own_step)
            kept = falls
        else:
            falls = 2.0 * eta * s - eta**2 * s * (c / b + (1.0 - 2.0 / b) * s)  # 1 - rho
            # fast ones with the noise that a coordinate makes for itself
            kept = np.where(falls > FAST, falls - (eta * s) ** 2 / b, falls)
        with np.errstate(divide="ignore"):
            logs = np.minimum(-np.log(np.abs(1.0 - kept)), FASTEST)
        rates.append(np.where(np.abs(falls) < 1e-6, falls * (1.0 + 0.5 * falls), logs) / (2.0 * eta))
    return _modes(spectrum, rates, run, run.step * c / b, visits=run.D)


def _slow_rate(curvature: FloatArray, run: Run, step: float) -> FloatArray:
    """-ln|r| over the step, ``step`` times the last: how fast a mode falls in the end."""
    ball = HeavyBall(step=step * run.own_step, momentum=run.momentum, steps=1.0)
    return np.asarray(-ball.log_root(curvature).real / (step * run.step))


def _mean_square_root(curvature: FloatArray, shaking: FloatArray, beta: float, step: float) -> FloatArray:
    """By how much the mean square error of a mode falls a step, with noise in proportion to itself.

    e' = (1 + beta - eta l) e - beta e_before + noise, whose variance is (1 - beta)^2 ``shaking`` e^2: the
    largest root of the second moments of (e, e_before).
    """
    ahead = 1.0 + beta - step * curvature
    moments = np.zeros((curvature.size, 3, 3))
    moments[:, 0, 0] = ahead**2 + (1.0 - beta) ** 2 * shaking
    moments[:, 0, 1], moments[:, 0, 2] = -2.0 * ahead * beta, beta**2
    moments[:, 1, 0], moments[:, 1, 1], moments[:, 2, 0] = ahead, -beta, 1.0
    return np.asarray(np.abs(np.linalg.eigvals(moments)).max(axis=1, initial=0.0))


def _stretch(x: FloatArray) -> FloatArray:
    """-ln|1-x| / x, at most FASTEST: 1 for small x."""
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = np.minimum(-np.log(np.abs(1.0 - x)), FASTEST) / x
    return np.where(x < 1e-6, 1.0 + 0.5 * x, exact)


def _modes(
    spectrum: Spectrum, rates: list[FloatArray], run: Run, x: FloatArray, visits: float = 0.0
) -> Modes:
    """From the rate in every segment; ``visits``: samples, where the spectrum is that of the population."""
    weight, s, h = spectrum.weight, spectrum.variance, spectrum.curvature
    slower = (1.0 - run.momentum) / (1.0 + run.momentum)
    left = 1.0 - 0.5 * run.step * (h * slower + (spectrum.single - 2.0 * h) / run.batch)
    gain = 1.0 / np.where(left > 0.0, left, 1.0 / ENDLESS)  # chi
    fallen = np.cumsum([share * rate for (share, _), rate in zip(run.shares, rates, strict=True)], axis=0)
    g, most = fallen[-1], -2.0 * run.time * fallen.min(axis=0)
    growing = (g < 0.0) | (most > DIVERGED)
    expected = weight[growing]
    if visits > 0.0:  # a coordinate is active with probability h/c
        active = h[growing] / np.maximum(spectrum.single[growing], 1e-300)
        expected = expected * -np.expm1(-visits * np.minimum(active, 1.0))
    growth, largest = -2.0 * run.time * g[growing], max(step for _, step in run.shares)
    grown = 1.0 + growth if visits > 0.0 else np.exp(np.minimum(growth, DIVERGED))
    x = largest * x[growing]
    diverging = (most[growing] > DIVERGED) | (x > 1.0 + math.exp(0.5 * DIVERGED))  # in the run, at a visit
    columns = np.stack([weight, s, weight * h, s * gain, weight * h * gain])[:, ~growing]
    slowest = max(FAINT / max(run.time, 1e-300), 1e-300)  # a time may be too long for a number
    lattice, sums = thinned(g[~growing], columns, slowest)
    return Modes(
        g=lattice,
        weight=sums[0],
        variance=sums[1],
        curvature=sums[2],
        variance_gain=sums[3],
        curvature_gain=sums[4],
        product=float(s[~growing] @ h[~growing]),
        unseen=spectrum.unseen + float(s[growing] @ np.where(diverging, 1.0, grown)),
        diverging=float(expected @ diverging),
        kicks=float(expected @ (~diverging * x**2)),
    )


def thinned(curvature: FloatArray, columns: FloatArray, slowest: float) -> tuple[FloatArray, FloatArray]:
    """Fewer curvatures with the same sums of smooth functions: Lagrange's polynomials on a lattice of logs.

    Those below ``slowest``, of which every function is a straight line, are shared by zero and by it.
    """
    share = np.minimum(curvature / slowest, 1.0)
    log_g = np.log(np.maximum(curvature, slowest))
    shared, places = on_lattice(columns * share, log_g, step=SPACING, neighbours=NEIGHBOURS)
    if places.size >= curvature.size:
        return curvature, columns
    zero = (columns @ (1.0 - share))[:, None]
    return np.append(0.0, np.exp(places)), np.concatenate([zero, shared[:, 0]], axis=1)


@functools.lru_cache(maxsize=16)
def population_of(inputs: Inputs, D: float) -> Spectrum:
    """The coordinates as fresh samples show them."""
    return Spectrum.of(inputs.population(D))


@functools.lru_cache(maxsize=64)
def top_curvature(inputs: Inputs, N: float) -> float:
    """The largest curvature seen through N features: v_1 (1 + (1/N) sum_{j>1} v_j/(v_1 - v_j))."""
    j = np.arange(1.0, min(inputs.dimension, FIRST) + 1.0)
    v = np.sort(inputs.variances(j))[::-1]
    others = float(np.sum(v[1:] / np.maximum(v[0] - v[1:], 0.1 * v[0])))
    return float(v[0]) * (1.0 + others / N)


def beyond_the_edge(spectrum: Spectrum, edge: float, N: float) -> float:
    """How many modes are expected to be steeper than ``edge``: the share of runs that diverge, where small.

    The squared length of a column of the embedding is chi-square with N degrees of freedom over N, so that
    rare large coordinates and long columns are counted alike.
    """
    near = spectrum.curvature > 1e-3 * edge
    ratio = edge / spectrum.curvature[near]
    beyond = (ratio < 1.0).astype(float) if math.isinf(N) else gammaincc(0.5 * N, 0.5 * N * ratio)
    return float(spectrum.weight[near] @ beyond)


def largest_sgd_step(inputs: Inputs, batch: int = 1, N: float = math.inf, D: float = 1e6) -> float:
    """The step at which kappa of fresh samples reaches one, or gradient descent itself turns unstable.

    >>> from sparselaw.inputs import SparseInputs
    >>> round(largest_sgd_step(SparseInputs(alpha1=1.0, alpha2=0.3)), 2)
    1.67
    """
    return _crossing(lambda step: _kappa(inputs, step, batch, D), 1.0, 2.0 / top_curvature(inputs, N))


def critical_batch(inputs: Inputs, step: float, D: float = 1e9) -> float:
    """The batch size at which minibatches add as much as one tenth: kappa = 1/11 at this step.

    Below it a larger batch saves samples' noise; above it a larger batch only takes more samples a step.
    """
    return _crossing(lambda batch: -_kappa(inputs, step, int(batch), D), -1.0 / 11.0, D)


def _kappa(inputs: Inputs, step: float, batch: int, D: float) -> float:
    """Of one pass over fresh samples."""
    run = Descent(step=step, passes=1, batch=batch).among(D)
    return fresh_modes(population_of(inputs, D), run).kappa(run)


def _crossing(rises: Callable[[float], float], level: float, highest: float) -> float:
    """Where a rising function of (0, highest) passes the level; highest if it never does.

    By halving: it is infinite beyond some place and a staircase in the batch, where brentq gains nothing.
    """
    low, high = 0.0, highest
    if not rises(highest * (1.0 - 1e-9)) > level:
        return highest
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if rises(middle) > level else (middle, high)
    return 0.5 * (low + high)
