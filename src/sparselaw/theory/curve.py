"""The loss along N at one D: one preparation of the data serves every N.

Above the rank each value is a formula. Below it log(loss * (r - N)) is smooth in u = log(N/(r - N)), which
runs from few features to the peak: found at a few Chebyshev places, then interpolated, to half a per cent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import ActivationInputs, Inputs, check_inputs
from sparselaw.theory.count_setting import CountSetting, count_setting
from sparselaw.theory.sharp_counts import is_peak, sharp_count_loss
from sparselaw.theory.surface import loss_at, sharp_applies

PLACES = 11


def curve(inputs: Inputs, *, N: Sequence[float], D: float) -> FloatArray:
    """The losses of each N, without ridge and label noise; infinite at the peak.

    >>> from sparselaw.inputs import SparseInputs
    >>> curve(SparseInputs(alpha1=1.5, alpha2=0.3), N=[8, 4000], D=10_000).round(8).tolist()
    [0.00426435, 1.269e-05]
    """
    check_inputs(inputs)
    sizes = np.asarray(N, dtype=float)
    if inputs.closed_form == "gaussian" or not sharp_applies(cast(ActivationInputs, inputs), D):
        return np.array([loss_at(inputs, float(n), float(D), "sharp") for n in sizes])
    setting = count_setting(cast(ActivationInputs, inputs), float(D))
    rank = setting.rank
    losses = np.empty_like(sizes)
    below = np.array([n < rank.mean and not is_peak(float(n), rank.mean, rank.spread) for n in sizes], bool)
    losses[~below] = [_loss(setting, float(n)) for n in sizes[~below]]
    distinct = np.unique(sizes[below])
    if distinct.size <= PLACES:
        losses[below] = [_loss(setting, float(n)) for n in sizes[below]]
    else:
        losses[below] = _interpolated(setting, sizes[below])
    return losses


def _loss(setting: CountSetting, N: float) -> float:
    return sharp_count_loss(setting, N, median=False).loss


def _interpolated(setting: CountSetting, N: FloatArray) -> FloatArray:
    rank = setting.rank.mean
    u = np.log(N / (rank - N))
    middle, half = 0.5 * (u.max() + u.min()), 0.5 * (u.max() - u.min())
    angle = math.pi * np.arange(PLACES) / (PLACES - 1)
    places = middle + half * np.cos(angle)
    sizes = rank / (1.0 + np.exp(-places))
    values = np.array([math.log(_loss(setting, float(n)) * (rank - float(n))) for n in sizes])
    # Barycentric interpolation at Chebyshev's points of the second kind.
    weights = np.where(np.arange(PLACES) % 2 == 0, 1.0, -1.0)
    weights[[0, -1]] *= 0.5
    gap = u[:, None] - places
    hit = np.abs(gap) < 1e-12
    terms = weights / np.where(hit, 1.0, gap)
    between = (terms @ values) / terms.sum(axis=1)
    exact = np.where(hit.any(axis=1), values[hit.argmax(axis=1)], between)
    return np.asarray(np.exp(exact) / (rank - N))
