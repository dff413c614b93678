"""Losses along D while a slider is dragged: the sums of a few D and cut-offs, read off for all others.

The full curve follows when the controls rest. The loss has a pole, its sums have none: at one k/D they
change slowly with log D, and with log k. The odds that a coordinate is not resolved are a power of k at both
ends, so that the table may end before the pole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.inputs import ActivationInputs
from sparselaw.sums.chebyshev import chebyshev_places, interpolate
from sparselaw.sums.count_points import CountPoints
from sparselaw.sums.counts import CountSums
from sparselaw.theory.count_curve import Seen

FEWEST, MOST = 11, 21  # places of D, as many as log D has units
CUTOFFS = 60
BEYOND = 25.0  # log k goes on so far below where the largest N is resolved
SMALLEST = 1e-13  # share of coordinates not resolved that rounding leaves


@dataclass(frozen=True, slots=True)
class _Table:
    """Logarithms for each D (rows) and cut-off k (columns, rising)."""

    k: FloatArray
    odds: FloatArray  # (K - degrees)/degrees
    partial: FloatArray
    lost: FloatArray
    noise: FloatArray


def draft_losses(
    inputs: ActivationInputs,
    N: Sequence[int],
    D: FloatArray,
    known: Seen,
    *,
    ridge: float = 0.0,
    noise: float = 0.0,
) -> list[FloatArray]:
    """The leading surface for each N along rising D; ``known`` is what is seen there."""
    x = np.log(D)
    count = min(max(FEWEST, math.ceil(x[-1] - x[0])), MOST)
    places = chebyshev_places(float(x[0]), float(x[-1]), count)
    sums = [inputs.quick_sums(math.exp(place)) for place in places]
    points = [one.points() for one in sums]
    losses = []
    with np.errstate(all="ignore"):
        table = _table(sums, points, places, x, N, ridge)
        fitted = np.zeros((2, D.size))
        if noise > 0.0 and float(known.mean[0]) <= max(N):
            fitted = _fitted(points, places, x)
            if math.isinf(sums[0].inverse_gram_trace()):
                fitted[1] = np.inf
        for n in N:
            found, below = _cut_off(table, float(n), known.mean, ridge, noise)
            gap = n - known.mean
            wide = known.unseen * n / gap + noise * (fitted[0] + known.unseen * fitted[1] / gap)
            found = np.where((gap >= 0.0) & ((ridge == 0.0) | below), wide, found)
            losses.append(np.where(np.isnan(found), np.inf, found))
    return losses


def _table(
    sums: Sequence[CountSums],
    points: Sequence[CountPoints],
    places: FloatArray,
    x: FloatArray,
    N: Sequence[int],
    ridge: float,
) -> _Table:
    first = sums[0]
    high = first.first_cutoff(float(min(N))) - first.log_samples + 2.0
    low = first.first_cutoff(float(max(N))) - first.log_samples - BEYOND
    if ridge > 0.0:  # every k lies above it
        low, high = max(low, math.log(ridge) - x[-1]), max(high, math.log(ridge) - x[0] + 2.0)
    u = np.linspace(low, high, CUTOFFS)  # log(k/D)
    found = np.empty((4, places.size, u.size))
    for i, place in enumerate(places):
        s, seen = points[i].at(u + place), sums[i].seen()
        odds = np.maximum(seen - s.degrees, SMALLEST * seen) / s.degrees
        found[:, i] = np.log([odds, s.partial, s.lost, s.noise])
    return _Table(u + x[:, None], *(interpolate(places, rows, x) for rows in found))


def _fitted(points: Sequence[CountPoints], places: FloatArray, x: FloatArray) -> FloatArray:
    """What label noise adds where N > K: sum s/g and sum 1/g over the coordinates that were seen."""
    values = [[one.variance @ np.exp(-one.log_g), one.weight @ np.exp(-one.log_g)] for one in points]
    return np.asarray(np.exp(interpolate(places, np.log(values), x)).T)


def _cut_off(
    table: _Table, N: float, seen: FloatArray, ridge: float, noise: float
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """The loss where N coordinates are resolved: ``excess`` rises through zero there, or below the table."""
    if ridge == 0.0:
        excess = table.odds - np.log(seen / N - 1.0)[:, None]
    else:
        degrees = seen[:, None] / (1.0 + np.exp(table.odds))
        excess = -np.log(degrees / N + ridge * np.exp(-table.k))
    last = excess.shape[1] - 1
    i = np.clip((excess < 0.0).sum(axis=1), 1, last)[:, None]

    def at(values: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.take_along_axis(values, i - 1, 1)[:, 0], np.take_along_axis(values, i, 1)[:, 0]

    below, above = at(excess)
    share = -below / (above - below)
    k, partial, lost, shaken = (
        np.exp(low + share * (high - low))
        for low, high in map(at, (table.k, table.partial, table.lost, table.noise))
    )
    slack = partial + N * ridge / k
    losses = lost * N / slack + noise * (shaken + lost * partial / slack / k)
    return losses, excess[:, 0] > 0.0
