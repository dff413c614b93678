"""The double-descent peak by medians: where the mean is infinite, half of all draws still lose less.

With x = |N - rank| features to spare, the loss is that of the data times 1 + r tr(W^-1)/r over a Wishart
law W, whose trace has no mean at x <= 1. Its median is r/m(x) (a table), and m(x) takes the place of x. The
rank itself scatters over data: the median of the whole is taken over that scatter.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

import numpy as np

from sparselaw.arrays import FloatArray

# 1/median(tr W^-1/K) for W = G G^T, G of K x (K + x) normal entries, at K = 800: drawn once, 40,000 each,
# through the bidiagonal form of W; standard errors 0.3 to 1 %. K = 200 gives the same within them.
_X = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 40.0])
_M = np.array([0.251, 0.92, 1.731, 2.61, 3.52, 5.385, 7.328, 11.226, 15.185, 23.12, 39.06])
_QUANTILES = 41


def median_gap(x: FloatArray) -> FloatArray:
    """m(x): x - 1 + 2.6/x far from the peak."""
    x = np.asarray(x, dtype=float)
    return np.where(x > _X[-1], x - 1.0 + 2.6 / np.maximum(x, 1.0), np.interp(x, _X, _M))


def median_over(loss: Callable[[FloatArray], FloatArray], N: float, spread: float) -> float:
    """The median of loss(N + x) over x ~ Normal(0, spread^2)."""
    normal = statistics.NormalDist()
    levels = [(i + 0.5) / _QUANTILES for i in range(_QUANTILES)]
    x = spread * np.array([normal.inv_cdf(level) for level in levels])
    return float(np.median(loss(N + x)))
