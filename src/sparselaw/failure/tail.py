"""The rare coordinates, drawn together: exact for infinitely many of them.

Coordinate j is seen with probability p_j = j^-s. Where p_j is small the D samples of all coordinates
first..last are one Poisson stream: Bernoulli(p) is 1{Poisson(-log(1-p)) >= 1}, so a Poisson number of
events with mean D * sum -log(1-p_j), each with its own coordinate and sample, repeats dropped, has the
law of the independent activations.

A coordinate is drawn by rounding a Pareto variable on [first - 1/2, last + 1/2] and thinning: x^-s is
convex, so the cell of j has at least the mass p_j, and the thinning never needs more than one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sparselaw.compiled import njit
from sparselaw.sums.power_sums import log_survival, power_sum

FLAT = 1e4  # beyond this the cell's mass is p_j (1 + s (s + 1) / (24 j^2)) to 16 digits


class Range(NamedTuple):
    """Coordinates first..last of the law j^-s, ready to be drawn from. ``mass`` is the sum of the law."""

    s: float
    first: float
    last: float
    mass: float
    poisson: bool  # the law is -log(1 - p_j), else p_j


def poisson_range(s: float, first: float, last: float) -> Range:
    """The coordinates of a Poisson stream; mass 0 where there are none."""
    return Range(s, first, last, log_survival(s, first, last), True)


def activation_range(s: float, first: float, last: float) -> Range:
    """Coordinates drawn in proportion to p_j: the law of one activation made to happen."""
    return Range(s, first, last, power_sum(s, first, last), False)


@njit()
def draw_coordinate(rng: np.random.Generator, law: Range) -> float:
    """One coordinate of the range."""
    s = law.s
    low, high = law.first - 0.5, law.last + 0.5
    log_ratio = math.log(high / low) if high < math.inf else math.inf
    most = _thinning(law, law.first)
    while True:
        u = 1.0 - rng.random()
        if s == 1.0:
            x = low * math.exp(u * log_ratio)
        elif high == math.inf:
            x = low * math.exp(-math.log(u) / (s - 1.0))
        else:
            x = low * math.exp(math.log1p(u * math.expm1((1.0 - s) * log_ratio)) / (1.0 - s))
        # math.floor would be a 64-bit integer here, and coordinates go far beyond.
        j: float = min(max(np.floor(x + 0.5), law.first), law.last)
        if rng.random() * most * _cell(s, j) <= _thinning(law, j):
            return j


@njit()
def _thinning(law: Range, j: float) -> float:
    """The law over p_j: 1, or -log(1 - p) / p, which falls with j."""
    if not law.poisson:
        return 1.0
    p = math.exp(-law.s * math.log(j))
    return -math.log1p(-p) / p if p > 1e-17 else 1.0


@njit()
def _cell(s: float, j: float) -> float:
    """The mass of x^-s on [j - 1/2, j + 1/2] over j^-s, at least 1."""
    if j > FLAT:
        return 1.0 + s * (s + 1.0) / (24.0 * j * j)
    low, high = math.log1p(-0.5 / j), math.log1p(0.5 / j)
    if s == 1.0:
        return j * (high - low)
    return j * (math.exp((1.0 - s) * high) - math.exp((1.0 - s) * low)) / (1.0 - s)
