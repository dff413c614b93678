"""The sharp surface along a line: the leading one times a factor found at a few places.

At one D, with the rank r and K seen, sharp (r - N)/(leading (K - N)) is smooth in u = log(N/(r - N)) below
the rank; above it every value is a formula. At one N the same factor is smooth in log|r/N - 1| on either
side. The terms of the loss and its own estimate of the error are interpolated alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.inputs import ActivationInputs, Inputs
from sparselaw.sums.chebyshev import chebyshev_places, interpolate
from sparselaw.theory.count_curve import seen_along, smooth_along
from sparselaw.theory.count_setting import count_setting, rank_setting
from sparselaw.theory.leading_curve import leading_losses
from sparselaw.theory.ridge_curve import ridge_values, values_between
from sparselaw.theory.sharp_counts import MEDIAN_SPREADS, Sharp, is_peak, median_loss, sharp_count_loss
from sparselaw.theory.sharp_gaussian import sharp_gaussian_loss
from sparselaw.theory.surface import sharp_applies

PLACES_N, PLACES_D = 11, 8  # a place of another D costs several of another N
MEDIANS = 7
Exact = Callable[[float], Sharp]


def sharp_losses(inputs: Inputs, N: FloatArray, D: FloatArray, ridge: float, noise: float) -> FloatArray:
    """The losses along a line; of dense inputs ridge and noise to leading order."""
    if inputs.closed_form == "counts":
        return np.array([value.loss for value in sharp_values(inputs, N, D, ridge, noise)])
    if ridge > 0.0:
        return leading_losses(inputs, N, D, ridge, noise)
    losses = np.array([value.loss for value in sharp_values(inputs, N, D)])
    if noise > 0.0:
        with np.errstate(invalid="ignore"):
            part = leading_losses(inputs, N, D, 0.0, noise) - leading_losses(inputs, N, D)
            losses = np.where(np.isnan(part), np.inf, losses + part)
    return losses


def sharp_values(
    inputs: Inputs,
    N: FloatArray,
    D: FloatArray,
    ridge: float = 0.0,
    noise: float = 0.0,
    *,
    median: bool = False,
) -> list[Sharp]:
    """The values along a line, where N or D is a single one; medians only where they are wanted."""
    if inputs.closed_form == "gaussian":
        spectrum = inputs.variance_sums(float(min(N.max(), D.max())))
        pairs = zip(*np.broadcast_arrays(N, D), strict=True)
        return [sharp_gaussian_loss(spectrum, inputs.dimension, float(n), float(d)) for n, d in pairs]
    activations = cast(ActivationInputs, inputs)
    if ridge > 0.0:
        return ridge_values(activations, N, D, ridge, noise)
    if D.size == 1:
        return _along_N(activations, N, float(D[0]), noise, median)
    return _along_D(activations, float(N[0]), D, noise, median)


def _plain(loss: float) -> Sharp:
    return Sharp(loss, {"leading": loss}, math.nan)


def _peak(leading: float) -> Sharp:
    """Infinite; the words about it are left to who asks for medians."""
    return Sharp(math.inf, {"leading": float(leading), "peak": math.inf}, math.inf)


def _along_N(inputs: ActivationInputs, N: FloatArray, D: float, noise: float, median: bool) -> list[Sharp]:
    leading = leading_losses(inputs, N, np.array([D]), 0.0, noise)
    if not sharp_applies(inputs, D):
        return [_plain(float(loss)) for loss in leading]
    setting = count_setting(inputs, D)
    rank = setting.rank

    def exact(n: float) -> Sharp:
        return sharp_count_loss(setting, n, 0.0, noise, median=False)

    below = np.array([n < rank.mean and not is_peak(float(n), rank.mean, rank.spread) for n in N], bool)
    values: dict[int, Sharp] = {}
    for i in np.flatnonzero(~below):
        at_peak = is_peak(float(N[i]), rank.mean, rank.spread) and setting.unseen > 0.0
        values[int(i)] = _peak(leading[i]) if at_peak and not median else exact(float(N[i]))
    if below.any() and noise > 0.0:

        def rough(n: FloatArray) -> FloatArray:
            moved = (setting.seen - n) / (rank.mean - n)
            return np.asarray(leading_losses(inputs, n, np.array([D]), 0.0, noise) * moved)

        noisy = values_between(np.unique(N[below]), exact, rough)
        values |= {int(i): noisy[float(N[i])] for i in np.flatnonzero(below)}
    elif below.any():
        u = np.log(N / (rank.mean - N), where=below, out=np.zeros(N.size))
        places = chebyshev_places(float(u[below].min()), float(u[below].max()), PLACES_N)
        sizes = rank.mean / (1.0 + np.exp(-places))
        scale = (rank.mean - sizes) / (setting.seen - sizes) / leading_losses(inputs, sizes, np.array([D]))
        back = leading * (setting.seen - N) / (rank.mean - N)
        line = _Line(leading=leading, u=u, x=N, back=back)
        values |= _interpolated(np.flatnonzero(below), line, exact, (places, sizes, scale))
    found = [values[i] for i in range(N.size)]
    if not median or noise > 0.0:
        return found
    near = np.abs(N - rank.mean) <= MEDIAN_SPREADS * rank.spread + 4.0
    for side in (N <= rank.mean, N > rank.mean):
        _add_medians(found, N, near & side, lambda n: median_loss(setting, n))
    return found


def _along_D(inputs: ActivationInputs, N: float, D: FloatArray, noise: float, median: bool) -> list[Sharp]:
    leading = leading_losses(inputs, np.array([N]), D, 0.0, noise)
    known = seen_along(inputs, D)
    applies = np.array([sharp_applies(inputs, float(d)) for d in D], bool)
    values = {int(i): _plain(float(leading[i])) for i in np.flatnonzero(~applies)}
    if not applies.any():
        return [values[i] for i in range(D.size)]
    ranks, spreads = ranks_along(inputs, D)

    def exact(d: float) -> Sharp:
        return sharp_count_loss(count_setting(inputs, d), N, 0.0, noise, median=False)

    peak = np.array([is_peak(N, float(r), float(s)) for r, s in zip(ranks, spreads, strict=True)], bool)
    for i in np.flatnonzero(peak & applies):
        at_peak = known.unseen[i] > 0.0
        values[int(i)] = _peak(leading[i]) if at_peak and not median else exact(float(D[i]))
    for side in (ranks > N, ranks < N):
        index = np.flatnonzero(side & ~peak & applies)
        if not index.size:
            continue
        if noise > 0.0:
            noisy = values_between(np.unique(D[index]), exact, lambda d: _noisy(inputs, N, d, noise))
            values |= {int(i): noisy[float(D[i])] for i in index}
            continue
        u = np.log(np.abs(ranks / N - 1.0), where=ranks != N, out=np.zeros(D.size))
        order = index[np.argsort(u[index])]
        wanted = chebyshev_places(float(u[order[0]]), float(u[order[-1]]), PLACES_D)
        data: FloatArray = np.unique(np.rint(np.exp(np.interp(wanted, u[order], np.log(D[order])))))
        r, there = ranks_along(inputs, data)[0], seen_along(inputs, data)
        places = np.log(np.abs(r / N - 1.0))
        if ranks[index[0]] > N:
            scale = (r - N) / (there.mean - N) / leading_losses(inputs, np.array([N]), data)
            back = leading * (known.mean - N) / (ranks - N)
        else:  # the peak of the leading surface may lie here, at K = N
            scale, back = (N - r) / (N * there.unseen), N * known.unseen / (N - ranks)
        line = _Line(leading=leading, u=u, x=D, back=back)
        values |= _interpolated(index, line, exact, (places, data, scale))
    found = [values[i] for i in range(D.size)]
    if not median or noise > 0.0:
        return found
    near = applies & (np.abs(N - ranks) <= MEDIAN_SPREADS * spreads + 4.0)
    for side in (ranks < N, ranks >= N):
        _add_medians(found, D, near & side, lambda d: median_loss(count_setting(inputs, round(d)), N))
    return found


def _noisy(inputs: ActivationInputs, N: float, D: FloatArray, noise: float) -> FloatArray:
    """The leading surface with label noise, its peak moved from K to the rank."""
    with np.errstate(all="ignore"):
        moved = np.abs((seen_along(inputs, D).mean - N) / (mean_ranks(inputs, D) - N))
        return np.asarray(leading_losses(inputs, np.array([N]), D, 0.0, noise) * moved)


def mean_ranks(inputs: ActivationInputs, D: FloatArray) -> FloatArray:
    """The expected rank for each D."""
    return smooth_along(
        lambda d: np.array([rank_setting(inputs, float(one)).mean for one in d]),
        D,
        lambda d: _seen(inputs, d)[0],
    )


def ranks_along(inputs: ActivationInputs, D: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The expected rank and its spread for each D."""
    spread = smooth_along(
        lambda d: np.array([max(rank_setting(inputs, float(one)).spread, 1e-9) for one in d]),
        D,
        lambda d: _seen(inputs, d)[1],
    )
    return mean_ranks(inputs, D), spread


