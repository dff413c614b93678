"""Points along D while a slider is dragged: the library's losses, with rank and cautions from a few places.

The losses are those of ``prediction`` to the last bit. The rank and the share of co-activation, which only
place a mark and word a caution, are found at a dozen D and read off between them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import ActivationInputs
from sparselaw.theory import Point, coactivation, curve, predict, rank_of, rescaled_ratio
from sparselaw.theory.cautions import count_cautions
from sparselaw.theory.count_curve import seen_along

PLACES = 13


def leading_along_D(
    inputs: ActivationInputs, N: int, D: list[int], *, ridge: float = 0.0, noise: float = 0.0
) -> list[Point]:
    """One N at many D on the leading surface."""
    data = np.array(D, dtype=float)
    losses = curve(inputs, N=N, D=D, ridge=ridge, noise=noise, surface="leading")
    known = seen_along(inputs, data)
    ranks = _between(lambda d: rank_of(inputs, d), data)
    shares = _between(lambda d: coactivation(inputs, d).share, data)
    points = []
    for i, d in enumerate(D):
        K, spread = float(known.mean[i]), float(known.spread[i])
        cautions = count_cautions(inputs, N, d, K, spread, ridge, float(shares[i]))
        reason = ""
        if math.isinf(losses[i]):
            reason = predict(inputs, N=N, D=d, ridge=ridge, noise=noise, surface="leading").loss_reason
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


def _between(function: Callable[[float], float], D: FloatArray) -> FloatArray:
    """Straight lines between its logarithms at a few D."""
    places = np.geomspace(D.min(), D.max(), min(PLACES, D.size))
    values = [math.log(max(function(float(place)), 1e-300)) for place in places]
    return np.asarray(np.exp(np.interp(np.log(D), np.log(places), values)))
