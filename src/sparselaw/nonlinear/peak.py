"""The double-descent peak of nonlinear features: the mean is infinite there, and a median takes its place.

Where N features meet the rank r of the samples, the smaller side is a Wishart matrix W about its mean, and
the loss is a part that stays and one that goes as tr W^-1. For |N - r| <= 1 its mean is infinite; half of all
draws have less than 1/m(|N - r|) times the smaller size, m found by drawing. The rank of sparse samples
scatters too: the median is that of the mixture.
"""

from __future__ import annotations

import functools
import statistics
from collections.abc import Callable

import numpy as np

from sparselaw.arrays import FloatArray

INFINITE = 0.01  # share of data sets with |N - rank| <= 1 from which on the mean is called infinite
REACH, DEVIATIONS = 12.0, 5.0  # how far from the peak a median is given: in ranks, in standard deviations
SIZE, DRAWS = 300, 4000  # of the Wishart matrices
FAR = 40  # beyond, tr W^-1/SIZE is 1/(gap - 1)
LEVELS = (np.arange(99.0) + 0.5) / 99.0


@functools.lru_cache(maxsize=64)
def inverse_traces(gap: int) -> FloatArray:
    """Quantiles at LEVELS of tr W^-1/K, W = G G^T with G of K x (K + gap) normal entries.

    W is drawn through its bidiagonal form B B^T: the rows of B^-1 have squared lengths
    s_i = (1 + e_i^2 s_{i-1})/d_i^2, with d and e the chi variables on the diagonal and below it.
    """
    rng = np.random.default_rng([20261118, gap])
    total = row = np.zeros(DRAWS)
    for i in range(SIZE):
        below = rng.chisquare(SIZE - i, DRAWS) if i else np.zeros(DRAWS)
        row = (1.0 + below * row) / rng.chisquare(SIZE + gap - i, DRAWS)
        total = total + row
    return np.asarray(np.quantile(total / SIZE, LEVELS))


def quantiles(gap: float) -> FloatArray:
    """The same for a real gap: linear in the logarithm between whole ones."""
    if gap >= FAR:
        return np.full(LEVELS.size, 1.0 / (gap - 1.0))
    low = int(gap)
    one, two = np.log(inverse_traces(low)), np.log(inverse_traces(low + 1))
    return np.asarray(np.exp(one + (gap - low) * (two - one)))


def median_gap(gap: float) -> float:
    """m(gap): the median of tr W^-1 is K/m; its mean K/(gap - 1)."""
    return 1.0 / float(quantiles(gap)[LEVELS.size // 2])


def is_infinite(N: float, rank: float, deviation: float) -> bool:
    """Whether |N - rank| <= 1 for more than INFINITE of the data sets."""
    if deviation == 0.0:
        return abs(N - rank) <= 1.0
    law = statistics.NormalDist(rank, max(deviation, 0.3))
    return law.cdf(N + 1.5) - law.cdf(N - 1.5) > INFINITE


def has_median(N: float, rank: float, deviation: float) -> bool:
    """Whether N is near enough to the rank."""
    return abs(N - rank) <= max(REACH, DEVIATIONS * deviation)


def mixture_median(
    N: float, rank: float, deviation: float, parts: Callable[[float], tuple[float, float]]
) -> float:
    """The median over ranks: ``parts(r)`` is what stays of the loss and what tr W^-1/r is multiplied by."""
    law = statistics.NormalDist(rank, max(deviation, 0.3))
    found = []
    for level in LEVELS:
        r = law.inv_cdf(float(level))
        stays, goes = parts(r)
        found.append(stays + goes * quantiles(abs(N - r)))
    return float(np.median(np.concatenate(found)))
