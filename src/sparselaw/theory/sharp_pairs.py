"""The sharp surface at pairs of real sizes along one curve, such as that of a budget.

A rough one costs nothing for each pair: the scaling limit (or the leading surface) with its peak moved from
K to the rank r. Sharp over rough is smooth in the logarithm of r/N - 1 below the peak and of N/r - 1 above
it, so that along a curve of many pairs it is found at a few places.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import ActivationInputs, Inputs
from sparselaw.sums.chebyshev import chebyshev_places, interpolate
from sparselaw.theory.count_curve import seen_along
from sparselaw.theory.count_setting import count_setting
from sparselaw.theory.leading_curve import leading_losses_at
from sparselaw.theory.sharp_counts import is_peak, sharp_count_loss
from sparselaw.theory.sharp_curve import mean_ranks, ranks_along
from sparselaw.theory.sharp_gaussian import sharp_gaussian_loss
from sparselaw.theory.surface import Surface, sharp_applies

PLACES = 8  # on either side of the peak


def losses_at(
    inputs: Inputs, N: FloatArray, D: FloatArray, *, rough: bool = False, surface: Surface = "leading"
) -> FloatArray:
    """The losses of pairs of real sizes; of the sharp surface more than a few have to lie along a curve.

    ``rough`` ones are for the search of a best pair: a few per cent off at small sizes.
    """
    if surface == "leading":
        return leading_losses_at(inputs, N, D, rough=rough)
    if inputs.closed_form == "gaussian":
        if rough:
            return leading_losses_at(inputs, N, D)
        spectrum = inputs.variance_sums(float(np.minimum(N, D).max()))
        pairs = zip(N, D, strict=True)
        return np.array([sharp_gaussian_loss(spectrum, inputs.dimension, n, d).loss for n, d in pairs])
    activations = cast(ActivationInputs, inputs)
    losses = np.empty(N.size)
    applies = np.array([sharp_applies(activations, float(d)) for d in D], bool)
    if not applies.all():
        losses[~applies] = leading_losses_at(inputs, N[~applies], D[~applies], rough=rough)
    if applies.any():
        losses[applies] = (_rough if rough else _sharp)(activations, N[applies], D[applies])
    return losses


def _rough(inputs: ActivationInputs, N: FloatArray, D: FloatArray) -> FloatArray:
    """The quick surface with its peak at the rank: (K - N)/(r - N) below it, t0 N/(N - r) above it."""
    known, ranks = seen_along(inputs, D), mean_ranks(inputs, D)
    with np.errstate(all="ignore"):
        losses = np.where(N == ranks, np.inf, known.unseen * N / np.maximum(N - ranks, 1e-300))
        below = N < ranks
        if below.any():
            moved = (known.mean - N) / (ranks - N)
            losses[below] = leading_losses_at(inputs, N[below], D[below], rough=True) * moved[below]
    return np.asarray(losses)


def _sharp(inputs: ActivationInputs, N: FloatArray, D: FloatArray) -> FloatArray:
    ranks, spreads = ranks_along(inputs, D)
    losses = np.full(N.size, np.inf)
    peak = np.array([is_peak(n, r, s) for n, r, s in zip(N, ranks, spreads, strict=True)], bool)
    for side in (ranks > N, ranks < N):
        index = np.flatnonzero(side & ~peak)
        if index.size <= PLACES:
            losses[index] = [_exact(inputs, float(N[i]), float(D[i])) for i in index]
        else:
            losses[index] = _interpolated(inputs, N[index], D[index], ranks[index])
    known = np.flatnonzero(peak)
    if known.size:
        losses[known] = np.where(seen_along(inputs, D[known]).unseen > 0.0, np.inf, 0.0)
    return losses


def _exact(inputs: ActivationInputs, N: float, D: float) -> float:
    return sharp_count_loss(count_setting(inputs, D), N, median=False).loss


def _distance(N: FloatArray, ranks: FloatArray) -> FloatArray:
    """From the peak, on a scale that ends nowhere."""
    return np.log(np.where(N < ranks, ranks / N, N / ranks) - 1.0)


def _interpolated(inputs: ActivationInputs, N: FloatArray, D: FloatArray, ranks: FloatArray) -> FloatArray:
    """All on one side: sharp/rough at a few places of the curve, and what lies between them."""
    u = _distance(N, ranks)
    order = np.argsort(u)
    wanted = chebyshev_places(float(u[order[0]]), float(u[order[-1]]), PLACES)
    sizes = np.exp(np.interp(wanted, u[order], np.log(N[order])))
    along = np.argsort(N)
    data = np.exp(np.interp(np.log(sizes), np.log(N[along]), np.log(D[along])))
    exact = np.array([_exact(inputs, float(n), float(d)) for n, d in zip(sizes, data, strict=True)])
    places = _distance(sizes, mean_ranks(inputs, data))
    with np.errstate(all="ignore"):
        ratio = np.log(exact / _rough(inputs, sizes, data))
        found = _rough(inputs, N, D) * np.exp(interpolate(places, ratio, u))
    if np.isfinite(ratio).all() and not np.isnan(found).any():
        return np.asarray(found)
    return np.array([_exact(inputs, float(n), float(d)) for n, d in zip(N, D, strict=True)])
