"""The loss surface of independent activations beyond leading order.

Below the rank the leading surface is corrected for co-activation (``cavity``), for terms of order 1/N
(``finite_width``) and for the scatter of the data (``count_spread``). Above the rank r the loss is

    t0 (1 + r/x) (1 + V/x^2 + Cov(t0, r)/(t0 x)),    x = N - r - 1,

t0 the variance that the data leave open, V = Var r. At the peak the mean is infinite and the median is given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.theory.count_setting import CountSetting
from sparselaw.theory.count_spread import scatter_share
from sparselaw.theory.count_surface import count_loss
from sparselaw.theory.finite_width import finite_width
from sparselaw.theory.peak_median import median_gap, median_over

INFINITE = 0.01  # share of data sets with |N - rank| <= 1 from which on the mean is called infinite
PEAK_SPREADS = 2.5  # and the distance from the rank, in its spreads, within which it always is
MEDIAN_SPREADS = 6.0  # as far as a median is given
BASE_ERROR = 0.007  # what is left where every correction is small
INFINITE_MEAN = (
    "at the double-descent peak: of the data sets so drawn {share} have |N - rank| <= 1, "
    "where the mean over embeddings is infinite; see the median"
)


@dataclass(frozen=True, slots=True)
class Sharp:
    """A value of the surface, what adds up to it, and its own estimate of its relative error."""

    loss: float
    terms: Mapping[str, float]
    error: float
    median: float | None = None
    reason: str = ""


def sharp_count_loss(setting: CountSetting, N: float, *, median: bool = True) -> Sharp:
    """The loss of N features without ridge and label noise; the median only where it is wanted."""
    with np.errstate(all="ignore"):  # extreme exponents: what is not a number in the end is not returned
        value = _sharp(setting, N, median)
    if value.reason or (value.loss >= 0.0 and math.isfinite(value.loss)):
        return value
    leading = count_loss(setting.sums, N, setting.seen, 0.0, 0.0)
    return Sharp(leading.loss, {"leading": leading.loss}, 1.0, None, leading.reason)


def _sharp(setting: CountSetting, N: float, median: bool) -> Sharp:
    rank, spread = setting.rank.mean, setting.rank.spread
    if N >= rank - 1e-9 and setting.left_open <= 0.0:  # every coordinate is seen
        return Sharp(0.0, {"leading": 0.0}, 0.0)
    middle = None
    if median and abs(N - rank) <= MEDIAN_SPREADS * spread + 4.0:
        middle = peak_median(setting, N)
    if is_peak(N, rank, spread):
        chance = _chance_of_peak(N, rank, spread)
        reason = INFINITE_MEAN.format(share=f"{chance:.2g}" if chance > 1e-4 else "some")
        leading = count_loss(setting.sums, N, setting.seen, 0.0, 0.0).loss
        return Sharp(math.inf, {"leading": leading, "peak": math.inf}, math.inf, middle, reason)
    terms, error = _above(setting, N) if N > rank else _below(setting, N)
    return Sharp(sum(terms.values()), terms, error, middle)


def _above(setting: CountSetting, N: float) -> tuple[dict[str, float], float]:
    leading = count_loss(setting.sums, N, setting.seen, 0.0, 0.0).loss
    rank, x = setting.rank.mean, N - setting.rank.mean - 1.0
    factor = 1.0 + rank / x
    variance, tilt = (setting.rank.spread / x) ** 2, setting.tilt / x
    rough = setting.left_open / setting.unseen - 1.0 if setting.unseen > 0.0 else 0.0
    terms = {
        "leading": leading,
        "rank": setting.unseen * factor - leading,
        "co-activation": (setting.left_open - setting.unseen) * factor,
        "scatter of the data": setting.left_open * factor * (variance + tilt),
    }
    if not math.isfinite(leading):
        terms["leading"], terms["rank"] = setting.unseen * factor, 0.0
    error = BASE_ERROR + 0.05 * rough + 6.0 * variance**2 + 2.0 * variance * abs(tilt) + 0.3 * variance
    return terms, error


def _below(setting: CountSetting, N: float) -> tuple[dict[str, float], float]:
    base = below_rank(setting, N)
    cavity = setting.cavity
    width = finite_width(cavity.weight, cavity.s, base.resolved, N)
    width_share = width.correction / width.leading
    scatter = scatter_share(
        cavity.coordinate, cavity.coordinate_weight, cavity.probability, cavity.s, base.resolved
    )
    terms = {
        "leading": base.leading,
        "co-activation": base.loss - base.leading,
        "finite N": base.loss * width_share,
        "scatter of the data": base.loss * scatter,
    }
    shared = abs(math.log(base.loss / base.leading))
    near = (setting.rank.spread / (setting.rank.mean - N)) ** 2
    short = (1.0 - setting.closes / setting.rank.mean) * (N / setting.rank.mean) ** 6
    error = BASE_ERROR + 0.07 * shared + width_share**2 + 2.0 * scatter**2 + 2.0 * near + 6.0 * short
    if not setting.crowded:
        error += 3.0 * setting.share
    return terms, error if base.found else 1.0


@dataclass(frozen=True, slots=True)
class Below:
    """The surface below the rank before the terms of finite size; ``resolved`` is f at its points."""

    leading: float
    loss: float
    resolved: FloatArray
    found: bool = True


def below_rank(setting: CountSetting, N: float) -> Below:
    """Leading surface, and closure where rare coordinates share samples."""
    cavity = setting.cavity
    value = count_loss(setting.sums, N, setting.seen, 0.0, 0.0)
    seen = cavity.c * cavity.n
    plain = np.asarray(seen / (seen + math.exp(value.log_cutoff)))
    if not setting.crowded:
        return Below(value.loss, value.loss, plain)
    short = 1.0 - setting.closes / setting.rank.mean
    state = cavity.solve(N * (1.0 - short * (N / setting.rank.mean) ** 3), value.log_cutoff)
    if state is None:
        return Below(value.loss, value.loss, plain, found=False)
    slope_S, slope_t = cavity.slopes(state)
    slope_S *= 1.0 + 3.0 * short * (N / setting.rank.mean) ** 3
    closure = N * (slope_t - state.t) / slope_S
    lost = float((cavity.weight * cavity.s) @ (1.0 - plain) ** 2)
    same = lost * N / float(cavity.weight @ (plain * (1.0 - plain)))
    return Below(value.loss, value.loss * closure / same, 1.0 - state.r[0])


def peak_median(setting: CountSetting, N: float) -> float:
    """The median over data and embeddings near the rank.

    Above it the loss is t0 (1 + r/m), m = m(N - r); below it the surface times (r - N)/m(r - N). Data that
    show more have a higher rank and leave less open, in proportion to ``tilt``.
    """
    rank, spread = setting.rank.mean, max(setting.rank.spread, 1e-9)
    places, scaled = _scaled_below(setting, N, spread)
    slope = setting.tilt / spread**2 if spread > 0.3 else 0.0
    skewed = 0.5 * math.log1p(setting.open_variance)  # mean over median of a log-normal law

    def conditional(shifted: FloatArray) -> FloatArray:
        gap = shifted - rank
        less = np.clip(-slope * (shifted - N), -3.0, 3.0) - skewed
        above = setting.left_open * (1.0 + rank / median_gap(np.maximum(gap, 0.0)))
        level = np.exp(_line(shifted, places, scaled))
        share = np.where(gap > 0.0, 1.0, np.minimum(setting.left_open * rank / level, 1.0))
        below = level / median_gap(np.maximum(-gap, 0.0))
        return np.asarray(np.where(gap > 0.0, above, below) * np.exp(share * less))

    return median_over(conditional, N, spread)


def _scaled_below(setting: CountSetting, N: float, spread: float) -> tuple[list[float], list[float]]:
    """log of loss * (rank - N) below the rank, which is smooth, at a few places about N."""
    rank = setting.rank.mean
    end = rank if setting.crowded else setting.seen
    wanted = [N + u * max(spread, 0.02 * rank) for u in (-1.5, 0.0, 1.5)]
    nearest = rank - max(1.2 * spread, 0.03 * rank, 0.75)
    if setting.crowded:
        nearest = min(nearest, 0.93 * setting.closes)
    places = sorted({min(place, nearest) for place in wanted if min(place, nearest) >= 0.5})
    kept, scaled = [], []
    for place in places:
        base = below_rank(setting, place)
        if base.found and base.loss > 0.0 and end > place:
            kept.append(place)
            scaled.append(math.log(base.loss * (end - place)))
    return (kept, scaled) if kept else ([rank - 1.0], [math.log(setting.left_open * rank)])


def _line(x: FloatArray, places: list[float], values: list[float]) -> FloatArray:
    """Between the places linear, beyond the last two as well, and no further than the rank."""
    inside = np.interp(x, places, values)
    if len(places) < 2:
        return inside
    step = (values[-1] - values[-2]) / (places[-1] - places[-2])
    return np.asarray(np.where(x > places[-1], values[-1] + step * (x - places[-1]), inside))


def is_peak(N: float, rank: float, spread: float) -> bool:
    """Whether the mean over data and embeddings is to be called infinite."""
    return _chance_of_peak(N, rank, spread) > INFINITE or abs(N - rank) < PEAK_SPREADS * spread


def _chance_of_peak(N: float, rank: float, spread: float) -> float:
    """P(|N - rank| <= 1) for a rank of that mean and spread."""
    scale = math.sqrt(2.0) * max(spread, 0.3)
    high, low = (math.erf((N + edge - rank) / scale) for edge in (1.5, -1.5))
    return 0.5 * (high - low)
