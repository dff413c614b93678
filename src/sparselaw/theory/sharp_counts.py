"""The loss surface of independent activations beyond leading order.

Below the rank the leading surface is corrected for co-activation (``cavity``), for terms of order 1/N
(``finite_width``) and for the scatter of the data (``count_spread``). Above the rank r the loss is

    t0 (1 + r/x) (1 + V/x^2 + Cov(t0, r)/(t0 x)),    x = N - r - 1,

t0 the variance that the data leave open, V = Var r. At the peak the mean is infinite and the median is given.
With a ridge there is a cut-off at every N, and what holds below the rank holds everywhere. Label noise adds a
term of its own, with the same corrections.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.sums.unseen import seen
from sparselaw.theory.below_rank import ALMOST_APART, below_rank, seen_traces
from sparselaw.theory.count_setting import CountSetting
from sparselaw.theory.count_surface import NOISE_DIVERGES
from sparselaw.theory.peak_median import PeakLaw, peak_median

INFINITE = 0.01  # share of data sets with |N - rank| <= 1 from which on the mean is called infinite
PEAK_SPREADS = 2.5  # and the distance from the rank, in its spreads, within which it always is
MEDIAN_SPREADS = 5.0  # as far as a median is given
RTOL = 1e-10  # of the paper's pseudo-inverse: it lowers the peak where rare coordinates are this faint
BASE_ERROR = 0.01  # what is left where every correction is small
UNFELT = 0.01  # relative change of the leading surface up to which a ridge is not felt
INFINITE_MEAN = (
    "at the double-descent peak: of the data sets so drawn {share} have |N - rank| <= 1, "
    "where the mean over embeddings is infinite, see the median"
)


@dataclass(frozen=True, slots=True)
class Sharp:
    """A value of the surface, what adds up to it, and its own estimate of its relative error."""

    loss: float
    terms: Mapping[str, float]
    error: float
    median: float | None = None
    reason: str = ""
    median_error: float = math.nan  # relative, about


def sharp_count_loss(
    setting: CountSetting, N: float, ridge: float = 0.0, noise: float = 0.0, *, median: bool = True
) -> Sharp:
    """The loss of N features; the median only where it is wanted, and without ridge and label noise."""
    with np.errstate(all="ignore"):  # extreme exponents: what is not a number in the end is not returned
        try:
            value = _sharp(setting, N, ridge, median and noise == 0.0)
            if noise > 0.0 and not value.reason:
                value = with_noise(value, noise, *sharp_noise(setting, N, ridge))
        except ZeroDivisionError:  # nothing is left to be learnt
            value = Sharp(math.nan, {}, math.nan)
    if value.reason or (value.loss >= 0.0 and math.isfinite(value.loss)):
        return value
    leading = setting.leading(N, ridge)
    loss = leading.loss + (noise * setting.leading.noise(N, ridge) if noise > 0.0 else 0.0)
    return Sharp(loss, {"leading": loss}, 1.0, None, leading.reason)


def _sharp(setting: CountSetting, N: float, ridge: float, median: bool) -> Sharp:
    rank, spread = setting.rank.mean, setting.rank.spread
    if ridge > 0.0:
        return _with_ridge(setting, N, ridge)
    if N >= rank - 1e-9 and setting.unseen <= 0.0:  # every coordinate is seen
        return Sharp(0.0, {"leading": 0.0}, 0.0)
    middle = None
    if median and abs(N - rank) <= MEDIAN_SPREADS * spread + 4.0:
        middle = median_loss(setting, N)
    if is_peak(N, rank, spread):
        chance = _chance_of_peak(N, rank, spread)
        reason = INFINITE_MEAN.format(share=f"{chance:.2g}" if chance > 1e-4 else "some")
        leading = setting.leading(N).loss
        terms = {"leading": leading, "peak": math.inf}
        return Sharp(math.inf, terms, math.inf, middle, reason, median_error(setting))
    terms, error = _above(setting, N) if N > rank else _below(setting, N)
    return Sharp(sum(terms.values()), terms, error, middle, median_error=median_error(setting))


def _with_ridge(setting: CountSetting, N: float, ridge: float) -> Sharp:
    if _negligible(setting, N, ridge):
        terms, error = _above(setting, N)
    else:
        terms, error = _below(setting, N, ridge)
    return Sharp(sum(terms.values()), terms, error)


def _negligible(setting: CountSetting, N: float, ridge: float) -> bool:
    """Whether the ridge is too small to be felt above the rank, its cut-off below all that is computed."""
    if not N > setting.rank.mean or is_peak(N, setting.rank.mean, setting.rank.spread):
        return False
    if setting.unseen <= 0.0 or below_rank(setting, N, ridge).found:
        return False
    without = setting.leading(N).loss
    return abs(setting.leading(N, ridge).loss - without) <= UNFELT * without


def sharp_noise(setting: CountSetting, N: float, ridge: float) -> tuple[float, float]:
    """What label noise of variance one adds, and its relative error."""
    if (ridge > 0.0 and not _negligible(setting, N, ridge)) or N <= setting.rank.mean:
        base = below_rank(setting, N, ridge)
        part = base.noise * (1.0 + base.noise_width) * (1.0 + base.noise_scatter)
        error = BASE_ERROR + base.noise_width**2 + 2.0 * base.noise_scatter**2 + 5.0 * base.near
        return part, error + (0.0 if setting.crowded else 3.0 * setting.share) if base.found else 1.0
    x = N - setting.rank.mean - 1.0
    of_seen, of_open = seen_traces(setting)
    if not math.isfinite(of_open):
        return math.inf, math.inf
    variance = (setting.rank.spread / x) ** 2
    part = of_seen + setting.left_open * of_open / x * (1.0 + variance)
    return part, 0.05 + 2.0 * variance + min(setting.share, 1.0)


def with_noise(
    value: Sharp, noise: float, unit: float, error: float, diverges: str = NOISE_DIVERGES
) -> Sharp:
    """Label noise of that variance, of which one adds ``unit``, with its relative error."""
    part = noise * unit
    if math.isinf(part):
        return Sharp(math.inf, {**value.terms, "label noise": math.inf}, math.inf, None, diverges)
    loss = value.loss + part
    relative = (value.error * value.loss + error * part) / loss if loss > 0.0 else 0.0
    return Sharp(loss, {**value.terms, "label noise": part}, relative, None, value.reason)


def _above(setting: CountSetting, N: float) -> tuple[dict[str, float], float]:
    leading = setting.leading(N).loss
    rank, x = setting.rank.mean, N - setting.rank.mean - 1.0
    factor = 1.0 + rank / x
    variance, tilt = (setting.rank.spread / x) ** 2, setting.tilt / x
    rough = setting.left_open / setting.unseen - 1.0 if setting.unseen > 0.0 else 0.0
    terms = {
        "leading": leading,
        "rank": setting.unseen * factor - leading,
        "co-activation": (setting.left_open - setting.unseen) * factor,
        "scatter of the data": setting.left_open * factor * (variance + 3.0 * variance**2 + tilt),
    }
    if not math.isfinite(leading):
        terms["leading"], terms["rank"] = setting.unseen * factor, 0.0
    error = BASE_ERROR + 0.15 * rough + 15.0 * variance**2 + 2.0 * variance * abs(tilt) + 0.3 * variance
    return terms, error


def _below(setting: CountSetting, N: float, ridge: float = 0.0) -> tuple[dict[str, float], float]:
    base = below_rank(setting, N, ridge)
    share, near = base.width_share, base.near
    towards = min(N / setting.rank.mean, 1.0) ** 4
    factor = 1.0 + share + towards * max(share, 0.0) ** 2 / max(1.0 - share, 0.5)
    scatter = base.scatter + 3.0 * near**2
    terms = {
        "leading": base.leading,
        "co-activation": base.loss - base.leading,
        "finite N": base.loss * (factor - 1.0),
        "scatter of the data": base.loss * factor * scatter,
    }
    shared = abs(math.log(base.loss / base.leading))
    error = BASE_ERROR + 0.01 * shared + share**2 + 2.0 * scatter**2 + 15.0 * near**2
    if not setting.crowded:
        error += 3.0 * setting.share
    return terms, error if base.found else 1.0


def median_error(setting: CountSetting) -> float:
    """Few coordinates, much sharing, and amplitudes that a pseudo-inverse cuts: what the law leaves out."""
    error = 0.05 + 2.5 / setting.rank.mean + min(setting.share, 0.3)
    return error + 0.25 if _faint(setting) else error


def _faint(setting: CountSetting) -> bool:
    """Whether 3 % of the rank lies below the tolerance of singular values, relative to the largest."""
    points, rank = setting.points, setting.rank.mean
    order = np.argsort(points.c)
    known = np.cumsum((points.weight * seen(points.p, points.D))[order])
    place = min(int(np.searchsorted(known, 0.03 * rank)), known.size - 1)
    smallest = 2.0 * math.log(RTOL * rank) + math.log(points.D)
    return bool(np.log(points.c[order][place]) < smallest)


def median_loss(setting: CountSetting, N: float) -> float:
    """The median over data near the rank."""
    rank, spread = setting.rank.mean, max(setting.rank.spread, 1e-9)
    near = _near_peak(setting, N, spread)
    law = PeakLaw(
        D=setting.cavity.D,
        rank=rank,
        spread=spread,
        left_open=setting.left_open,
        tilt=setting.tilt / spread**2 if spread > 0.3 else 0.0,
        open_variance=setting.open_variance,
        variance=near.variance,
        wider=near.wider,
        luck=near.luck,
        told_apart=setting.told_apart,
    )
    return peak_median(law, N, lambda n: _line(n, near.places, near.log_levels))


@dataclass(frozen=True, slots=True)
class NearPeak:
    """log of loss * (rank - N) below the rank, which is smooth, at two places, and more at that nearest N."""

    places: list[float]
    log_levels: list[float]
    variance: float = 0.0
    wider: float = 0.0
    luck: float | None = None


def _near_peak(setting: CountSetting, N: float, spread: float) -> NearPeak:
    rank = setting.rank.mean
    end = rank if setting.crowded else setting.seen
    nearest = rank - max(1.2 * spread, 0.015 * rank, 0.75)
    step = max(spread, 0.02 * rank)
    wanted = (N, min(N + step, nearest)) if N < nearest - 0.3 * step else (nearest - 1.5 * step, nearest)
    places, levels, kept = [], [], None
    for place in wanted:
        base = below_rank(setting, place) if place >= 0.5 else None
        if base is not None and base.found and base.loss > 0.0 and end > place:
            places.append(place)
            levels.append(math.log(base.loss * (end - place)))
            kept = (place, base) if kept is None or place <= N else kept
    if kept is None:
        return NearPeak([rank - 1.0], [math.log(setting.left_open * rank)])
    place, base = kept
    wider = max(base.width_share - 1.0 / (rank - place), 0.0) if setting.share < ALMOST_APART else 0.0
    return NearPeak(places, levels, base.near * (rank - place) ** 2, wider, base.luck)


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
