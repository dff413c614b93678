"""What D samples show: K(D) coordinates, the rarest one, and rare ones that share a sample."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparselaw.inputs import SparseInputs
from sparselaw.sums.coordinates import coordinate_nodes
from sparselaw.sums.roots import solve_decreasing
from sparselaw.sums.spectral_sums import sparse_sums

_PAIR_SHARE = 1e-5  # neglected part of the rare coordinates in the sums over pairs


def expected_seen(inputs: SparseInputs, D: float) -> float:
    """E[K(D)] = sum_j 1 - (1 - p_j)^D, the exact sum.

    >>> round(expected_seen(SparseInputs(alpha1=1.0, alpha2=0.3), 50_000), 3)
    395.834
    """
    return sparse_sums(inputs, D).seen()


def asymptotic_seen(inputs: SparseInputs, D: float) -> float:
    """The paper's asymptote Gamma(1 - 1/(alpha1+1)) D^(1/(alpha1+1)) (Eq. 4), for alpha1 > 0."""
    if inputs.alpha1 <= 0.0:
        return inputs.dimension
    b = inputs.alpha1 + 1.0
    return min(math.gamma(1.0 - 1.0 / b) * math.pow(D, 1.0 / b), inputs.dimension)


def rarest_seen(inputs: SparseInputs, D: float) -> float:
    """The median of j_max, the largest coordinate seen at least once; of order D^(1/alpha1).

    P(j_max <= J) = prod_{j>J} (1-p_j)^D. The product is taken to leading order, exp(-D int_{J+1/2}^M p_j dj).
    """
    a1 = inputs.alpha1
    log_median = math.log(math.log(2.0)) - math.log(D)
    edge = inputs.dimension + 0.5

    def tail(log_J: float) -> tuple[float, float]:
        log_j = math.log(math.exp(log_J) + 0.5) if log_J < 30.0 else log_J
        if math.isinf(edge):
            return math.exp(-a1 * log_j) / a1, -math.exp(-a1 * log_j)
        span = math.log(edge) - log_j
        area = math.exp(-a1 * log_j) * (-math.expm1(-a1 * span) / a1 if a1 else span)
        return max(area, 0.0), -math.exp(-a1 * log_j)

    if tail(math.log(0.5))[0] <= math.exp(log_median):
        return 1.0
    largest = solve_decreasing(tail, math.exp(log_median), -log_median / max(a1, 0.05))
    return max(1.0, min(math.exp(min(largest, 700.0)), inputs.dimension))


@dataclass(frozen=True, slots=True, kw_only=True)
class CoActivation:
    """Rare coordinates that were seen once, in the same sample, so that only their sum was seen."""

    once: float  # expected number of coordinates seen exactly once
    pairs: float  # expected number of pairs among them that share their one sample, exact
    variance: float  # the variance those pairs leave unexplained, each pair on its own
    share: float  # that variance relative to the unseen variance
    paper_count: float  # the paper's order of magnitude for the count
    paper_share: float  # and for the share of the loss, D^(-alpha1/(alpha1+1))


def coactivation(inputs: SparseInputs, D: float) -> CoActivation:
    """Count co-activations for D samples; alpha1 > 0.

    Coordinates i and j, each seen once and in the same sample, have probability D p_i p_j
    ((1-p_i)(1-p_j))^(D-1). The sample fixes one combination of the two weights; the other leaves the
    variance c_i c_j (p_i + p_j) / (c_i + c_j).
    """
    a1, b = inputs.alpha1, inputs.alpha2 + 1.0
    J = math.log(D) / (a1 + 1.0)
    reach = J - math.log(_PAIR_SHARE) / a1  # the number seen once beyond j falls as j^-alpha1
    nodes = coordinate_nodes(inputs.dimension, min(reach, J + 400.0), max(a1 + 1.0, abs(b), 1.0))
    p, c = np.exp(-(a1 + 1.0) * nodes.log_j), np.exp(-b * nodes.log_j)
    inside = np.where(p >= 1.0, 0.5, p)
    miss = np.where(p >= 1.0, 1.0 if D == 1 else 0.0, np.exp((D - 1.0) * np.log1p(-inside)))
    alone = D * p * miss  # probability of being seen exactly once
    keep = alone > 1e-12
    p, c, alone, weight = p[keep], c[keep], alone[keep], nodes.weight[keep]
    seen_once = weight * alone
    once = float(np.sum(seen_once))
    pairs = max(0.0, (once**2 - float(seen_once @ alone)) / (2.0 * D))
    left = (c[:, None] * c) / (c[:, None] + c) * (p[:, None] + p)
    diagonal = float(np.sum(seen_once * alone * c * p))
    variance = max(0.0, (float(seen_once @ left @ seen_once) - diagonal) / (2.0 * D))
    unseen = sparse_sums(inputs, D).unseen_variance()
    return CoActivation(
        once=once,
        pairs=pairs,
        variance=variance,
        share=variance / unseen if unseen > 0.0 else 0.0,
        paper_count=min(D ** ((1.0 - a1) / (a1 + 1.0)), D ** (1.0 / (a1 + 1.0))),
        paper_share=min(1.0, D ** (-a1 / (a1 + 1.0))),
    )
