"""One sparsity exponent from how many features are active in k rows, where there is one.

With p_j = j^-(alpha1+1), mu = 1/(alpha1+1), the mean number of features active in k of n rows is, whatever n,

    int dj Binomial(n, p_j)(k)  ~  Gamma(k - mu) / k!.

Within a window k1 <= k <= k2 the likelihood has one parameter, and the sum over the window is in closed form:
Gamma(k-mu)/k! = G(k) - G(k+1), G(k) = Gamma(k-mu)/(mu Gamma(k)). Windows of small and of large k see the rare
and the frequent features: where they disagree, no single alpha1 describes the data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sparselaw.measuring.histogram import Histogram

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
