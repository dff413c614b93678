"""The sparse deterministic equivalent: how often each feature was seen decides, and nothing else.

With n_j ~ Binomial(D, p_j) and the cut-off k of sum_j E[c_j n_j / (k + c_j n_j)] = D (k = 0 where fewer than
D features are seen), the loss of infinitely many features is sum_j s_j E[k / (k + c_j n_j)]. Both limits are
right; near D ~ K with few nonzeros a row it is too low.
"""

from __future__ import annotations

import math

from sparselaw.arrays import FloatArray
from sparselaw.inputs.tabulated import grouped
from sparselaw.sums.count_nodes import count_nodes
from sparselaw.sums.roots import solve_decreasing


def sparse_loss(p: FloatArray, c: FloatArray, D: float) -> float:
    """The predicted loss after D rows, of features of frequency p and mean square c."""
    nodes = count_nodes(*grouped(p, c), D)
    size = nodes.c[nodes.coordinate] * nodes.n
    weight = nodes.point_weight
    energy = weight * (nodes.p * nodes.c)[nodes.coordinate]
    seen = size > 0.0
    unseen = float(energy[~seen].sum())
    if float(weight[seen].sum()) <= D:
        return unseen
    w, g = weight[seen], size[seen]

    def degrees(log_k: float) -> tuple[float, float]:
        inside = g / (g + math.exp(log_k))
        return float(w @ inside), -float(w @ (inside * (1.0 - inside)))

    k = math.exp(solve_decreasing(degrees, D, math.log(float(w @ g) / float(w.sum()))))
    return unseen + float(energy[seen] @ (k / (k + g)))
