"""The double-descent peak by medians: where the mean is infinite, half of all data sets still lose less.

Given the data, with rank r, the mean over embeddings is t0 (1 + r/(N-r-1)) for N > r + 1 and about
level/(r-N-1) for N < r - 1; at |N - r| <= 1 it is infinite, and the median over embeddings takes its place:
1 + r/m(x), because the trace of an inverse Wishart matrix has the median r/m(x) (a table). The rank and t0
scatter over data; the median of the mixture is found from its distribution function. This is also what
``simulate`` records, except where coordinates depend on each other that are no twins: there one embedding is
drawn for N < r, and one draw has the median level/m(r-N). Single draws scatter by a law that falls off
steeply below its median and slowly above it (a table of eighths).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray

# 1/median(tr W^-1/K) for W = G G^T, G of K x (K + x) normal entries, at K = 800: drawn once, 40,000 each,
# through the bidiagonal form of W; standard errors 0.3 to 1 %. K = 200 gives the same within them.
_X = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 40.0])
_M = np.array([0.251, 0.92, 1.731, 2.61, 3.52, 5.385, 7.328, 11.226, 15.185, 23.12, 39.06])
# The middles of the eight eighths of log(tr W^-1/median), in the same order: 30,000 drawn at K = 400.
_EIGHTHS = np.array(
    [
        [-1.661, -1.13, -0.706, -0.243, 0.27, 0.943, 1.944, 4.122],
        [-0.91, -0.593, -0.356, -0.122, 0.139, 0.474, 0.966, 2.02],
        [-0.658, -0.424, -0.25, -0.087, 0.092, 0.31, 0.624, 1.304],
        [-0.508, -0.328, -0.19, -0.066, 0.069, 0.225, 0.439, 0.895],
        [-0.415, -0.261, -0.153, -0.052, 0.055, 0.18, 0.355, 0.719],
        [-0.305, -0.19, -0.111, -0.036, 0.038, 0.125, 0.242, 0.471],
        [-0.242, -0.149, -0.085, -0.029, 0.029, 0.093, 0.178, 0.346],
        [-0.169, -0.102, -0.058, -0.019, 0.019, 0.063, 0.121, 0.222],
        [-0.131, -0.079, -0.046, -0.015, 0.015, 0.047, 0.088, 0.162],
        [-0.092, -0.054, -0.03, -0.01, 0.01, 0.032, 0.059, 0.106],
        [-0.056, -0.033, -0.018, -0.006, 0.006, 0.019, 0.034, 0.061],
    ]
)
EIGHT = _EIGHTHS.shape[1]
REACH = 6.0  # in spreads of the rank
MANY, PLACES = 25.0, 101  # spread from which on places stand for whole ranks


@dataclass(frozen=True, slots=True)
class PeakLaw:
    """What D samples are like near the peak."""

    D: float
    rank: float
    spread: float
    left_open: float  # t0 on average
    tilt: float  # change of log t0 with the rank, one more
    open_variance: float  # of t0/its mean, beyond what the rank explains
    variance: float  # of S(k) at N, or just below the peak
    wider: float  # terms of order 1/N at N, beyond 1/(r-N)
    luck: float | None  # variance over data of the log of the loss below the peak; None: that of t0
    told_apart: float  # share of data sets whose other dependent coordinates are twins alone


def median_gap(x: FloatArray) -> FloatArray:
    """m(x): x - 1 + 2.6/x far from the peak."""
    x = np.asarray(x, dtype=float)
    return np.where(x > _X[-1], x - 1.0 + 2.6 / np.maximum(x, 1.0), np.interp(x, _X, _M))


def peak_median(of: PeakLaw, N: float, log_level: Callable[[FloatArray], FloatArray]) -> float:
    """The median over data; ``log_level(n)`` is log loss * (rank - n) of n features and average data."""
    ranks, chance = _ranks(of)
    scatter = math.sqrt(math.log1p(of.open_variance))
    tilted = np.clip(of.tilt * (ranks - of.rank), -3.0, 3.0)  # data that show more leave less, on both sides
    left_open = of.left_open * np.exp(tilted - 0.5 * scatter**2)
    above = ranks < N + 0.5
    # Below: far from the peak data of a higher rank resolve at N only part of what they have more, V/Var r.
    far = _far_below(of, N)
    resolved = 1.0 - far * max(1.0 - of.variance / max(of.spread, 1e-9) ** 2, 0.0)
    shift = resolved * (ranks - of.rank)
    gap = np.maximum(of.rank + shift - N, 1.0)
    level = np.exp(log_level(N - shift))
    share = np.minimum(of.left_open * ranks / level, 1.0)  # of the level that scatters as t0 does
    own = share * scatter if of.luck is None else np.full_like(share, math.sqrt(math.log1p(of.luck)))
    under = level * np.exp(tilted - 0.5 * own**2) * (1.0 + far * of.wider)
    of_data = np.where(above, scatter, np.hypot(np.sqrt(max(of.variance - of.spread**2, 0.0)) / gap, own))
    distance = np.where(above, N - ranks, gap)
    many = _mean_gap(distance), np.hypot(of_data, np.where(above, 0.0, 0.5 / distance.clip(1.0)))
    one = (
        np.where(above, _mean_gap(distance), median_gap(distance)),
        np.hypot(of_data, 0.3 / (1.0 + distance)),
    )
    level = np.where(above, left_open * ranks, under)
    drawn = np.where(distance < 1.5, 1.0, np.where(above, 0.0, 1.0 - of.told_apart))  # share of single draws
    rest = np.where(above, left_open, 0.0)
    eighths = _eighths(distance)
    return _median(
        np.concatenate([rest + level / many[0], (rest + level / one[0] * np.exp(eighths)).ravel()]),
        np.concatenate([many[1], np.tile(one[1], EIGHT)]),
        np.concatenate([(1.0 - drawn) * chance, np.tile(drawn * chance / EIGHT, EIGHT)]),
    )


def _eighths(x: FloatArray) -> FloatArray:
    """log(tr W^-1/median) of one draw at N - K = x: the middle of each eighth, a row of x."""
    inside = np.stack([np.interp(x, _X, column) for column in _EIGHTHS.T])
    return np.asarray(inside * np.minimum(_X[-1] / np.maximum(x, 1e-9), 1.0))


def _mean_gap(x: FloatArray) -> FloatArray:
    """x - 1, and m(x) where the mean over embeddings is infinite."""
    return np.where(x < 1.5, median_gap(np.maximum(x, 0.0)), x - 1.0)


def _far_below(of: PeakLaw, N: float) -> float:
    """0 within one spread of the rank, 1 at three spreads below it."""
    return min(max(((of.rank - N) / max(of.spread, 1e-9) - 1.0) / 2.0, 0.0), 1.0)


def _ranks(of: PeakLaw) -> tuple[FloatArray, FloatArray]:
    """Whole ranks about the mean with their chances: normal, but for few that are missing to D.

    Where they are many, places of equal chance stand for them.
    """
    spread, missing = max(of.spread, 0.3), of.D - of.rank
    if spread > MANY:
        normal = statistics.NormalDist()
        levels = [(i + 0.5) / PLACES for i in range(PLACES)]
        places = of.rank + spread * np.array([normal.inv_cdf(level) for level in levels])
        return np.minimum(places, of.D), np.full(PLACES, 1.0 / PLACES)
    low, high = math.floor(of.rank - REACH * spread), math.ceil(of.rank + REACH * spread)
    ranks = np.arange(max(low, 1), min(high, math.ceil(of.D)) + 1, dtype=float)
    if missing < 3.0 * spread:  # negative binomial of this mean and variance; Poisson where it is no wider
        m = max(missing, 1e-3)
        size = m * m / max(spread**2 - m, 1e-3 * m)
        log_chance = np.array([_log_negative_binomial(of.D - r, m, size) for r in ranks])
    else:
        log_chance = -0.5 * ((ranks - of.rank) / spread) ** 2
    chance = np.exp(log_chance - log_chance.max())
    return ranks, chance / chance.sum()


def _log_negative_binomial(n: float, mean: float, size: float) -> float:
    share = math.log1p(size / mean)  # -log(mean/(mean+size))
    return math.lgamma(n + size) - math.lgamma(n + 1.0) - n * share


def _median(middles: FloatArray, widths: FloatArray, weights: FloatArray) -> float:
    """Of a mixture of log-normal laws."""
    used = weights > 1e-10
    centre, weight = np.log(middles[used]), weights[used] / weights[used].sum()
    width = np.clip(widths[used], 0.02, 2.0)
    low, high = float(centre.min()), float(centre.max())
    for _ in range(24):
        middle = 0.5 * (low + high)
        below = float(weight @ _normal((middle - centre) / width))
        low, high = (low, middle) if below > 0.5 else (middle, high)
    return math.exp(0.5 * (low + high))


def _normal(z: FloatArray) -> FloatArray:
    """The normal distribution function to 1e-7 (Abramowitz and Stegun 26.2.17)."""
    t = 1.0 / (1.0 + 0.2316419 * np.abs(z))
    series = ((((1.330274429 * t - 1.821255978) * t + 1.781477937) * t - 0.356563782) * t + 0.319381530) * t
    upper = series * np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return np.where(z > 0.0, 1.0 - upper, upper)
