"""Rare coordinates that share a sample: the data show their sum and never each of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.sums.unseen import unseen


@dataclass(frozen=True, slots=True, kw_only=True)
class CoActivation:
    """Rare coordinates that were seen once, in the same sample, so that only their sum was seen."""

    once: float  # expected number of coordinates seen exactly once
    pairs: float  # expected number of pairs among them that share their one sample, exact
    variance: float  # the variance those pairs leave unexplained, each pair on its own
    share: float  # that variance relative to the unseen variance


def pairs(weight: FloatArray, p: FloatArray, c: FloatArray, D: float, never: float) -> CoActivation:
    """Count co-activations of coordinates (weight, p, c) in D samples that leave the variance ``never``
    unseen.

    Coordinates i and j, each seen once and in the same sample, have probability D p_i p_j
    ((1-p_i)(1-p_j))^(D-1). The sample fixes one combination of the two weights; the other leaves the
    variance c_i c_j (p_i + p_j) / (c_i + c_j).
    """
    missed = np.ones_like(p) if D == 1 else unseen(p, D - 1.0)
    alone = D * p * missed  # probability of being seen exactly once
    kept = alone > 1e-12
    p, c, alone, weight = p[kept], c[kept], alone[kept], weight[kept]
    seen_once = weight * alone
    once = float(np.sum(seen_once))
    met = max(0.0, (once**2 - float(seen_once @ alone)) / (2.0 * D))
    left = (c[:, None] * c) / (c[:, None] + c) * (p[:, None] + p)
    diagonal = float(np.sum(seen_once * alone * c * p))
    variance = max(0.0, (float(seen_once @ left @ seen_once) - diagonal) / (2.0 * D))
    return CoActivation(
        once=once, pairs=met, variance=variance, share=variance / never if never > 0.0 else 0.0
    )
