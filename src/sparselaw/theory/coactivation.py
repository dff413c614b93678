"""Rare coordinates that share a sample: the data show their sum and never each of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sparselaw.inputs import ActivationInputs
from sparselaw.sums.unseen import unseen


@dataclass(frozen=True, slots=True, kw_only=True)
class CoActivation:
    """Rare coordinates that were seen once, in the same sample, so that only their sum was seen."""

    once: float  # expected number of coordinates seen exactly once
    pairs: float  # expected number of pairs among them that share their one sample, exact
    variance: float  # the variance those pairs leave unexplained, each pair on its own
    share: float  # that variance relative to the unseen variance


@lru_cache(maxsize=4096)
def coactivation(inputs: ActivationInputs, D: float) -> CoActivation:
    """Count co-activations for D samples.

    Coordinates i and j, each seen once and in the same sample, have probability D p_i p_j
    ((1-p_i)(1-p_j))^(D-1). The sample fixes one combination of the two weights; the other leaves the
    variance c_i c_j (p_i + p_j) / (c_i + c_j).
    """
    weights, p, c = inputs.pair_nodes(D)
    missed = np.ones_like(p) if D == 1 else unseen(p, D - 1.0)
    alone = D * p * missed  # probability of being seen exactly once
    keep = alone > 1e-12
    p, c, alone, weight = p[keep], c[keep], alone[keep], weights[keep]
    seen_once = weight * alone
    once = float(np.sum(seen_once))
    pairs = max(0.0, (once**2 - float(seen_once @ alone)) / (2.0 * D))
    left = (c[:, None] * c) / (c[:, None] + c) * (p[:, None] + p)
    diagonal = float(np.sum(seen_once * alone * c * p))
    variance = max(0.0, (float(seen_once @ left @ seen_once) - diagonal) / (2.0 * D))
    rest = inputs.expected_unseen(D)
    return CoActivation(
        once=once,
        pairs=pairs,
        variance=variance,
        share=variance / rest if rest > 0.0 else 0.0,
    )
