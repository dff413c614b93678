"""How the size of a feature goes with its frequency: c ~ p^eta, c the mean square where it is active.

Features are put in bins by how often they are active in one half of the rows, and their mean square is taken
from the other half: a feature that was often active, or large, by chance in the one is not so in the other.
Both halves play both parts. Then alpha2 = eta (alpha1 + 1) - 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray

FEWEST_ROWS = 5  # active rows in the one half


@dataclass(frozen=True, slots=True)
class Half:
    """Counts and energies of each feature over half of the rows."""

    rows: int
    n: NDArray[np.int64]
    energy: FloatArray


def amplitude_exponent(one: Half, other: Half) -> float:
    """eta, the slope of log mean square on log frequency; NaN with fewer than two bins."""
    return 0.5 * (_slope(one, other) + _slope(other, one))


def amplitude_bins(one: Half, other: Half) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(p, c, features) of bins of doubling count.

    c is a mean over active entries, in which frequent features count more, and so is p: E[p^2]/E[p], without
    bias from sum n (n-1) / sum n. With a plain mean of p the wide bins of small counts would tilt the slope.
    """
    used = np.flatnonzero(one.n >= FEWEST_ROWS)
    which = np.floor(np.log2(one.n[used] / FEWEST_ROWS)).astype(np.int64) if used.size else used
    features = np.bincount(which)
    n = np.bincount(which, weights=other.n[used])
    pairs = np.bincount(which, weights=other.n[used] * (other.n[used] - 1.0))
    energy = np.bincount(which, weights=other.energy[used])
    full = (pairs > 0) & (energy > 0.0)
    p, c = pairs[full] / n[full] / max(other.rows - 1, 1), energy[full] / n[full]
    return p, c, features[full].astype(np.float64)


def _slope(one: Half, other: Half) -> float:
    p, c, features = amplitude_bins(one, other)
    if p.size < 2:
        return math.nan
    x, y = np.log(p), np.log(c)
    x = x - np.average(x, weights=features)
    spread = float(features @ x**2)
    return float(features @ (x * y)) / spread if spread > 0.0 else math.nan
