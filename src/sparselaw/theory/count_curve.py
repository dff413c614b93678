"""The leading surface at many sizes for little more than one.

At one D the surface is parametric in the cut-off: k gives N = E sum g/(g+k) / (1 - ridge/k) and the loss
beside it, and the counts of D samples, laid out once, serve every k. Along D the loss is that of the
scaling limit at the same N/K times a factor that changes slowly: found at a few places and interpolated.
Against the point by point ``count_loss``: 1e-9 along N (times N/(K-N) near the peak), 1e-4 along D.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import ActivationInputs
from sparselaw.sums.chebyshev import chebyshev_places, interpolate
from sparselaw.sums.count_points import CountPoints
from sparselaw.sums.counts import CountSums
from sparselaw.sums.many_roots import solve_decreasing_many
from sparselaw.sums.unseen import log_unseen
from sparselaw.theory.count_surface import count_loss
from sparselaw.theory.limit_curve import limit_for

PLACES = 9  # where the loss is found at first
AGREED = 2e-4  # relative error by every second place that is good enough: by all it is far smaller
_STRIDE = 0.75  # of the table of k, in log k
_DEEPEST = 3000.0
_ENTRIES = 500_000
CLOSE = 1e-8  # how closely a cut-off has to resolve N coordinates


def count_losses(
    inputs: ActivationInputs, N: FloatArray, D: float, ridge: float = 0.0, noise: float = 0.0
) -> FloatArray:
    """The losses of N features each, trained on D samples."""
    return _at_one(inputs.count_sums(D), N, ridge, noise)


def count_losses_at(
    inputs: ActivationInputs, N: FloatArray, D: FloatArray, ridge: float = 0.0, noise: float = 0.0
) -> FloatArray:
    """The losses of any pairs (N, D): a formula above the peak, a root of its own for each below it."""
    known = seen_along(inputs, D)
    losses, seen = _wide(known, N), known.mean
    roots = N < seen if ridge == noise == 0.0 else np.ones(N.size, bool)
    starts = _starts(inputs, N, D, seen) if ridge == 0.0 else np.full(N.size, np.nan)
    for i in np.flatnonzero(roots):
        losses[i] = _at_one(inputs.quick_sums(float(D[i])), N[i : i + 1], ridge, noise, float(starts[i]))[0]
    return np.asarray(losses)


def _wide(known: Seen, N: FloatArray | float) -> FloatArray:
    """N > K: the unseen variance times N/(N - K); infinite at the peak."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(N == known.mean, np.inf, known.unseen * N / (N - known.mean))


def rough_losses(
    inputs: ActivationInputs, N: FloatArray, D: FloatArray, known: Seen | None = None
) -> FloatArray:
    """The losses by the scaling limit at N/K and the unseen variance: a few per cent off at small sizes."""
    known = seen_along(inputs, D) if known is None else known
    losses, seen = _wide(known, N), known.mean
    below = N < seen
    if below.any():
        # A sum over j = 1, 2, ... is the integral less half of its first term: N + 1/2 and K + 1/2.
        nu = ((N + 0.5) / (seen + 0.5))[below]
        limit = limit_for(inputs, nu).log_excess(nu)
        losses[below] = known.unseen[below] * (N / (N + 0.5))[below] * np.exp(limit)
    return np.asarray(losses)


def count_losses_along(
    inputs: ActivationInputs, N: float, D: FloatArray, ridge: float = 0.0, noise: float = 0.0
) -> FloatArray:
    """The losses of N features trained on each D: the scaling limit times a factor that changes slowly."""
    if ridge > 0.0 or noise > 0.0:
        return smooth_along(
            lambda d: count_losses_at(inputs, np.full(d.size, N), d, ridge, noise),
            D,
            lambda d: np.ones(d.size),
        )
    known = seen_along(inputs, D)
    losses, seen = _wide(known, N), known.mean
    below = N < seen
    law = inputs.exponents
    ends = np.zeros(D.size, bool)  # where the end of a finite dimension is felt
    if law is not None:
        ends = known.unseen < 0.5 * inputs.data_constant() * D**-law.alpha_D

    def exact(d: FloatArray) -> FloatArray:
        return count_losses_at(inputs, np.full(d.size, N), d)

    def rough(d: FloatArray) -> FloatArray:
        return rough_losses(inputs, np.full(d.size, N), d)

    def endless(d: FloatArray) -> FloatArray:
        return endless_losses(inputs, N, d)

    for part, near in ((below & ~ends, rough if law is not None else np.ones_like), (below & ends, endless)):
        if part.any():
            losses[part] = smooth_along(exact, D[part], near)
    return np.asarray(losses)


