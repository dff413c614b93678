"""The mean loss of one cell over its seeds, with a control variate where there is one.

The unseen variance of the data has a known mean, sum_j s_j (1-p_j)^D, and in over-parameterised cells
nearly all the scatter of the loss is its scatter. There the mean is the regression estimate: the loss is
regressed on the unseen variance over the seeds and read off at the known mean. The slope is estimated (a
bias of the order of 1/seeds times the standard error); the standard error is the regression's own, with
seeds - 2 degrees of freedom.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray

FEWEST_FOR_CONTROL = 8
LEAST_EXPLAINED = 0.5  # share of the variance that the control must explain to be worth its degree of freedom


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanLoss:
    """The mean of a cell with its standard error; ``adjusted`` are the losses it is the mean of."""

    mean: float
    stderr: float | None
    adjusted: FloatArray
    method: str  # plain or control


def mean_loss(loss: FloatArray, control: FloatArray, known: FloatArray) -> MeanLoss:
    """The mean loss of one cell; ``control`` (nan where there is none) has the known mean ``known``."""
    with np.errstate(over="ignore", invalid="ignore"):  # squares beyond 1e154: the error is then infinite
        plain = float(loss.mean())
        if math.isinf(plain):
            return MeanLoss(mean=plain, stderr=math.inf, adjusted=loss, method="plain")
        return _mean_loss(plain, loss, control, known)


def _mean_loss(plain: float, loss: FloatArray, control: FloatArray, known: FloatArray) -> MeanLoss:
    error = float(loss.std(ddof=1)) / math.sqrt(loss.size) if loss.size > 1 else None
    without = MeanLoss(mean=plain, stderr=error, adjusted=loss, method="plain")
    finite = np.isfinite(loss).all() and np.isfinite(control).all() and np.ptp(known) == 0.0
    if (
        loss.size < FEWEST_FOR_CONTROL
        or not finite
        or np.ptp(control) == 0.0
        or not error
        or math.isinf(error)
    ):
        return without
    centred = control - control.mean()
    spread = float(centred @ centred)
    slope = float(centred @ loss) / spread
    left = loss - plain - slope * centred
    if float(left @ left) > (1.0 - LEAST_EXPLAINED) * float(np.sum((loss - plain) ** 2)):
        return without
    shift = float(known[0] - control.mean())
    variance = float(left @ left) / (loss.size - 2) * (1.0 / loss.size + shift**2 / spread)
    return MeanLoss(
        mean=plain + slope * shift,
        stderr=math.sqrt(variance),
        adjusted=np.asarray(loss - slope * (control - known), dtype=float),
        method="control",
    )
