"""Gaussian data: Marchenko and Pastur's law, as the effective medium of counts that do not fluctuate."""

from __future__ import annotations

import math

import numpy as np

from sparselaw.gram.law import Atoms
from sparselaw.sums.coordinates import coordinate_nodes, power_integral

FALLS = 60.0  # e-folds of the variances beyond the last that D samples resolve


def population(decay: float, dimension: float, D: float) -> Atoms:
    """Atoms g = D v of the variances v = j^-decay; what lies beyond the nodes is one faint atom of their
    sum.
    """
    nodes = coordinate_nodes(dimension, math.log(max(D, 1.0)) + FALLS / decay, decay)
    log_v, weight = -decay * nodes.log_j, nodes.weight
    end = math.log(dimension + 0.5) if math.isfinite(dimension) else math.inf
    if nodes.log_end < end:
        far, faint = power_integral(1.0 - decay, nodes.log_end, end), float(log_v.min()) - 7.0
        log_v, weight = np.append(log_v, faint), np.append(weight, far * math.exp(-faint))
    return Atoms(
        weight, log_v + math.log(D), weight * np.exp(log_v), rank=dimension, log_single=log_v + math.log(3.0)
    )
