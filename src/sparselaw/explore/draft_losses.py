"""Losses along D while a slider is dragged: exact at a few places, read off between them.

The full curve follows when the controls rest. On either side of the peak the loss is divided by something
near it, so that what is left changes slowly: by the scaling limit, which three places then mend to the
thickness of a line, or by 1/|K - N|, where the curve is bent at its places and nowhere else.
"""

from __future__ import annotations

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import ActivationInputs
from sparselaw.sums.chebyshev import chebyshev_places, interpolate
from sparselaw.theory.count_curve import Seen, count_losses_at, rough_losses

SMOOTH_PLACES = 3
BENT_PLACES = 6


def draft_losses(
    inputs: ActivationInputs,
    N: float,
    D: FloatArray,
    known: Seen,
    *,
    ridge: float = 0.0,
    noise: float = 0.0,
) -> FloatArray:
    """The leading surface at one N along rising D; ``known`` is what is seen there."""
    gap = known.mean - N
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = np.where(gap == 0.0, np.inf, -known.unseen * N / gap)  # N > K without ridge: exact
        near = np.ones(D.size) if ridge > 0.0 else 1.0 / np.abs(gap)
    plain = ridge == noise == 0.0
    smooth = plain and _endless(inputs, D, known)
    for side in (gap > 0.0,) if plain else (gap > 0.0, gap < 0.0):
        if side.any():
            if smooth:
                here = Seen(known.mean[side], known.spread[side], known.unseen[side])
                near[side] = rough_losses(inputs, np.full(int(side.sum()), N), D[side], here)
            places = SMOOTH_PLACES if smooth else BENT_PLACES
            losses[side] = _drawn(inputs, N, D[side], near[side], places, ridge, noise)
    return np.asarray(losses)


def _endless(inputs: ActivationInputs, D: FloatArray, known: Seen) -> bool:
    """Whether the end of a finite dimension is not felt anywhere."""
    law = inputs.exponents
    return law is not None and bool(
        known.unseen[-1] > 0.5 * inputs.data_constant() * float(D[-1]) ** -law.alpha_D
    )


def _drawn(
    inputs: ActivationInputs,
    N: float,
    D: FloatArray,
    near: FloatArray,
    places: int,
    ridge: float,
    noise: float,
) -> FloatArray:
    """loss/near found at a few places; infinite where a place beside it is."""
    x = np.log(D)
    wanted = chebyshev_places(float(x[0]), float(x[-1]), places)
    at = np.unique(np.clip(np.searchsorted(x, wanted - 1e-9), 0, D.size - 1))
    with np.errstate(all="ignore"):
        values = np.log(count_losses_at(inputs, np.full(at.size, N), D[at], ridge, noise) / near[at])
        if places == SMOOTH_PLACES and at.size > 1 and np.isfinite(values).all():
            return np.asarray(near * np.exp(interpolate(x[at], values, x)))
        lines = near * np.exp(np.interp(x, x[at], values))
    return np.asarray(np.where(np.isnan(lines), np.inf, lines))
