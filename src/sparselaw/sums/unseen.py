"""(1-p)^D, the probability that D samples never show a coordinate, and what is left to one: written once."""

from __future__ import annotations

import numpy as np

from sparselaw.arrays import FloatArray


def log_unseen(p: FloatArray, D: FloatArray | float) -> FloatArray:
    """D log(1-p); -inf where p = 1."""
    inside = np.where(p >= 1.0, 0.5, p)
    return np.asarray(np.where(p >= 1.0, -np.inf, D * np.log1p(-inside)), dtype=float)


def unseen(p: FloatArray, D: FloatArray | float) -> FloatArray:
    """(1-p)^D."""
    return np.asarray(np.exp(log_unseen(p, D)), dtype=float)


def seen(p: FloatArray, D: FloatArray | float) -> FloatArray:
    """1 - (1-p)^D, which keeps coordinates so rare that it is next to nothing: there are as many more."""
    return np.asarray(-np.expm1(log_unseen(p, D)), dtype=float)
