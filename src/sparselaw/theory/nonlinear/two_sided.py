"""The loss of N nonlinear features trained on D samples, with what there is to say beside it.

Both limits are theory. Between them stands the shape of the double descent, with its peak where N meets the
rank n of the features. Above it the kernel scatters about its mean as a Wishart matrix, a theory too (g in
``drawn_regression``, one for linear features); below it stands the like with a factor that was measured:

    N > n: loss = L_D [1 + g n/(N - n - 1)],        N < n: loss = L_N + 1.5 g L_D n/(n - N).

Dense inputs have the simpler form of ``gaussian_limit``, for N < D times 1 + 0.3 N/D, measured too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import cast

from sparselaw.inputs import ActivationInputs, Inputs
from sparselaw.theory.collapse import rescaled_ratio
from sparselaw.theory.nonlinear.data_limit import data_limit
from sparselaw.theory.nonlinear.distinct_samples import features_rank
from sparselaw.theory.nonlinear.drawn_regression import sharing
from sparselaw.theory.nonlinear.even_features import even_loss
from sparselaw.theory.nonlinear.features_limit import features_limit
from sparselaw.theory.nonlinear.gaussian_limit import (
    gaussian_data_limit,
    gaussian_features_limit,
    gaussian_spill,
)
from sparselaw.theory.nonlinear.limit import NonlinearLimit, limits_along
from sparselaw.theory.nonlinear.response import Response
from sparselaw.theory.point import Point
from sparselaw.theory.surface import LARGEST_N

SPILL = 1.5  # what samples leave unknown costs more where features are too few: 1.2 to 1.8 measured
HEAVY = 0.3  # dense samples of large norm have both large features and a large residual: measured
BETWEEN = 0.12  # the error of the part that the other size adds
SURE = 0.05  # up to which there is no caution
PEAK = 0.7  # of N/n, or n/N
FEW = 40  # features below which the terms that are left out show
CROWDED = 1.0  # alpha1 below which rare coordinates share samples with others that are rare
DATA_ERROR, CROWDED_ERROR, FEW_ERROR = 0.03, 0.1, 0.1
FAR = 0.1  # of N/n or n/N: below it one size alone matters

LOCAL_ERROR = 0.01  # of the ratio of two neighbouring losses
FEW_POINTS = 12  # along a line: more are drawn between nodes

Found = tuple[float, float, list[str]]  # loss, its relative error, cautions
Along = Callable[[float], NonlinearLimit]


def two_sided_points(
    inputs: Inputs, response: Response, widths: Sequence[float], data: Sequence[int]
) -> list[list[Point]]:
    """A row of points for each N: the expected population loss of the minimum-norm solution."""
    dense = inputs.sampling == "gaussian"
    limit = gaussian_features_limit if dense else features_limit
    below = [N for N in widths if response.slope != 0.0 and N < _rank(inputs, response, max(data, default=1))]
    along = limits_along(lambda N: limit(inputs, response, N), below, FEW_POINTS)
    return [[_point(inputs, response, along, width, D) for D in data] for width in widths]


def _rank(inputs: Inputs, response: Response, D: float) -> float:
    if inputs.sampling == "gaussian":
        return float(min(D, 2.0 * inputs.dimension))
    return features_rank(inputs, response, float(D))


def _point(inputs: Inputs, response: Response, along: Along, width: float, D: int) -> Point:
    N = float(min(width, LARGEST_N))
    rank = _rank(inputs, response, D)
    if response.slope == 0.0:
        loss, error, cautions = even_loss(inputs, N, float(D), rank)
    else:
        loss, error, cautions = _SIDES[inputs.sampling](inputs, response, along, N, float(D), rank)
    return Point(
        N=width,
        D=D,
        K=inputs.expected_seen(float(D)),
        xi=rescaled_ratio(inputs, int(N), D) if inputs.exponents is not None else math.nan,
        loss=loss,
        caution="; ".join(cautions),
        loss_reason="" if math.isfinite(loss) else "at the double-descent peak",
        terms={"features" if N < rank else "data": loss},
        rank=rank,
        loss_error=error,
    )


def _sparse(inputs: Inputs, response: Response, along: Along, N: float, D: float, rank: float) -> Found:
    activations = cast(ActivationInputs, inputs)
    known, spread = data_limit(inputs, response, D), sharing(activations, response).spread
    if N < rank:
        low = along(N)
        added = SPILL * spread * known * rank / (rank - N)
        loss = low.loss + added
        return loss, *_said(low, low.error + BETWEEN * added / loss, N, N / rank)
    above = N - rank - 1.0
    loss, near = known * (1.0 + spread * rank / above if above > 0.0 else math.inf), rank / N
    crowded = inputs.power_activations().decay < CROWDED + 1.0
    error, cautions = _said(None, (CROWDED_ERROR if crowded else DATA_ERROR) + BETWEEN * near, N, near)
    if crowded:
        cautions.append("alpha1 < 1: rare coordinates share samples, the loss is good to about 10 %")
    return loss, error, cautions


def _dense(inputs: Inputs, response: Response, along: Along, N: float, D: float, rank: float) -> Found:
    del rank
    if N < D:
        low = along(N)
        loss = low.loss * (1.0 + HEAVY * N / D) * D / (D - N)
        return loss, *_said(low, low.error + BETWEEN * N / D, N, N / D)
    high = gaussian_data_limit(inputs, response, D)
    added = gaussian_spill(inputs, response, D) * D / (N - D) if N > D else math.inf
    return high.loss + added, *_said(high, high.error + BETWEEN * D / N, D, D / N)


def local_exponent(inputs: Inputs, response: Response, N: float) -> tuple[float, float]:
    """Of the N-limited loss about N, with what the change of its error there may add."""
    limit = gaussian_features_limit if inputs.sampling == "gaussian" else features_limit
    low, high = (limit(inputs, response, N * factor) for factor in (0.5**0.5, 2.0**0.5))
    unsure = (abs(high.error - low.error) + LOCAL_ERROR) / math.log(2.0)
    return math.log2(low.loss / high.loss), unsure


_SIDES = {"activations": _sparse, "gaussian": _dense}


def _said(limit: NonlinearLimit | None, error: float, size: float, near: float) -> tuple[float, list[str]]:
    """The error and the cautions: ``near`` is one at the peak and zero far from it."""
    cautions = []
    if limit is not None and size < FEW:
        error = max(error, FEW_ERROR)
        cautions.append(f"fewer than {FEW}: up to about 10 % low")
    if limit is not None and limit.beyond:
        cautions.append(f"continued from {limit.beyond:g} with the exponent there")
    if near > PEAK:
        cautions.append("near the double-descent peak, where N meets the rank of the features")
    elif error > SURE and not cautions:
        where = "both sizes matter" if near > FAR else "the theory's own error"
        cautions.append(f"{where}: the loss may be off by about {min(error, 1.0):.0%}")
    return error, cautions
