"""The rank of D samples of rare activations: where the double-descent peak really stands.

K coordinates are seen, but those that only share samples cannot be told apart, and the rank of the data stays
below K and below D. For independent activations the bipartite graph of coordinates and samples is locally a
tree, and its rank follows from peeling leaves: rho is the probability that a sample holds no coordinate that
its other samples leave open. With rho_i the same without coordinate i,

    rho = prod_i (1 - p_i q_i),    q_i = (1 - p_i rho_i)^(D-1),    rho_i = rho/(1 - p_i q_i),
    r = sum_i [1 - (1 - p_i rho_i)^D] + D (1 - rho) - D sum_i p_i q_i rho_i.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.sums.count_nodes import unseen


@dataclass(frozen=True, slots=True)
class Rank:
    """The mean rank and its spread over data."""

    mean: float
    spread: float
    free: float  # rho


def expected_rank(weight: FloatArray, p: FloatArray, D: float) -> Rank:
    """The rank of D samples, given coordinates (weight, p)."""
    rank, rho, q = _fixed_point(weight, p, D)
    variance = _variance(weight, p, D, rho, q)
    never = unseen(p, D)
    seen = float(weight @ (1.0 - never))
    return Rank(min(rank, seen, D), math.sqrt(max(variance, 0.0)), rho)


def _fixed_point(weight: FloatArray, p: FloatArray, D: float) -> tuple[float, float, FloatArray]:
    """From q = (1-p)^(D-1), its least, every q rises: the rank is that of the first fixed point.

    The steps shrink by one factor in the end, so that every third goes where they lead (Aitken).
    """
    q, rho = unseen(p, D - 1.0), math.nan
    steps: list[FloatArray] = []
    for _ in range(2000):
        log_miss = np.log1p(-np.minimum(p * q, 1.0 - 1e-16))
        total = float(weight @ log_miss)
        rho_i = np.exp(np.minimum(total - log_miss, 0.0))
        moved, rho = abs(math.exp(total) - rho), math.exp(total)
        if moved < 1e-13:
            break
        new = unseen(np.minimum(p * rho_i, 1.0), D - 1.0)
        steps.append(new - q)
        q = new
        if len(steps) == 3:
            ratio = float(steps[2] @ steps[1]) / max(float(steps[1] @ steps[1]), 1e-300)
            if 0.0 < ratio < 0.98:
                q = np.clip(q + steps[2] * (ratio / (1.0 - ratio)), new, 1.0)
            steps = []
    resolved = float(weight @ (1.0 - unseen(np.minimum(p * rho_i, 1.0), D)))
    return resolved + D * (1.0 - rho) - D * float(weight @ (p * q * rho_i)), rho, q


def _variance(weight: FloatArray, p: FloatArray, D: float, rho: float, q: FloatArray) -> float:
    """Var r to first order: what coordinates add on their own, and samples, less what both count.

    A coordinate of n samples adds to the rank unless none of them is free, 1 - (1-rho)^n; a sample does
    unless no coordinate of it is open, 1 - prod (1-q_i) over its own; one activation does where both hold,
    rho q_i.
    """
    bare = unseen(np.minimum(p * rho, 1.0), D)
    coordinates = float(weight @ (unseen(np.minimum(p * rho * (2.0 - rho), 1.0), D) - bare**2))
    log_twice = float(weight @ np.log1p(-np.minimum(p * q * (2.0 - q), 1.0 - 1e-16)))
    samples = D * (math.exp(log_twice) - rho * rho)
    both = D * float(weight @ (p * (1.0 - p) * (rho * q) ** 2))
    return max(coordinates + samples - both, 0.0)
