"""Points along D while a slider is dragged: rank and cautions from a few places, shared by every N.

The losses are those of ``prediction`` to the last bit, or a draft of them (``draft_losses``). The rank and
the share of co-activation, which only place a mark and word a caution, are found at a few D and read off
between them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.explore.draft_losses import draft_losses
from sparselaw.inputs import ActivationInputs
from sparselaw.theory import Point, coactivation, curve, predict, rank_of, rescaled_ratio
from sparselaw.theory.cautions import CROWDED, count_cautions
from sparselaw.theory.count_curve import Seen, seen_along

PLACES = 13
DRAFT_PLACES = 5


def leading_along_D(
    inputs: ActivationInputs,
    N: Sequence[int],
    D: Sequence[int],
    *,
    ridge: float = 0.0,
    noise: float = 0.0,
    draft: bool = False,
) -> list[Point]:
    """Several N, each at many rising D, on the leading surface."""
    data = np.array(D, dtype=float)
    known = seen_along(inputs, data)
    places = np.geomspace(data[0], data[-1], min(DRAFT_PLACES if draft else PLACES, data.size))
    ranks = _between(lambda d: rank_of(inputs, d), places, data)
    crowded = data[known.mean > CROWDED * data]
    free = places[places > crowded.max(initial=0.0)]  # where the share is looked at
    shares = _between(lambda d: coactivation(inputs, d).share, free, data)
    if draft:
        curves = draft_losses(inputs, N, data, known, ridge=ridge, noise=noise)
    else:
        curves = [curve(inputs, N=n, D=data, ridge=ridge, noise=noise, surface="leading") for n in N]
    about = known, ranks, shares
    return [
        point
        for n, losses in zip(N, curves, strict=True)
        for point in _points(inputs, n, D, losses, about, ridge, noise)
    ]


def _points(
    inputs: ActivationInputs,
    N: int,
    D: Sequence[int],
    losses: FloatArray,
    about: tuple[Seen, FloatArray, FloatArray],
    ridge: float,
    noise: float,
) -> list[Point]:
    known, ranks, shares = about
    reasons: dict[bool, str] = {}  # on either side of the peak there is one
    points = []
    for i, d in enumerate(D):
        K, spread = float(known.mean[i]), float(known.spread[i])
        cautions = count_cautions(inputs, N, d, K, spread, ridge, float(shares[i]))
        reason = ""
        if math.isinf(losses[i]):
            if (N > K) not in reasons:
                own = predict(inputs, N=N, D=d, ridge=ridge, noise=noise, surface="leading")
                reasons[N > K] = own.loss_reason
            reason = reasons[N > K]
        points.append(
            Point(
                N=N,
                D=d,
                K=K,
                xi=rescaled_ratio(inputs, N, d) if inputs.exponents is not None else math.nan,
                loss=float(losses[i]),
                caution="; ".join(cautions),
                loss_reason=reason,
                rank=float(ranks[i]),
            )
        )
    return points


def _between(function: Callable[[float], float], places: FloatArray, D: FloatArray) -> FloatArray:
    """Straight lines between its logarithms at a few D."""
    if not places.size:
        return np.zeros(D.size)
    values = [math.log(max(function(float(place)), 1e-300)) for place in places]
    return np.asarray(np.exp(np.interp(np.log(D), np.log(places), values)))
