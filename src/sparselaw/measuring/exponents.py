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

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.interval import Interval
from sparselaw.measuring.counting import Counted
from sparselaw.measuring.measurement import WindowExponent
from sparselaw.measuring.rarefaction import Blocks, Histogram, alpha1_of, jackknife, jackknife_error

FIRST_WINDOW = (1, 7)
RATIO = 8
LARGEST_SHARE = 1.0 / 16.0  # of the rows: more frequent features are too few for a law
FEWEST = 20  # features in a window
LOWEST, HIGHEST = 0.004, 0.999  # of mu
AGREE = 0.01  # of mu: windows that differ by less agree, however sure each is
DISAGREEMENT = 1e-3  # chance of so large a difference between windows of one law


def sparsity_exponent(blocks: Blocks) -> tuple[list[WindowExponent], Interval | None, str]:
    """The exponent of each window, and one for all where they agree, or why there is none."""
    from scipy.special import chdtrc

    fitted = [_window(blocks, *window) for window in windows(blocks.data)]
    if not fitted:
        return [], None, "too few features are active in few rows to fit a law"
    low, high = fitted[0].low, fitted[-1].high
    mu = exponent(blocks.data, low, high)
    if math.isnan(mu):
        return fitted, None, "no single alpha1: the counts follow no power law with alpha1 > 0"
    others = [exponent(data, low, high) for data in blocks.without]
    if math.isnan(jackknife_error(mu, others, blocks.rows)):
        return fitted, None, "no single alpha1: without a part of the rows there is none"
    known = [w for w in fitted if not (math.isnan(w.mu) or math.isnan(w.error))]
    distance = sum((w.mu - mu) ** 2 / (w.error**2 + AGREE**2) for w in known)
    chance = float(chdtrc(len(known) - 1, distance)) if len(known) > 1 else 1.0
    if len(known) < len(fitted) or chance < DISAGREEMENT:
        local = ", ".join("none" if w.alpha1 is None else f"{w.alpha1.best:.2g}" for w in fitted)
        return fitted, None, f"no single alpha1: windows from rare to frequent features give {local}"
    return fitted, alpha1_of(jackknife(mu, others, blocks.rows)), ""


def _window(blocks: Blocks, low: int, high: int) -> WindowExponent:
    mu, others = blocks.each(lambda data: exponent(data, low, high))
    error = jackknife_error(mu, others, blocks.rows)
    missing = math.isnan(mu) or math.isnan(error)
    return WindowExponent(
        low=low,
        high=high,
        features=int(inside(blocks.data, low, high)),
        mu=mu,
        error=error,
        alpha1=None if missing else alpha1_of(jackknife(mu, others, blocks.rows)),
    )


def windows(data: Histogram) -> list[tuple[int, int]]:
    """Counts from low to high, both included: a factor of eight wide, as long as features are enough."""
    found: list[tuple[int, int]] = []
    low, high = FIRST_WINDOW
    largest = int(LARGEST_SHARE * data.rows)
    while low <= largest:
        last = min(high, largest)
        if inside(data, low, last) >= FEWEST and last >= 2 * low:
            found.append((low, last))
        low, high = RATIO * low, RATIO * (high + 1) - 1
    return found


def inside(data: Histogram, low: int, high: int) -> float:
    """How many features have a count in the window."""
    return float(data.features[(data.count >= low) & (data.count <= high)].sum())


def exponent(data: Histogram, low: int, high: int) -> float:
    """mu of the largest likelihood; NaN where it lies at the edge of what makes sense, or nothing is there.

    >>> import numpy as np
    >>> k = np.arange(1.0, 200.0)
    >>> from scipy.special import gammaln
    >>> law = np.exp(gammaln(k - 0.5) - gammaln(k + 1))
    >>> round(exponent(Histogram(10**6, k, law, law, 1.0), 1, 199), 6)
    0.5
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import gammaln

    used = (data.count >= low) & (data.count <= high)
    k, f = data.count[used], data.features[used]
    if k.size < 2:
        return math.nan
    total = float(f.sum())

    def badness(mu: float) -> float:
        first = float(gammaln(low - mu) - gammaln(low)) - math.log(mu)
        last = float(gammaln(high + 1 - mu) - gammaln(high + 1)) - math.log(mu)
        log_sum = first + math.log(-math.expm1(last - first))
        return float(total * log_sum - f @ gammaln(k - mu))

    found = minimize_scalar(badness, bounds=(LOWEST, HIGHEST), method="bounded", options={"xatol": 1e-10})
    mu = float(found.x)
    return mu if LOWEST * 1.01 < mu < 1.0 - 1.01 * (1.0 - HIGHEST) else math.nan


FEWEST_ROWS = 5  # active rows in the one half
Half = tuple[int, NDArray[np.int64], FloatArray]  # rows, counts and sums of squares


def amplitude_exponent(counted: Counted) -> Interval | None:
    """eta from even and odd blocks of rows, with its interval by leaving out each block."""
    rows = counted.block_rows()
    if len(rows) < 4:
        return None
    n, squares = counted.n, counted.squares
    whole = [
        (
            int(rows[half].sum()),
            n[half].sum(axis=0, dtype=np.int64),
            squares[half].sum(axis=0, dtype=np.float64),
        )
        for half in (slice(0, None, 2), slice(1, None, 2))
    ]
    best, others = _slope_of_both(*whole), []
    for b in range(len(rows)):
        (own_rows, own_n, own_squares), other = whole[b % 2], whole[1 - b % 2]
        left = own_n - n[b]
        rest = np.where(left > 0, np.maximum(own_squares - squares[b], 0.0), 0.0)
        others.append(_slope_of_both((own_rows - int(rows[b]), left, rest), other))
    return None if math.isnan(best) else jackknife(best, others, rows)


def _slope_of_both(one: Half, other: Half) -> float:
    return 0.5 * (_slope(one[1], *other) + _slope(other[1], *one))


def _slope(chosen: NDArray[np.int64], rows: int, n: NDArray[np.int64], squares: FloatArray) -> float:
    """The slope of log mean square on log frequency in bins of ``chosen``, weighted by their features.

    Bins are of doubling count; NaN with fewer than two of them. c is a mean over active entries, in which
    frequent features count more, and so is p: E[p^2]/E[p], without bias from sum n (n-1) / sum n. With a
    plain mean of p the wide bins of small counts would tilt the slope.
    """
    used = np.flatnonzero(chosen >= FEWEST_ROWS)
    which = np.frexp(chosen[used] / FEWEST_ROWS)[1] - 1  # the whole part of log2
    often = n[used].astype(np.float64)
    active, pairs, total = (np.bincount(which, w) for w in (often, often * (often - 1.0), squares[used]))
    full = (pairs > 0) & (total > 0.0)
    if full.sum() < 2:
        return math.nan
    features = np.bincount(which)[full].astype(np.float64)
    x, y = np.log(pairs[full] / active[full] / max(rows - 1, 1)), np.log(total[full] / active[full])
    x = x - np.average(x, weights=features)
    scatter = float(features @ x**2)
    return float(features @ (x * y)) / scatter if scatter > 0.0 else math.nan
