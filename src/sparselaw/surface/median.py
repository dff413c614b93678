"""Medians through the double-descent peak: where the mean is infinite, half of all runs still lose less.

It is the median over data sets and embeddings, as ``simulate`` records them: one number a run. Given data
of rank r the mean over embeddings has a closed form for |N - r| > 1, which ``simulate`` uses where it can;
elsewhere one embedding is drawn, whose loss has the median level/m(|N - r|) and scatters by the law of tr
W^-1, W a Wishart matrix (two tables). Data sets scatter by their rank, as for the mean (``peak``), and by
the variance they leave unresolved; the median of the mixture is found from its distribution function.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.gram.law import GramLaw
from sparselaw.surface.peak import rank_law
from sparselaw.surface.state import embedded, state_at

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
REACH = 5.0  # standard deviations of the rank as far as a median is given
CLOSEST, CLOSEST_SPREADS = (
    0.015,
    1.0,
)  # of the rank, and of its standard deviation: nearer, level is what it is there
WIDEST, NARROWEST = 2.0, 0.02  # of the laws that are mixed, in log


def wants_median(law: GramLaw, N: FloatArray) -> NDArray[np.bool_]:
    """Whether N is near the rank, in standard deviations of it, and the rank scatters at all."""
    return np.asarray((np.abs(N - law.rank) <= REACH * law.spread + 1.0) & (law.spread > 0.0))


def median_gap(x: FloatArray) -> FloatArray:
    """m(x): x - 1 + 2.6/x far from the peak."""
    x = np.asarray(x, dtype=float)
    return np.where(x > _X[-1], x - 1.0 + 2.6 / np.maximum(x, 1.0), np.interp(x, _X, _M))


def median(law: GramLaw, N: float) -> float:
    """The median over data sets and embeddings, without ridge and label noise.

    Parameters
    ----------
    law
        The law of the Gram matrix.
    N
        The number of features, near the rank.

    Returns
    -------
    float
        The median; nan where the law gives no variance to resolve.
    """
    with np.errstate(all="ignore"):
        return _median_at(law, N)


def median_error(law: GramLaw) -> float:
    """Relative, about: few coordinates, and much sharing, are what the law of the median leaves out."""
    return 0.05 + 2.5 / law.rank + min(float(np.sqrt(law.error(np.array([-np.inf]))[0])), 0.3)


def _median_at(law: GramLaw, N: float) -> float:
    ranks, chance, _ = rank_law(law, N)
    deviation, spread = ranks - law.rank, max(law.spread, 1e-9)
    mean = state_at(law, np.array([N]), 0.0)
    cov = law.scatter(mean.x)
    slope = 0.0
    if not mean.end[0]:
        slope = (1.0 - min(math.sqrt(max(float(cov.SS[0]), 0.0)) / spread, 1.2)) / max(
            float(mean.short[0]), 0.5
        )
    away = np.where(
        ranks > N, np.maximum(ranks - N, max(CLOSEST * law.rank, CLOSEST_SPREADS * spread, 0.75)), 0.0
    )
    of = state_at(law, np.full(ranks.shape, N), 0.0, N + away, np.maximum(1.0 + slope * deviation, 0.1))
    end = law.scatter(np.array([-np.inf]))
    open_ = float(law.at(np.array([-np.inf])).A0[0])
    tilt = -float(end.SM[0]) / (open_ * spread**2) if spread > 0.3 else 0.0
    luck = max(float(end.MM[0]) / open_**2 - (tilt * spread) ** 2, 0.0)
    own = math.sqrt(math.log1p(luck))
    lean = np.exp(np.clip(tilt * deviation, -3.0, 3.0) - 0.5 * own**2)
    above, distance = ranks < N + 0.5, np.abs(N - ranks)
    by_mean, by_one = _mean_gap(distance), median_gap(distance)
    terms, below = embedded(of), ~above
    level = np.where(above, open_ * ranks, of.m.A0 * N * away / of.F) * lean
    rest = np.where(above, open_ * lean, 0.0)
    finite = np.where(
        above, 0.0, terms.bulk + (of.held - of.m.P) ** 2 / of.F**3 - 1.0 / np.maximum(away, 1.0)
    )
    level = level * np.clip(1.0 + np.where(np.isfinite(finite), finite, 0.0), 0.5, 2.0)
    # far below the peak little of the loss is what the data leave open, which is what scatters
    common = np.minimum(open_ * ranks * lean / np.maximum(level, 1e-300), 1.0)
    width = np.where(above, own, own * common)
    of_mean = rest + level / by_mean, np.hypot(width, np.where(above, 0.0, 0.5 / np.maximum(distance, 1.0)))
    one = (
        rest + level / np.where(above, by_mean, by_one) * np.exp(_eighths(distance)),
        np.hypot(width, 0.3 / (1 + distance)),
    )
    drawn = np.where(distance < 1.5, 1.0, np.where(below, 1.0 - law.apart(), 0.0))
    return _middle(
        np.concatenate([of_mean[0], one[0].ravel()]),
        np.concatenate([of_mean[1], np.tile(one[1], EIGHT)]),
        np.concatenate([(1.0 - drawn) * chance, np.tile(drawn * chance / EIGHT, EIGHT)]),
    )


def _eighths(x: FloatArray) -> FloatArray:
    """log(tr W^-1/median) of one draw at N - K = x: the middle of each eighth, a row of x."""
    inside = np.stack([np.interp(x, _X, column) for column in _EIGHTHS.T])
    return np.asarray(inside * np.minimum(_X[-1] / np.maximum(x, 1e-9), 1.0))


def _mean_gap(x: FloatArray) -> FloatArray:
    """x - 1, and m(x) where the mean over embeddings is infinite."""
    return np.where(x < 1.5, median_gap(np.maximum(x, 0.0)), x - 1.0)


def _middle(centres: FloatArray, widths: FloatArray, weights: FloatArray) -> float:
    """The median of a mixture of log-normal laws."""
    used = (weights > 1e-10) & np.isfinite(centres) & (centres > 0.0)
    if not used.any():
        return math.nan
    centre, weight = np.log(centres[used]), weights[used] / weights[used].sum()
    width = np.clip(widths[used], NARROWEST, WIDEST) * math.sqrt(2.0)
    low, high = float(centre.min()), float(centre.max())
    erf = np.vectorize(math.erf, otypes=[float])
    for _ in range(30):
        middle = 0.5 * (low + high)
        below = 0.5 + 0.5 * float(weight @ erf((middle - centre) / width))
        low, high = (low, middle) if below > 0.5 else (middle, high)
    return math.exp(0.5 * (low + high))
