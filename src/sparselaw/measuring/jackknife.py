"""Intervals by leaving out one contiguous block of rows at a time.

Rows near one another may belong together (sentences of one review), so that blocks are left out, not rows;
and a bootstrap that draws rows twice would destroy what matters most, the features seen once.

For blocks of m_b of n rows and h_b = n/m_b, the variance is (1/g) sum_b (t_b - t)^2/(h_b - 1) with the pseudo
values t_b = h_b theta - (h_b - 1) theta_without_b and t their weighted mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sparselaw.interval import Interval, student_factor


def jackknife_error(best: float, without: Sequence[float], block_rows: NDArray[np.int64]) -> float:
    """The standard error of ``best``; NaN where an estimate is missing."""
    theta = np.asarray(without, dtype=np.float64)
    h = block_rows.sum() / block_rows
    with np.errstate(invalid="ignore", over="ignore"):
        pseudo = h * best - (h - 1.0) * theta
        middle = float(np.mean(pseudo)) if np.ptp(h) == 0.0 else _weighted(best, theta, h)
        variance = float(np.mean((pseudo - middle) ** 2 / (h - 1.0)))
    return math.sqrt(variance) if math.isfinite(variance) else math.nan


def _weighted(best: float, theta: NDArray[np.float64], h: NDArray[np.float64]) -> float:
    """The jackknife estimate for blocks of different lengths: g theta - sum_b (1 - m_b/n) theta_b."""
    return float(len(theta) * best - ((1.0 - 1.0 / h) * theta).sum())


def jackknife(
    best: float, without: Sequence[float], block_rows: NDArray[np.int64], *, log: bool = False
) -> Interval:
    """A 95 % interval about ``best``, by Student's factor; ``log``: in the logarithm of what is positive."""
    if log:
        if not best > 0.0:
            return Interval(math.nan, best, math.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(np.asarray(without, dtype=np.float64))
        error = jackknife_error(math.log(best), logs.tolist(), block_rows)
        half = student_factor(len(without)) * error if len(without) > 1 else math.nan
        return Interval(best * math.exp(-half), best, best * math.exp(half))
    error = jackknife_error(best, without, block_rows)
    half = student_factor(len(without)) * error if len(without) > 1 else math.nan
    return Interval(best - half, best, best + half)
