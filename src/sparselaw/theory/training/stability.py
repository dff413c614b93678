"""Steps that are stable: of the mean over runs, and how many single runs diverge all the same."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
from scipy.special import gammaincc

from sparselaw.inputs import Inputs
from sparselaw.theory.training.modes import Spectrum, fresh_modes
from sparselaw.theory.training.schedule import Descent
from sparselaw.theory.training.volterra import gain

FIRST = 1000.0  # coordinates that may have the largest variance


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

    def kappa(step: float) -> float:
        return _kappa(inputs, step, batch, D)

    return _crossing(kappa, 1.0, 2.0 / top_curvature(inputs, N))


def critical_batch(inputs: Inputs, step: float, D: float = 1e9) -> float:
    """The batch size at which minibatches add as much as one tenth: kappa = 1/11 at this step.

    Below it a larger batch saves samples' noise; above it a larger batch only takes more samples a step.
    """

    def kappa(batch: float) -> float:
        return -_kappa(inputs, step, int(batch), D)

    return _crossing(kappa, -1.0 / 11.0, D)


def _kappa(inputs: Inputs, step: float, batch: int, D: float) -> float:
    """Of one pass over fresh samples."""
    run = Descent(step=step, passes=1, batch=batch).among(D)
    return gain(fresh_modes(population_of(inputs, D), run), run)


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
