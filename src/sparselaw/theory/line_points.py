"""Points along a line of sizes, from its curve: what ``predict_point`` says, for hundreds of them.

The loss is that of ``curve``. Beside it K, the rank, the estimate of the error and the cautions are those of
each point; medians near the peak are interpolated where they are many.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import check_not_negative, check_size
from sparselaw.inputs import ActivationInputs, Inputs
from sparselaw.theory.cautions import count_cautions, error_caution, gaussian_cautions
from sparselaw.theory.coactivation import coactivation
from sparselaw.theory.collapse import rescaled_ratio
from sparselaw.theory.count_curve import seen_along, smooth_along
from sparselaw.theory.leading_curve import leading_losses
from sparselaw.theory.point import Point
from sparselaw.theory.sharp_counts import Sharp
from sparselaw.theory.sharp_curve import ranks_along, sharp_values
from sparselaw.theory.surface import Surface, check_ridge, predict_point, rank_of, sharp_applies

FEW = 12  # sizes up to which each point is found on its own


def line_points(
    inputs: Inputs, N: Sequence[int], D: Sequence[int], ridge: float, noise: float, surface: Surface
) -> list[Point]:
    """The points of several N at one D, or of one N at several D."""
    ridge, noise = check_ridge(ridge), check_not_negative("noise", noise)
    sizes = np.array([check_size("N", n) for n in N], float)
    data = np.array([check_size("D", d) for d in D], float)
    leading = leading_losses(inputs, sizes, data, ridge, noise)
    sharp = surface == "sharp"
    if inputs.closed_form == "gaussian":
        points = _gaussian(inputs, sizes, data, leading, (ridge, noise), sharp)
    else:
        points = _counts(cast(ActivationInputs, inputs), sizes, data, leading, (ridge, noise), sharp)
    _add_reasons(points, inputs, ridge, noise, surface)
    return points


def _gaussian(
    inputs: Inputs,
    N: FloatArray,
    D: FloatArray,
    leading: FloatArray,
    settings: tuple[float, float],
    sharp: bool,
) -> list[Point]:
    ridge, noise = settings
    values = sharp_values(inputs, N, D, ridge, noise) if sharp else [_plain(float(loss)) for loss in leading]
    pairs = [(int(n), int(d)) for n, d in zip(*np.broadcast_arrays(N, D), strict=True)]
    own = [inputs.closed_form_caution] if inputs.closed_form_caution else []
    return [
        _point(
            inputs,
            n,
            d,
            value,
            inputs.expected_seen(float(d)),
            min(float(d), inputs.dimension),
            own + error_caution(value) if sharp else gaussian_cautions(inputs, n, d, ridge),
        )
        for (n, d), value in zip(pairs, values, strict=True)
    ]


def _counts(
    inputs: ActivationInputs,
    N: FloatArray,
    D: FloatArray,
    leading: FloatArray,
    settings: tuple[float, float],
    sharp: bool,
) -> list[Point]:
    ridge, noise = settings
    if sharp:
        values = sharp_values(inputs, N, D, ridge, noise, median=True)
    else:
        values = [_plain(float(loss)) for loss in leading]
    known = seen_along(inputs, D)
    if sharp_applies(inputs, float(D.max())):
        ranks = ranks_along(inputs, D)[0]
    else:
        ranks = np.array([rank_of(inputs, float(d)) for d in D])

    def shares(d: FloatArray) -> FloatArray:
        return np.array([max(coactivation(inputs, float(one)).share, 1e-300) for one in d])

    share = np.zeros(D.size) if sharp else smooth_along(shares, D, np.ones_like)
    n, d, seen, spread, rank, part = np.broadcast_arrays(N, D, known.mean, known.spread, ranks, share)
    points = []
    for i, value in enumerate(values):
        size, samples = int(n[i]), int(d[i])
        if sharp and not math.isnan(value.error):
            cautions = error_caution(value)
        else:
            cautions = count_cautions(
                inputs, size, samples, float(seen[i]), float(spread[i]), ridge, float(part[i])
            )
        points.append(_point(inputs, size, samples, value, float(seen[i]), float(rank[i]), cautions))
    return points


def _point(inputs: Inputs, N: int, D: int, value: Sharp, K: float, rank: float, cautions: list[str]) -> Point:
    return Point(
        N=N,
        D=D,
        K=K,
        xi=rescaled_ratio(inputs, N, D) if inputs.exponents is not None else math.nan,
        loss=value.loss,
        caution="; ".join(cautions),
        loss_reason=value.reason,
        terms=value.terms,
        rank=rank,
        loss_error=value.error,
        median=value.median,
    )


def _plain(loss: float) -> Sharp:
    return Sharp(loss, {"leading": loss}, math.nan)


def _add_reasons(points: list[Point], inputs: Inputs, ridge: float, noise: float, surface: Surface) -> None:
    """Why a loss is infinite, in the words of the first such point on its side of the peak."""
    found: dict[tuple[bool, bool], str] = {}
    for i, point in enumerate(points):
        if math.isinf(point.loss) and not point.loss_reason:
            side = point.N > point.K, point.N < point.K
            if side not in found:
                own = predict_point(inputs, N=point.N, D=point.D, ridge=ridge, noise=noise, surface=surface)
                found[side] = own.loss_reason
            points[i] = replace(point, loss_reason=found[side])
