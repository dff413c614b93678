"""The loss surface of independent activations beyond leading order.

Below the rank the leading surface is corrected for co-activation (``cavity``), for terms of order 1/N
(``finite_width``) and for the scatter of the data (``count_spread``). Above the rank r the loss is

    t0 (1 + r/x) (1 + V/x^2 + Cov(t0, r)/(t0 x)),    x = N - r - 1,

t0 the variance that the data leave open, V = Var r. At the peak the mean is infinite and the median is given.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.theory.closure import closure
from sparselaw.theory.count_setting import CountSetting
from sparselaw.theory.count_spread import independent_scatter, scatter_share
from sparselaw.theory.finite_width import diagonal_width
from sparselaw.theory.peak_median import PeakLaw, peak_median
from sparselaw.theory.surface_value import SurfaceValue

INFINITE = 0.01  # share of data sets with |N - rank| <= 1 from which on the mean is called infinite
PEAK_SPREADS = 2.5  # and the distance from the rank, in its spreads, within which it always is
MEDIAN_SPREADS = 5.0  # as far as a median is given
ALMOST_APART = 0.03  # share of co-activation up to which coordinates scatter on their own
RTOL = 1e-10  # of the paper's pseudo-inverse: it lowers the peak where rare coordinates are this faint
BASE_ERROR = 0.01  # what is left where every correction is small
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
    median_error: float = math.nan  # relative, about


def sharp_count_loss(setting: CountSetting, N: float, *, median: bool = True) -> Sharp:
    """The loss of N features without ridge and label noise; the median only where it is wanted."""
    with np.errstate(all="ignore"):  # extreme exponents: what is not a number in the end is not returned
        value = _sharp(setting, N, median)
    if value.reason or (value.loss >= 0.0 and math.isfinite(value.loss)):
        return value
    leading = setting.leading(N)
    return Sharp(leading.loss, {"leading": leading.loss}, 1.0, None, leading.reason)


def _sharp(setting: CountSetting, N: float, median: bool) -> Sharp:
    rank, spread = setting.rank.mean, setting.rank.spread
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
        return Sharp(math.inf, terms, math.inf, middle, reason, _median_error(setting))
    terms, error = _above(setting, N) if N > rank else _below(setting, N)
    return Sharp(sum(terms.values()), terms, error, middle, median_error=_median_error(setting))


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


def _below(setting: CountSetting, N: float) -> tuple[dict[str, float], float]:
    base = below_rank(setting, N)
    share, near = base.width_share, base.near
    factor = 1.0 + share + (N / setting.rank.mean) ** 4 * max(share, 0.0) ** 2 / max(1.0 - share, 0.5)
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


@dataclass(frozen=True, slots=True)
class Below:
    """The surface below the rank, and the relative size of its next terms."""

    leading: float
    loss: float  # with co-activation
    width_share: float  # of order 1/N
    scatter: float
    near: float  # Var S/(rank - N)^2: what the scatter does near the peak
    luck: float | None = None  # variance of the log of the loss at one S over data
    found: bool = True


@functools.lru_cache(maxsize=512)
def below_rank(setting: CountSetting, N: float) -> Below:
    """Leading surface, and closure where rare coordinates share samples."""
    value = setting.leading(N)
    found = None
    if setting.crowded:
        start = value.log_cutoff if N < setting.seen else setting.cavity.cells.top
        found = closure(setting.cavity, setting.scatter, N, start)
    if found is None or setting.share < ALMOST_APART:
        apart = _coordinates_apart(setting, N, value)
        if found is None:
            return apart
    width = float(found.width.correction / found.width.leading)
    return Below(
        leading=value.loss,
        loss=value.loss * found.over_plain,
        width_share=width,
        scatter=found.scatter,
        near=found.variance / (setting.rank.mean - N) ** 2,
        luck=apart.luck if setting.share < ALMOST_APART else None,
        found=found.sound and found.over_plain > 0.0,
    )


def _coordinates_apart(setting: CountSetting, N: float, value: SurfaceValue) -> Below:
    """Without closure: the Gram matrix is diagonal."""
    points = setting.points
    g = points.c[points.coordinate] * points.n
    f = np.asarray(g / (g + math.exp(value.log_cutoff)))
    s = (points.p * points.c)[points.coordinate]
    wide = diagonal_width(points.point_weight, s, f, N)
    scatter, slopes = independent_scatter(points.coordinate, points.weight, points.probability, s, f)
    return Below(
        leading=value.loss,
        loss=value.loss,
        width_share=wide.correction / wide.leading,
        scatter=scatter_share(scatter, slopes),
        near=scatter.V / (setting.rank.mean - N) ** 2,
        luck=max(scatter.U - scatter.c0**2 / max(scatter.V, 1e-300), 0.0) / slopes.M**2,
        found=not setting.crowded,
    )


def _median_error(setting: CountSetting) -> float:
    """Few coordinates, much sharing, and amplitudes that a pseudo-inverse cuts: what the law leaves out."""
    error = 0.05 + 2.5 / setting.rank.mean + min(setting.share, 0.3)
    return error + 0.25 if _faint(setting) else error


def _faint(setting: CountSetting) -> bool:
    """Whether 3 % of the rank lies below the tolerance of singular values, relative to the largest."""
    points, rank = setting.points, setting.rank.mean
    order = np.argsort(points.c)
    seen = np.cumsum((points.weight * (1.0 - points.unseen))[order])
    place = min(int(np.searchsorted(seen, 0.03 * rank)), seen.size - 1)
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