def _seen(inputs: ActivationInputs, D: FloatArray) -> tuple[FloatArray, FloatArray]:
    known = seen_along(inputs, D)
    return known.mean, np.maximum(known.spread, 1e-9)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    leading: FloatArray  # the leading surface at x
    u: FloatArray  # in which the rest is smooth
    x: FloatArray
    back: FloatArray  # from what is smooth to a loss


def _interpolated(
    index: NDArray[np.int64], line: _Line, exact: Exact, nodes: tuple[FloatArray, FloatArray, FloatArray]
) -> dict[int, Sharp]:
    """Values of the line at some places from those at ``nodes``: u, x, and what makes a loss there smooth.

    The loss and its corrections are interpolated; the leading surface is known, and the first correction
    (that of the rank or of co-activation) is what is left.
    """
    places, sizes, scale = nodes
    distinct = np.unique(line.x[index])
    if distinct.size <= places.size or places.size < 3:
        own = {float(x): exact(float(x)) for x in distinct}
        return {int(i): own[float(line.x[i])] for i in index}
    at = [exact(float(size)) for size in sizes]
    names = list(dict.fromkeys(name for value in at for name in value.terms if name != "leading"))
    others = names[1:]
    rows = [[value.loss, *(value.terms.get(name, 0.0) for name in others)] for value in at]
    table, errors = np.array(rows) * scale[:, None], np.array([[value.error] for value in at])
    if not (np.isfinite(table).all() and np.isfinite(errors).all() and (errors > 0.0).all()):
        return {int(i): exact(float(line.x[i])) for i in index}
    found = interpolate(places, table, line.u[index]) * line.back[index, None]
    error = np.exp(interpolate(places, np.log(errors), line.u[index]))[:, 0]
    if not (found[:, 0] > 0.0).all():
        return {int(i): exact(float(line.x[i])) for i in index}
    values = {}
    for i, row, e in zip(index, found, error, strict=True):
        rest = float(row[0] - row[1:].sum())
        leading = float(line.leading[i])
        if not (names and math.isfinite(leading)):
            leading = rest
        terms = {"leading": leading, **({names[0]: rest - leading} if names else {})}
        terms |= dict(zip(others, map(float, row[1:]), strict=True))
        values[int(i)] = Sharp(float(row[0]), terms, float(e))
    return values


def _add_medians(
    values: list[Sharp], x: FloatArray, near: NDArray[np.bool_], median: Callable[[float], float]
) -> None:
    """Medians beside the values near the peak: each its own, or a few and what lies between them."""
    index = np.flatnonzero(near)
    distinct = np.unique(x[index])
    if distinct.size <= MEDIANS:
        own = {float(place): median(float(place)) for place in distinct}
        medians = np.array([own[float(x[i])] for i in index])
    else:
        places = chebyshev_places(float(x[index].min()), float(x[index].max()), MEDIANS)
        at = np.log([median(float(place)) for place in places])
        medians = np.exp(interpolate(places, at, x[index]))
    for i, value in zip(index, medians, strict=True):
        values[i] = replace(values[i], median=float(value))
