"""Rare coordinates that share a sample: the data show their sum and never each of them."""

from __future__ import annotations

from functools import lru_cache

from sparselaw.gram.pairs import CoActivation, pairs
from sparselaw.inputs import ActivationInputs


@lru_cache(maxsize=4096)
def coactivation(inputs: ActivationInputs, D: float) -> CoActivation:
    """Count co-activations for D samples.

    Coordinates i and j, each seen once and in the same sample, have probability D p_i p_j
    ((1-p_i)(1-p_j))^(D-1). The sample fixes one combination of the two weights; the other leaves the
    variance c_i c_j (p_i + p_j) / (c_i + c_j).
    """
    return pairs(*inputs.pair_nodes(D), D, inputs.expected_unseen(D))
