"""How well simulated curves fall on S: loss N^alpha_N = S(xi), xi = D^(1/(alpha1+1)) / N."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError
from sparselaw.fitting.peak import near_peak
from sparselaw.fitting.rows import Source, clean_runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Collapse:
    """``spread`` is the root mean square of log(rescaled loss / S); 0 is a perfect collapse.

    ``explained`` is the part of the variance of the log rescaled losses that S accounts for.
    """

    spread: float
    median: float  # of |log(rescaled loss / S)|: not moved by a few rows beside the peak
    worst: float
    explained: float
    rows_used: int
    rows_left_out: int  # near the peak, or where S is infinite
    xi: FloatArray
    rescaled: FloatArray
    expected: FloatArray


def collapse_score(
    runs: Source,
    S: Callable[[float], float],
    *,
    alpha1: float,
    alpha2: float,
    with_peak: bool = False,
) -> Collapse:
    """Compares every run with S; runs near the peak are left out unless ``with_peak``."""
    if alpha1 <= 0.0:
        raise InputError("alpha1", alpha1, "curves collapse on S for alpha1 > 0 only", "choose sparse runs")
    used = clean_runs(runs).runs
    alpha_N = alpha1 + alpha2 + 1.0
    xi = used.D ** (1.0 / (alpha1 + 1.0)) / used.N
    rescaled = used.loss * used.N**alpha_N
    distinct, back = np.unique(xi, return_inverse=True)
    expected = np.array([float(S(float(value))) for value in distinct])[back]
    good = np.isfinite(expected) & (expected > 0.0)
    if not with_peak:
        good &= ~near_peak(used.N, used.D, alpha1)
    if not good.any():
        raise InputError("runs", len(used), "every row lies near the peak", "add runs away from N = K(D)")
    log_ratio = np.log(rescaled[good] / expected[good])
    variance = float(np.var(np.log(rescaled[good])))
    return Collapse(
        spread=float(np.sqrt(np.mean(log_ratio**2))),
        median=float(np.median(np.abs(log_ratio))),
        worst=float(np.max(np.abs(log_ratio))),
        explained=1.0 - float(np.mean(log_ratio**2)) / variance if variance > 0.0 else float("nan"),
        rows_used=int(good.sum()),
        rows_left_out=int((~good).sum()),
        xi=xi[good],
        rescaled=rescaled[good],
        expected=expected[good],
    )
