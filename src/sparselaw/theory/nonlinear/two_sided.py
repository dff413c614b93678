"""The loss of N nonlinear features trained on D samples, with what there is to say beside it.

Both limits are theory. Between them stands the shape of the double descent, with its peak where N meets the
rank n of the features. Above it the kernel scatters about its mean as a Wishart matrix, a theory too (g in
``drawn_regression``, one for linear features); below it stands the like with a factor that was measured:

    N > n: loss = L_D [1 + g n/(N - n - 1)],        N < n: loss = L_N + 1.5 g L_D n/(n - N).
"""

from __future__ import annotations

import math
from typing import cast

from sparselaw.inputs import ActivationInputs, Inputs
from sparselaw.theory.collapse import rescaled_ratio
from sparselaw.theory.nonlinear.data_limit import data_limit
from sparselaw.theory.nonlinear.distinct_samples import features_rank
from sparselaw.theory.nonlinear.drawn_regression import sharing
from sparselaw.theory.nonlinear.features_limit import FeaturesLimit, features_limit
from sparselaw.theory.nonlinear.fold import Fold
from sparselaw.theory.point import Point
from sparselaw.theory.surface import LARGEST_N

SPILL = 1.5  # what samples leave unknown costs more where features are too few: 1.2 to 1.8 measured
BETWEEN = 0.12  # the error of the part that the other size adds
SURE = 0.05  # up to which there is no caution
PEAK = 0.7  # of N/n, or n/N
FEW = 40  # features below which the terms that are left out show
CROWDED = 1.0  # alpha1 below which rare coordinates share samples with others that are rare
DATA_ERROR = 0.03


def two_sided_point(inputs: Inputs, fold: Fold, width: float, D: int) -> Point:
    """The expected population loss of N = ``width`` features on D samples, by the minimum-norm solution."""
    size = min(width, LARGEST_N)
    rank = features_rank(inputs, float(D))
    low = features_limit(inputs, fold, float(size)) if math.isfinite(width) and size < rank else None
    loss, error, cautions = _between(inputs, fold, float(size), float(D), rank, low)
    return Point(
        N=width,
        D=D,
        K=inputs.expected_seen(float(D)),
        xi=rescaled_ratio(inputs, int(size), D) if inputs.exponents is not None else math.nan,
        loss=loss,
        caution="; ".join(cautions),
        loss_reason="" if math.isfinite(loss) else "at the double-descent peak",
        terms={"data": loss} if low is None else {"features": loss},
        rank=rank,
        loss_error=error,
    )


def _between(
    inputs: Inputs, fold: Fold, N: float, D: float, rank: float, low: FeaturesLimit | None
) -> tuple[float, float, list[str]]:
    cautions = []
    known, spread = data_limit(inputs, fold, D), sharing(cast(ActivationInputs, inputs), fold).spread
    if low is not None:
        added = SPILL * spread * known * rank / (rank - N)
        loss, near = low.loss + added, N / rank
        error = low.error + BETWEEN * added / loss
        if N < FEW:
            error = max(error, 0.1)
            cautions.append(f"N < {FEW}: up to about 10 % low")
        if low.beyond:
            cautions.append(f"continued from N = {low.beyond:g} with the exponent there")
    else:
        above = N - rank - 1.0
        loss, near = known * (1.0 + spread * rank / above if above > 0.0 else math.inf), rank / N
        error = DATA_ERROR + BETWEEN * near
        if inputs.power_activations().decay < CROWDED + 1.0:
            error = max(error, 0.1)
            cautions.append("alpha1 < 1: rare coordinates share samples, the loss is good to about 10 %")
    if near > PEAK:
        cautions.append("near the double-descent peak, where N meets the rank of the features")
    elif error > SURE and not cautions:
        cautions.append(f"both sizes matter: the loss may be off by about {min(error, 1.0):.0%}")
    return loss, error, cautions
