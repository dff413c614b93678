"""The sharp surface along a line: the leading one times a factor found at a few places.

At one D, with the rank r and K seen, sharp (r - N)/(leading (K - N)) is smooth in u = log(N/(r - N)) below
the rank; above it every value is a formula. At one N the same factor is smooth in log(r/N - 1) below the rank
and in log(r/(N - r)) above it. The terms of the loss and its own estimate of the error are interpolated
alike, and what label noise adds is a factor of its own, at the same places.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import cast

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import ActivationInputs, Inputs
from sparselaw.sums.chebyshev import chebyshev_places
from sparselaw.theory.count_curve import seen_along, smooth_along
from sparselaw.theory.count_setting import count_setting, rank_setting
from sparselaw.theory.leading_curve import leading_losses
from sparselaw.theory.line_values import Line, add_medians, add_noise, interpolated
from sparselaw.theory.ridge_curve import gaussian_values, ridge_values
from sparselaw.theory.sharp_counts import (
    MEDIAN_SPREADS,
    Sharp,
    is_peak,
    median_error,
    median_loss,
    sharp_count_loss,
    sharp_noise,
)
from sparselaw.theory.surface import sharp_applies

PLACES_N, PLACES_D = 11, 8  # a place of another D costs several of another N


def sharp_losses(inputs: Inputs, N: FloatArray, D: FloatArray, ridge: float, noise: float) -> FloatArray:
    """The losses along a line."""
    return np.array([value.loss for value in sharp_values(inputs, N, D, ridge, noise)])


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
        return gaussian_values(inputs, N, D, ridge, noise)
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
    leading = leading_losses(inputs, N, np.array([D]))
    if not sharp_applies(inputs, D):
        leading = leading_losses(inputs, N, np.array([D]), 0.0, noise)
        return [_plain(float(loss)) for loss in leading]
    setting = count_setting(inputs, D)
    rank = setting.rank

    def exact(n: float) -> Sharp:
        return sharp_count_loss(setting, n, median=False)

    def unit(n: float) -> tuple[float, float]:
        return sharp_noise(setting, n, 0.0)

    below = np.array([n < rank.mean and not is_peak(float(n), rank.mean, rank.spread) for n in N], bool)
    values: dict[int, Sharp] = {}
    for i in np.flatnonzero(~below):
        at_peak = is_peak(float(N[i]), rank.mean, rank.spread) and setting.unseen > 0.0
        own = sharp_count_loss(setting, float(N[i]), 0.0, noise, median=False)
        values[int(i)] = _peak(leading[i]) if at_peak and not median else own
    if below.any():
        u = np.log(N / (rank.mean - N), where=below, out=np.zeros(N.size))
        places = chebyshev_places(float(u[below].min()), float(u[below].max()), PLACES_N)
        sizes = rank.mean / (1.0 + np.exp(-places))

        moved, there = ((setting.seen - n) / (rank.mean - n) for n in (N, sizes))
        quiet, loud = _both(inputs, sizes, np.array([D]), noise)
        line = Line(leading=leading, u=u, x=N, back=leading * moved)
        values |= interpolated(np.flatnonzero(below), line, exact, (places, sizes, 1.0 / (quiet * there)))
        if noise > 0.0:
            line = replace(line, back=(leading_losses(inputs, N, np.array([D]), 0.0, 1.0) - leading) * moved)
            nodes = places, sizes, 1.0 / (loud * there)
            add_noise(values, np.flatnonzero(below), line, noise, unit, nodes)
    found = [values[i] for i in range(N.size)]
    if not median or noise > 0.0:
        return found
    near = np.abs(N - rank.mean) <= MEDIAN_SPREADS * rank.spread + 4.0
    for side in (N <= rank.mean, N > rank.mean):
        add_medians(found, N, near & side, lambda n: (median_loss(setting, n), median_error(setting)))
    return found


def _along_D(inputs: ActivationInputs, N: float, D: FloatArray, noise: float, median: bool) -> list[Sharp]:
    leading, added = _both(inputs, np.array([N]), D, noise)
    known = seen_along(inputs, D)
    applies = np.array([sharp_applies(inputs, float(d)) for d in D], bool)
    values: dict[int, Sharp] = {}
    if not applies.all():
        noisy = leading_losses(inputs, np.array([N]), D[~applies], 0.0, noise)
        values = {int(i): _plain(float(x)) for i, x in zip(np.flatnonzero(~applies), noisy, strict=True)}
    if not applies.any():
        return [values[i] for i in range(D.size)]
    ranks, spreads = ranks_along(inputs, D)

    def exact(d: float) -> Sharp:
        return sharp_count_loss(count_setting(inputs, d), N, median=False)

    def unit(d: float) -> tuple[float, float]:
        return sharp_noise(count_setting(inputs, d), N, 0.0)

    peak = np.array([is_peak(N, float(r), float(s)) for r, s in zip(ranks, spreads, strict=True)], bool)
    for i in np.flatnonzero(peak & applies):
        if known.unseen[i] > 0.0 and not median:
            values[int(i)] = _peak(leading[i])
        else:
            values[int(i)] = sharp_count_loss(count_setting(inputs, float(D[i])), N, 0.0, noise, median=False)
    for side in (ranks > N, ranks < N):
        index = np.flatnonzero(side & ~peak & applies)
        if not index.size:
            continue
        below = bool(ranks[index[0]] > N)
        u = np.zeros(D.size)
        u[index] = _from_peak(N, ranks[index])
        order = index[np.argsort(u[index])]
        wanted = chebyshev_places(float(u[order[0]]), float(u[order[-1]]), PLACES_D)
        data: FloatArray = np.unique(np.rint(np.exp(np.interp(wanted, u[order], np.log(D[order])))))
        r, there = ranks_along(inputs, data)[0], seen_along(inputs, data)
        places = _from_peak(N, r)
        with np.errstate(all="ignore"):
            moved, moved_there = (known.mean - N) / (ranks - N), (there.mean - N) / (r - N)
            if below:
                quiet, loud = (moved_there * part for part in _both(inputs, np.array([N]), data, noise))
                backs = moved * leading, moved * added
            else:  # the peak of the leading surface may lie here, at K = N
                quiet, loud = N * there.unseen / (N - r), N / (N - r)
                backs = N * known.unseen / (N - ranks), N / (N - ranks)
        line = Line(leading=leading, u=u, x=D, back=backs[0])
        values |= interpolated(index, line, exact, (places, data, 1.0 / quiet))
        if noise > 0.0:
            add_noise(values, index, replace(line, back=backs[1]), noise, unit, (places, data, 1.0 / loud))
    found = [values[i] for i in range(D.size)]
    if not median or noise > 0.0:
        return found
    near = applies & (np.abs(N - ranks) <= MEDIAN_SPREADS * spreads + 4.0)

    def middle(d: float) -> tuple[float, float]:
        setting = count_setting(inputs, round(d))
        return median_loss(setting, N), median_error(setting)

    for side in (ranks < N, ranks >= N):
        add_medians(found, D, near & side, middle)
    return found


def _from_peak(N: float, ranks: FloatArray) -> FloatArray:
    """Where on a scale that ends nowhere: log(r/N - 1) below the rank, log(r/(N - r)) above it."""
    return np.log(np.where(ranks > N, ranks - N, ranks) / np.where(ranks > N, N, N - ranks))


def _both(
    inputs: ActivationInputs, N: FloatArray, D: FloatArray, noise: float
) -> tuple[FloatArray, FloatArray]:
    """The leading surface, and what label noise of variance one adds to it, if there is any."""
    quiet = leading_losses(inputs, N, D)
    return quiet, leading_losses(inputs, N, D, 0.0, 1.0) - quiet if noise > 0.0 else quiet


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
