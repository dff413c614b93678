"""Medians through the double-descent peak: where the mean is infinite, half of all runs still lose less.

It is the median over data sets and embeddings of what ``simulate`` records, one number a run. A run is one
data set of rank r and one embedding, with two exceptions that ``simulate`` makes. For N > r + 1 the mean
over embeddings has a closed form, and is recorded. For r/2 < N < r - 1, where coordinates depend on each
other only by sharing their one sample, it averages what the variance never seen adds.

One embedding has a loss that scatters by the law of tr W^-1, W a Wishart matrix of size K = min(N, r) with
K + |N - r| degrees of freedom: of median K/m(|N - r|, K) (tables). Far below the rank the eigenvalues are
not equal, and N^2/df2 of them stand for r. Data sets scatter by their rank, as for the mean (``peak``), and
by the variance they leave unresolved; the median of the mixture is found from its distribution function.
"""

from __future__ import annotations

import math

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.gram.law import GramLaw
from sparselaw.surface.losses import rank_law
from sparselaw.surface.state import state_at

# 1/median(tr W^-1/K) for W = G G^T, G of K x (K + x) normal entries, at K = 800: drawn once, 40,000 each,
# through the bidiagonal form of W; standard errors 0.3 to 1 %. K = 200 gives the same within them.
_X = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 40.0])
_M = np.array([0.251, 0.92, 1.731, 2.61, 3.52, 5.385, 7.328, 11.226, 15.185, 23.12, 39.06])
# The same for K = 1: the medians of chi-squared with 1 + x degrees of freedom. K between: linear in 1/K.
_CHI = np.array([0.455, 1.386, 2.366, 3.357, 4.351, 6.346, 8.343, 12.34, 16.338, 24.337, 40.335])
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
FEWEST = 0.5  # features that any place has
NO_MEAN = 1.5  # |N - rank| below which the mean over embeddings is infinite
PLACES = 20.0  # of the rank a standard deviation: every rank below 40
WIDEST, NARROWEST = 2.0, 0.02  # of the laws that are mixed, in log


def median_gap(x: FloatArray, size: FloatArray | float = np.inf) -> FloatArray:
    """m(x, K): x - 1 + 2.6/x far from the peak, and ``size`` K by 1/K towards the matrix of one entry."""
    x = np.asarray(x, dtype=float)
    many = np.where(x > _X[-1], x - 1.0 + 2.6 / np.maximum(x, 1.0), np.interp(x, _X, _M))
    one = np.where(x > _X[-1], x + 0.335, np.interp(x, _X, _CHI))
    return np.asarray(many + (one - many) / size)


@np.errstate(all="ignore")
def median(law: GramLaw, N: float) -> float:
    """The median over data sets and embeddings, without ridge and label noise, for N near the rank.

    nan where the law gives no variance to resolve.
    """
    ranks, chance, _ = rank_law(law, N, PLACES)
    sd = max(law.rank_sd, 1e-9)
    end = law.scatter(np.array([-np.inf]))
    open_ = float(law.at(np.array([-np.inf])).A0[0])  # left unresolved at kappa -> 0
    tilt = -float(end.SM[0]) / (open_ * sd**2) if sd > 0.3 else 0.0
    own = math.sqrt(math.log1p(max(float(end.MM[0]) / open_**2 - (tilt * sd) ** 2, 0.0)))
    places, logs, variance, own_below, narrower = _below(law, N, sd, open_)
    lean = np.exp(np.clip(tilt * (ranks - law.rank), -3.0, 3.0))  # data that show more leave less
    above = ranks < N + 0.5
    # Far below the peak data of a higher rank resolve at N only part of what they have more.
    far = min(max(((law.rank - N) / sd - 1.0) / 2.0, 0.0), 1.0)
    shift = (1.0 - far * max(1.0 - variance / sd**2, 0.0)) * (ranks - law.rank)
    gap = np.maximum(law.rank + shift - N, 1.0)
    n = N - shift
    slope = (logs[-1] - logs[0]) / (places[-1] - places[0]) if places[-1] > places[0] else 0.0
    level = np.exp(np.interp(n, places, logs) + slope * np.maximum(n - places[-1], 0.0))
    unresolved = np.minimum(open_ * ranks / level, 1.0)  # share of the level that comes of unseen variance
    left = open_ * lean * math.exp(-0.5 * own**2)
    under = level * lean * math.exp(-0.5 * own_below**2)
    of_data = np.where(above, own, np.hypot(math.sqrt(max(variance - sd**2, 0.0)) / gap, own_below))
    distance, size = np.where(above, N - ranks, gap), np.minimum(N, ranks)
    level, rest = np.where(above, left * ranks, under), np.where(above, left, 0.0)
    by_mean = np.where(distance < NO_MEAN, median_gap(distance, size), distance - 1.0)
    alike = np.where(above, distance, distance * narrower)
    by_one = np.where(above, by_mean, median_gap(alike, size) * distance / alike)
    averaged = np.where(above, 1.0, law.apart() * unresolved * (ranks < 2.0 * N))
    drawn = 1.0 - averaged * np.clip((distance - NO_MEAN) / 0.5, 0.0, 1.0)
    one = rest + level / by_one * np.exp(_eighths(alike, size))
    return _middle(
        np.concatenate([rest + level / by_mean, one.ravel()]),
        np.concatenate(
            [
                np.hypot(of_data, np.where(above, 0.0, 0.5 / distance.clip(1.0))),
                np.tile(np.hypot(of_data, 0.3 / (1.0 + distance)), EIGHT),
            ]
        ),
        np.concatenate([(1.0 - drawn) * chance, np.tile(drawn * chance / EIGHT, EIGHT)]),
    )