def endless_losses(inputs: ActivationInputs, N: FloatArray | float, D: FloatArray) -> FloatArray:
    """The scaling limit of infinitely many coordinates, with the peak where these have it."""
    law = inputs.power_law()
    seen = law.seen_constant * D**law.seen_exponent
    nu = np.minimum((N + 0.5) / seen, 0.999)
    limit = np.exp(limit_for(inputs, nu).log_excess(nu)) * inputs.data_constant() * D**-law.alpha_D
    return np.asarray(limit * (1.0 - nu) / (1.0 - N / seen_along(inputs, D).mean))


def smooth_along(
    exact: Callable[[FloatArray], FloatArray], D: FloatArray, rough: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """exact(D) where exact/rough is smooth in log D: a polynomial, or two halves where it is not good enough.

    One by one where they are few, or where a value is infinite.
    """
    x = np.log(D)
    low, high = float(x.min()), float(x.max())
    if x.size <= PLACES or high - low < 1e-6:
        return exact(D)
    places = chebyshev_places(low, high, PLACES)
    sizes = np.exp(places)
    with np.errstate(all="ignore"):
        values = np.log(exact(sizes) / rough(sizes))
        if np.isfinite(values).all():
            half = interpolate(places[::2], values[::2], places[1::2])
            if np.max(np.abs(half - values[1::2])) < AGREED:
                return np.asarray(rough(D) * np.exp(interpolate(places, values, x)))
    losses, first = np.empty(x.size), x <= 0.5 * (low + high)
    for part in (first, ~first):
        if part.any():
            losses[part] = smooth_along(exact, D[part], rough)
    return losses


@dataclass(frozen=True, slots=True)
class Seen:
    """E[K], its standard deviation over data, and the unseen variance, for each D."""

    mean: FloatArray
    spread: FloatArray
    unseen: FloatArray


def seen_along(inputs: ActivationInputs, D: FloatArray) -> Seen:
    """On the nodes of the largest D.

    Beyond the nodes a coordinate is seen at most once: their number grows as D, and their variance is unseen.
    """
    largest = float(D.max())
    sums = inputs.count_sums(largest)
    columns = np.stack([sums.weight, sums.weight * np.exp(sums.log_s)], axis=1)
    total = np.empty((3, D.size))
    block = max(1, _ENTRIES // sums.p.size)
    for start in range(0, D.size, block):
        part = slice(start, start + block)
        exponent = log_unseen(sums.p, D[part, None])
        missed, met = np.exp(exponent), -np.expm1(exponent)  # no digits lost where either is small
        total[0, part] = met @ columns[:, 0]
        total[1, part] = (missed * met) @ columns[:, 0]
        total[2, part] = missed @ columns[:, 1]
    far = (sums.seen() - CountSums.seen(sums)) * (D / largest)
    beyond = sums.unseen_variance() - CountSums.unseen_variance(sums)
    return Seen(total[0] + far, np.sqrt(np.maximum(total[1] + far, 0.0)), total[2] + beyond)


def _starts(inputs: ActivationInputs, N: FloatArray, D: FloatArray, seen: FloatArray) -> FloatArray:
    """Where to look for log k: where the scaling limit has it; nan where there is none."""
    starts = np.full(N.size, np.nan)
    below = N < seen
    if inputs.exponents is not None and below.any():
        nu = ((N + 0.5) / (seen + 0.5))[below]
        limit = limit_for(inputs, nu)
        law = inputs.exponents
        log_J = np.log(D[below]) * law.alpha_D / law.alpha_N
        shrink = inputs.spectrum - law.alpha_N / law.alpha_D  # c_j = j^-shrink
        with np.errstate(all="ignore"):
            starts[below] = limit.cutoffs(nu) - shrink * log_J
    return starts


def _at_one(
    sums: CountSums, N: FloatArray, ridge: float, noise: float, start: float = math.nan
) -> FloatArray:
    seen = sums.seen()
    losses = np.empty(N.size)
    wide = (N >= seen) if ridge == 0.0 else np.zeros(N.size, bool)
    if wide.any():
        losses[wide] = _interpolating(sums, N[wide], seen, noise)
    few = ~wide
    if few.any():
        losses[few] = _cut_off(sums, N[few], ridge, noise, start)
        for i in np.flatnonzero(few & np.isnan(losses)):
            losses[i] = count_loss(sums, float(N[i]), seen, ridge, noise).loss
    return losses


def _interpolating(sums: CountSums, N: FloatArray, seen: float, noise: float) -> FloatArray:
    unseen = sums.unseen_variance()
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = np.where(N == seen, np.inf, unseen * N / (N - seen))
        if noise > 0.0:
            fitted = unseen * sums.inverse_gram_trace() / (N - seen)
            losses = losses + noise * (sums.noise_ridgeless() + np.where(N == seen, np.inf, fitted))
    return np.asarray(losses)


def _cut_off(sums: CountSums, N: FloatArray, ridge: float, noise: float, start: float) -> FloatArray:
    """k > 0, sought from ``start`` if that is near; nan where no k was found."""
    points = sums.points()
    with np.errstate(all="ignore"):
        y = log_excess(points, N, sums.first_cutoff(float(N.min())), ridge, start)
        k = ridge + np.exp(y)
        s = points.at(np.log(k))
        slack = s.partial + N * (ridge / k)
        losses = s.lost * N / slack
        if noise > 0.0:
            losses = losses + noise * (s.noise + s.lost * s.partial / slack / k)
        resolved = s.degrees + N * (ridge / k)
    return np.where((np.abs(resolved / N - 1.0) < CLOSE) & np.isfinite(losses), losses, np.nan)


def log_excess(
    points: CountPoints, N: FloatArray, first: float, ridge: float, start: float = math.nan
) -> FloatArray:
    """y = log(k - ridge) of each N: N(y) = degrees(k) k/(k - ridge) falls, from a table of it by Newton."""

    def sizes(y: FloatArray) -> tuple[FloatArray, FloatArray]:
        share = 1.0 / (1.0 + ridge * np.exp(-y)) if ridge > 0.0 else np.ones_like(y)  # (k - ridge)/k
        s = points.at(y - np.log(share))
        value = s.degrees / share
        return value, -s.partial - value * (1.0 - share)

    if math.isfinite(start):
        return solve_decreasing_many(sizes, N, np.full(N.size, start))
    table = _table(sizes, float(N.min()), float(N.max()), first, N.size)
    return solve_decreasing_many(sizes, N, _inverse(*table, np.log(N)))


def _table(
    sizes: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    least: float,
    most: float,
    start: float,
    count: int,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """y falling over all that is asked for, log N there and its slope."""
    y = start + np.array([2.0, 0.0, -1.0, -2.0, -4.0, -8.0, -16.0, -32.0])
    value, slope = sizes(y)
    while value[0] > least and y[0] < start + _DEEPEST:
        y = np.concatenate([[2.0 * y[0] - start], y])
        value, slope = sizes(y)
    while value[-1] < most and y[-1] > start - _DEEPEST:
        y = np.concatenate([y, [2.0 * y[-1] - start]])
        value, slope = sizes(y)
    if count > 4:
        # the first place below the least and the last one above the most
        high, low = y[np.flatnonzero(value <= least)[-1:]], y[np.flatnonzero(value >= most)[:1]]
        if high.size and low.size:
            steps = math.ceil(float(high[0] - low[0]) / _STRIDE)
            y = np.linspace(float(high[0]), float(low[0]), min(max(steps, 8), 400) + 1)
            value, slope = sizes(y)
    return y, np.log(value), slope / value


def _inverse(y: FloatArray, log_N: FloatArray, slope: FloatArray, wanted: FloatArray) -> FloatArray:
    """y at wanted log N by cubic Hermite pieces of the table."""
    i = np.clip(np.searchsorted(log_N, wanted) - 1, 0, y.size - 2)
    width = log_N[i + 1] - log_N[i]
    t = np.clip((wanted - log_N[i]) / np.where(width > 0.0, width, 1.0), 0.0, 1.0)
    bend = width / slope[i] * t * (1.0 - t) ** 2 - width / slope[i + 1] * t * t * (1.0 - t)
    found = y[i] + (y[i + 1] - y[i]) * t * t * (3.0 - 2.0 * t) + bend
    plain = y[i] + (y[i + 1] - y[i]) * t
    inside = (found <= y[i]) & (found >= y[i + 1])
    return np.asarray(np.where(inside, found, plain))
