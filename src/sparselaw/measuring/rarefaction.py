"""How many features D rows show, and how much variance lies in those they do not: exact, without a law.

With n rows, feature j active in n_j of them with the sum of squares e_j, and S_j(D) = C(n-n_j, D)/C(n, D) the
chance that D rows drawn without replacement all miss it,

    K(D) = sum_j [1 - S_j(D)]                   the mean number of features seen,
    U(D) = sum_j e_j S_j(D) / (n - D)           the mean square, in a row not drawn, of features not seen.

U is leave-one-out and unbiased, where (1 - n_j/n)^D in place of S_j is low near D ~ n; for binary features it
is K(D+1) - K(D). D may be any real number, so that both have slopes.

Intervals of what follows from counts are made by leaving out one contiguous block of rows at a time.
Rows near one another may belong together (sentences of one review), so that blocks are left out, not rows;
and a bootstrap that draws rows twice would destroy what matters most, the features seen once.

For blocks of m_b of n rows and h_b = n/m_b, the variance is (1/g) sum_b (t_b - t)^2/(h_b - 1) with the pseudo
values t_b = h_b theta - (h_b - 1) theta_without_b and t their weighted mean.

Beyond the rows there are, ln U is followed by a parabola in ln D, fitted from n/64 to n/2, and read off at
2 n and beyond. A straight line misses far more on real data, and the parabola misses at times too, so that
the same step is taken from the first eighth of the rows to what is known: its error is shown, and widens the
interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.interval import Interval, student_factor
from sparselaw.measuring.counting import Counted
from sparselaw.records import Record, to_dict

T = TypeVar("T")
BLOCKS_AGREE = "the blocks of rows do not differ"  # where an interval has no ends
ARRAY_COUNTS = 1 << 16  # counts below this are told apart by an array, above by sorting


@dataclass(frozen=True, slots=True)
class Histogram:
    """``features`` features are active in ``count`` rows of ``rows``; ``squares`` is the sum of their x^2.

    ``total`` is that of all features (the sum of x^2 over all rows, of variances where centred).
    """

    rows: int
    count: FloatArray
    features: FloatArray
    squares: FloatArray
    total: float


def histogram(
    rows: int, n: NDArray[np.int64], squares: FloatArray, sums: FloatArray | None = None
) -> Histogram:
    """The features of counts n_j and sums of squares e_j; those never active are left out.

    Where sums are given, the total is n times the sum of the variances.

    >>> found = histogram(10, np.array([2, 0, 2, 5]), np.array([2.0, 0.0, 3.0, 5.0]))
    >>> found.count.tolist(), found.features.tolist(), found.squares.tolist()
    ([2.0, 5.0], [2.0, 1.0], [5.0, 5.0])
    """
    few = n < ARRAY_COUNTS
    features = np.bincount(n[few], minlength=1)
    together = np.bincount(n[few], weights=squares[few], minlength=1)
    used = np.flatnonzero(features[1:]) + 1
    order = np.argsort(n[~few], kind="stable")
    by_count = np.concatenate([together[used], squares[~few][order]])
    total = float(by_count.sum())
    if sums is not None:
        total = float((squares - sums**2 / rows)[n > 0].sum()) * rows / (rows - 1.0)
    return Histogram(
        rows,
        np.concatenate([used, n[~few][order]]).astype(np.float64),
        np.concatenate([features[used], np.ones(order.size)]).astype(np.float64),
        by_count,
        total,
    )


@dataclass(frozen=True, slots=True)
class Blocks:
    """The counts of all rows, and ``without`` each block of them; ``rows`` are how many each block has."""

    data: Histogram
    without: Sequence[Histogram]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, counted: Counted) -> Blocks:
        """Those of a tally."""
        n, squares = counted.counts(), np.asarray(counted.squares.sum(axis=0, dtype=np.float64))
        sums = None if counted.sums is None else counted.sums.sum(axis=0)
        data, without = histogram(counted.rows, n, squares, sums), []
        for b, rows in enumerate(counted.block_rows().tolist()):
            left = n - counted.n[b]
            rest = np.where(left > 0, np.maximum(squares - counted.squares[b], 0.0), 0.0)
            others = None if counted.sums is None else sums - counted.sums[b]
            without.append(histogram(counted.rows - rows, left, rest, others))
        return cls(data, without, counted.block_rows())

    def each(self, statistic: Callable[[Histogram], T]) -> tuple[T, list[T]]:
        """Of all rows, and without each block."""
        return statistic(self.data), [statistic(part) for part in self.without]


DIRECT = 24  # counts up to which the chance is a product
STIRLING_ROWS = 64.0  # rows left, below which Stirling's series is not used


@dataclass(frozen=True, slots=True)
class Rarefied:
    """At D rows: features ``seen``, ``unseen`` share of the variance, and logarithmic slopes of both."""

    D: float
    seen: float
    unseen: float
    seen_slope: float  # mu = dlnK/dlnD
    unseen_slope: float  # dlnU/dlnD


def rarefied(data: Histogram, D: float) -> Rarefied:
    """K, U and their slopes at D < n."""
    n, k = float(data.rows), data.count
    log_missed = log_missing(n, k, D)
    missed = np.exp(log_missed)
    seen = float(data.features @ -np.expm1(log_missed))
    unseen = float(data.squares @ missed)
    slope = missing_slope(n, k, D)
    falling = np.where(missed > 0.0, missed * slope, 0.0)
    return Rarefied(
        D=D,
        seen=seen,
        unseen=unseen / (n - D) * n / data.total if data.total > 0.0 else 0.0,
        seen_slope=-D * float(data.features @ falling) / seen if seen > 0.0 else 0.0,
        unseen_slope=D * float(data.squares @ falling) / unseen + D / (n - D) if unseen > 0.0 else -np.inf,
    )


def log_missing(n: float, k: FloatArray, D: float) -> FloatArray:
    """log C(n-k, D)/C(n, D), to about 1e-8 and better; -inf where D rows cannot miss the feature.

    For few rows k it is the product of 1 - D/(n-i), i < k; else Stirling's series, in which the large terms
    cancel by hand: (n-k) a + (n-D) b - (n-k-D) d with a, b, d = log(1-k/n), log(1-D/n), log(1-(k+D)/n).
    """
    from scipy.special import gammaln

    result = np.full(k.shape, -np.inf)
    possible = k <= n - D
    few = possible & (k <= DIRECT)
    if few.any():
        steps = np.arange(DIRECT)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.log1p(-D / np.maximum(n - steps, 1.0))
        added = np.concatenate([[0.0], np.cumsum(np.where(n - steps > D, terms, -np.inf))])
        result[few] = added[k[few].astype(np.int64)]
    many = possible & ~few
    left = n - k[many] - D
    far = many.copy()
    far[many] = left > STIRLING_ROWS
    x = k[far]
    a, b, d = np.log1p(-x / n), np.log1p(-D / n), np.log1p(-(x + D) / n)
    rest = n - x - D
    main = (n - x) * a + (n - D) * b - rest * d + 0.5 * (a + b - d)
    result[far] = main + _series(n - x) + _series(n - D) - _series(rest) - _series(n)
    near = many & ~far
    y = k[near]
    result[near] = gammaln(n - y + 1.0) + gammaln(n - D + 1.0) - gammaln(n - y - D + 1.0) - gammaln(n + 1.0)
    return np.asarray(np.minimum(result, 0.0))


def missing_slope(n: float, k: FloatArray, D: float) -> FloatArray:
    """d/dD of it: psi(n-k-D+1) - psi(n-D+1)."""
    from scipy.special import digamma

    possible = k <= n - D
    left = np.where(possible, n - k - D + 1.0, 1.0)
    return np.asarray(np.where(possible, digamma(left) - digamma(n - D + 1.0), 0.0))


def _series(x: FloatArray | float) -> FloatArray:
    """log x! - [x log x - x + log(2 pi x)/2], for x above 60."""
    inverse = 1.0 / np.asarray(x, dtype=np.float64)
    y = inverse**2
    return np.asarray((1.0 / 12.0 - y * (1.0 / 360.0 - y / 1260.0)) * inverse)


def jackknife_error(
    best: float, without: Sequence[float] | FloatArray, block_rows: NDArray[np.int64]
) -> float:
    """The standard error of ``best``; NaN where an estimate is missing."""
    theta = np.asarray(without, dtype=np.float64)
    h = block_rows.sum() / block_rows
    with np.errstate(invalid="ignore", over="ignore"):
        pseudo = h * best - (h - 1.0) * theta
        middle = float((pseudo / h).sum())
        variance = float(np.mean((pseudo - middle) ** 2 / (h - 1.0)))
    return math.sqrt(variance) if math.isfinite(variance) else math.nan


def jackknife(
    best: float, without: Sequence[float], block_rows: NDArray[np.int64], *, log: bool = False
) -> Interval:
    """A 95 % interval about ``best``, by Student's factor; ``log``: in the logarithm of what is positive."""
    if log and not best > 0.0:
        return Interval(math.nan, best, math.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        own, others = (math.log(best), np.log(without)) if log else (best, np.asarray(without))
    several = len(without) > 1
    half = student_factor(len(without)) * jackknife_error(own, others, block_rows) if several else math.nan
    return _factor_about(best, half) if log else Interval(best - half, best, best + half)


def _factor_about(best: float, width: float) -> Interval:
    """From best exp(-width) to best exp(width), which may be larger than a number can hold."""
    with np.errstate(over="ignore"):
        return Interval(best * float(np.exp(-width)), best, best * float(np.exp(width)))


def alpha1_of(mu: Interval) -> Interval | None:
    """alpha1 = 1/mu - 1, falling in mu; None where every feature has been seen."""
    if not mu.best > 1e-3:
        return None
    high = 1.0 / mu.low - 1.0 if mu.low > 0.0 else math.inf if mu.low <= 0.0 else math.nan
    return Interval(1.0 / mu.high - 1.0, 1.0 / mu.best - 1.0, high)


POINTS = 11
SPAN = 32.0  # the fit reaches from D/32 to D
STEPS = (4.0, 8.0, 16.0)  # from n/2: to 2, 4 and 8 times the rows
TESTED_FROM = 16.0  # the back-test knows only n/16 rows, and looks at n/4 and n/2
SATURATED = 0.02  # slope of K below which hardly a feature is new
FEWEST_ROWS = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Beyond(Record):
    """The unseen share at ``D`` rows, more than there are; ``reason`` where none is given."""

    D: float
    unseen: Interval | None
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        return to_dict(self, "D", "unseen", unseen=self.reason or BLOCKS_AGREE)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTest(Record):
    """What the same step, taken from ``known`` rows to ``D``, would have missed by: predicted/known - 1."""

    known: float
    D: float
    error: float
    straight_line_error: float


def step_tests(data: Histogram) -> list[StepTest]:
    """The step from n/16 rows to n/4 and to n/2; none where no such step is taken."""
    if _refusal(data):
        return []
    known = data.rows / TESTED_FROM
    found = []
    for D in (4.0 * known, 8.0 * known):
        truth = rarefied(data, D).unseen
        if truth <= 0.0:
            continue
        curved, straight = (_polynomial(data, known, degree)(D) for degree in (2, 1))
        errors = {"error": curved / truth - 1.0, "straight_line_error": straight / truth - 1.0}
        found.append(StepTest(known=known, D=D, **errors))
    return found


def beyond(blocks: Blocks, tests: Sequence[StepTest]) -> list[Beyond]:
    """The unseen share at 2, 4 and 8 times the rows."""
    data = blocks.data
    half = data.rows / 2.0
    asked = [half * step for step in STEPS]
    refusal = _refusal(data)
    if refusal:
        return [Beyond(D=D, unseen=None, reason=refusal) for D in asked]
    missed = max((abs(math.log1p(max(test.error, -0.999))) for test in tests), default=0.0)
    last = rarefied(data, half).unseen
    path, others = blocks.each(lambda part: _polynomial(part, min(half, part.rows / 2.0), 2))
    found = []
    for D in asked:
        best = path(D)
        by_blocks = jackknife(best, [other(D) for other in others], blocks.rows, log=True)
        if not (math.isfinite(by_blocks.low) and 0.0 < best < last):
            found.append(Beyond(D=D, unseen=None, reason="the parabola turns upwards before it gets there"))
            continue
        steps = math.log(D / half) / math.log(8.0)
        width = math.hypot(math.log(by_blocks.high / best), 2.0 * missed * steps)
        found.append(Beyond(D=D, unseen=_factor_about(best, width)))
    return found


def _refusal(data: Histogram) -> str:
    if data.rows < FEWEST_ROWS:
        return f"too few rows to look beyond (fewer than {FEWEST_ROWS})"
    at = rarefied(data, data.rows / 2.0)
    if at.unseen <= 0.0:
        return "every feature has been seen: nothing is left to extrapolate"
    if at.seen_slope < SATURATED:
        return "hardly a feature is new (K saturates): the law of what is left cannot be seen"
    return ""


def _polynomial(data: Histogram, last: float, degree: int) -> Callable[[float], float]:
    """The polynomial of ln U in ln D through U between last/32 and last."""
    grid = np.geomspace(max(last / SPAN, 1.0), last, POINTS)
    unseen = np.array([rarefied(data, float(d)).unseen for d in grid])
    if (unseen <= 0.0).any():
        return lambda _: math.nan
    fit = np.polynomial.polynomial.polyfit(np.log(grid / last), np.log(unseen), degree)
    return lambda D: float(np.exp(np.polynomial.polynomial.polyval(math.log(D / last), fit)))