def median_error(law: GramLaw) -> float:
    """Relative, about: few coordinates, and much sharing, are what the law of the median leaves out."""
    return 0.05 + 2.5 / float(law.rank) + min(float(np.sqrt(law.error(np.array([-np.inf]))[0])), 0.3)


def _below(
    law: GramLaw, N: float, sd: float, open_: float
) -> tuple[list[float], list[float], float, float, float]:
    """log of loss * (rank - N) below the rank, which is smooth, at a few places; Var S over data sets, the
    deviation of the log of the loss at one S, and x/(rank - N), x that of equal eigenvalues with the same df1
    and df2.

    Mean data no nearer to the peak than where the deterministic equivalent holds. N features of K equal
    eigenvalues have df2 = N^2/K: K = N^2/df2 of them scatter as these do.
    """
    nearest = law.rank - max(1.2 * sd, 0.015 * law.rank, 0.75)
    if nearest < FEWEST:
        return [law.rank - 1.0], [math.log(open_ * law.rank)], 0.0, 0.0, 1.0
    step = max(sd, 0.02 * law.rank)
    wanted = (min(N, nearest - 1.5 * step), min(N, nearest), min(N + step, nearest))
    of = state_at(law, np.maximum(np.array(wanted), FEWEST), 0.0)
    logs = np.log(of.leading * (law.rank - of.N))
    cov, unexplained = law.scattered(of.x[[1]])
    variance, own = float(cov.SS[0]), float(unexplained[0])
    alike = float(of.N[1] * of.F[1] / (of.N[1] - of.F[1]))
    narrower = min(alike / (law.rank - float(of.N[1])), 1.0)
    return of.N.tolist(), logs.tolist(), variance, math.sqrt(math.log1p(own)), narrower


def _eighths(x: FloatArray, size: FloatArray) -> FloatArray:
    """log(tr W^-1/median) of one draw at N - K = x: the middle of each eighth, a row of x."""
    inside = np.stack([np.interp(x, _X, column) for column in _EIGHTHS.T])
    far = np.minimum(_X[-1] / np.maximum(x, 1e-9), 1.0)
    return np.asarray(inside * far * np.sqrt(1.0 + np.maximum(x - 0.5, 0.0) / size))


def _middle(centres: FloatArray, widths: FloatArray, weights: FloatArray) -> float:
    """The median of a mixture of log-normal laws."""
    used = (weights > 1e-10) & np.isfinite(centres) & (centres > 0.0)
    if not used.any():
        return math.nan
    centre, weight = np.log(centres[used]), weights[used] / weights[used].sum()
    width = np.clip(widths[used], NARROWEST, WIDEST)
    low, high = float(centre.min()), float(centre.max())
    for _ in range(30):
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
