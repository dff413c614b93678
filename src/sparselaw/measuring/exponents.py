"""Exponents from counts: of the sparsity, where there is one, and of the size of a feature by its frequency.

Sparsity. With p_j = j^-(alpha1+1), mu = 1/(alpha1+1), the mean number of features active in k of n rows is,
whatever n,

    int dj Binomial(n, p_j)(k)  ~  Gamma(k - mu) / k!.

Within a window k1 <= k <= k2 the likelihood has one parameter, and the sum over the window is in closed form:
Gamma(k-mu)/k! = G(k) - G(k+1), G(k) = Gamma(k-mu)/(mu Gamma(k)). Windows of small and of large k see the rare
and the frequent features: where they disagree, no single alpha1 describes the data.

Size: c ~ p^eta, c the mean square where a feature is active. Features are put in bins by how often they are
active in one half of the rows, and their mean square is taken from the other half: a feature that was often
active, or large, by chance in the one is not so in the other. Both halves play both parts. Then alpha2 = eta
(alpha1 + 1) - 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.measuring.rarefaction import Histogram

FIRST_WINDOW = (1, 7)
RATIO = 8
LARGEST_SHARE = 1.0 / 16.0  # of the rows: more frequent features are too few for a law
FEWEST = 20  # features in a window
LOWEST, HIGHEST = 0.004, 0.999  # of mu


@dataclass(frozen=True, slots=True)
class Window:
    """Counts from ``low`` to ``high``, both included."""

    low: int
    high: int


def windows(data: Histogram) -> list[Window]:
    """Windows a factor of eight wide, as long as each has features enough."""
    found: list[Window] = []
    low, high = FIRST_WINDOW
    largest = LARGEST_SHARE * data.rows
    while low <= largest:
        window = Window(low, min(high, int(largest)))
        if inside(data, window) >= FEWEST and window.high >= 2 * window.low:
            found.append(window)
        low, high = RATIO * low, RATIO * (high + 1) - 1
    return found


def inside(data: Histogram, window: Window) -> float:
    """How many features have a count in the window."""
    return float(data.features[(data.count >= window.low) & (data.count <= window.high)].sum())


def exponent(data: Histogram, window: Window) -> float:
    """mu of the largest likelihood; NaN where it lies at the edge of what makes sense, or nothing is there.

    >>> import numpy as np
    >>> k = np.arange(1.0, 200.0)
    >>> from scipy.special import gammaln
    >>> law = np.exp(gammaln(k - 0.5) - gammaln(k + 1))
    >>> round(exponent(Histogram(10**6, k, law, law, 1.0), Window(1, 199)), 6)
    0.5
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import gammaln

    used = (data.count >= window.low) & (data.count <= window.high)
    k, f = data.count[used], data.features[used]
    if k.size < 2:
        return math.nan
    total = float(f.sum())

    def badness(mu: float) -> float:
        return float(total * _log_sum(mu, window) - f @ gammaln(k - mu))

    found = minimize_scalar(badness, bounds=(LOWEST, HIGHEST), method="bounded", options={"xatol": 1e-10})
    mu = float(found.x)
    return mu if LOWEST * 1.01 < mu < 1.0 - 1.01 * (1.0 - HIGHEST) else math.nan


def _log_sum(mu: float, window: Window) -> float:
    """log of the sum of Gamma(k-mu)/k! over the window."""
    from scipy.special import gammaln

    first = float(gammaln(window.low - mu) - gammaln(window.low)) - math.log(mu)
    last = float(gammaln(window.high + 1 - mu) - gammaln(window.high + 1)) - math.log(mu)
    return first + math.log(-math.expm1(last - first))


FEWEST_ROWS = 5  # active rows in the one half


@dataclass(frozen=True)
class Half:
    """Counts and sums of squares of each feature over half of the rows."""

    rows: int
    n: NDArray[np.int64]
    energy: FloatArray

    @cached_property
    def bins(self) -> tuple[IntArray, IntArray]:
        """Features that are active often enough, and the bin of each, of doubling count."""
        used = np.flatnonzero(self.n >= FEWEST_ROWS)
        return used, np.frexp(self.n[used] / FEWEST_ROWS)[1] - 1  # the whole part of log2


def amplitude_exponent(one: Half, other: Half) -> float:
    """eta, the slope of log mean square on log frequency; NaN with fewer than two bins."""
    return 0.5 * (_slope(one, other) + _slope(other, one))


def amplitude_bins(one: Half, other: Half) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(p, c, features) of bins of doubling count.

    c is a mean over active entries, in which frequent features count more, and so is p: E[p^2]/E[p], without
    bias from sum n (n-1) / sum n. With a plain mean of p the wide bins of small counts would tilt the slope.
    """
    used, which = one.bins
    features, often = np.bincount(which), other.n[used].astype(np.float64)
    n = np.bincount(which, weights=often)
    pairs = np.bincount(which, weights=often * (often - 1.0))
    energy = np.bincount(which, weights=other.energy[used])
    full = (pairs > 0) & (energy > 0.0)
    p, c = pairs[full] / n[full] / max(other.rows - 1, 1), energy[full] / n[full]
    return p, c, features[full].astype(np.float64)


def _slope(one: Half, other: Half) -> float:
    p, c, features = amplitude_bins(one, other)
    if p.size < 2:
        return math.nan
    x, y = np.log(p), np.log(c)
    x = x - np.average(x, weights=features)
    spread = float(features @ x**2)
    return float(features @ (x * y)) / spread if spread > 0.0 else math.nan
