"""Losses predicted from counts and from the graph of nonzeros: sparse equivalent and cavity prediction.

Cavity: belief propagation. Rows t and features j are joined where x_tj is not zero. With fair random signs
and a graph that is locally a tree, what the other rows leave open of a feature and what the other features
leave open of a row follow from

    R_{t->j} = 1 / (ridge + sum_{i in t, i != j} x_ti^2 / (1 + sum_{u != t} x_ui^2 R_{u->i})),
    loss = sum_j s_j / (1 + sum_t x_tj^2 R_{t->j}),

s_j the mean square of feature j in rows not used for training. A sweep costs as many steps as there are
nonzeros; 15 to 100 sweeps, damped by the geometric mean of old and new.

Sparse equivalent: how often each feature was seen decides, and nothing else. With n_j ~ Binomial(D, p_j) and
the cut-off k of sum_j E[c_j n_j / (k + c_j n_j)] = D (k = 0 where fewer than D features are seen), the loss
of infinitely many features is sum_j s_j E[k / (k + c_j n_j)]. Both limits are right; near D ~ K with few
nonzeros a row it is too low.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.compiled import lazy_njit
from sparselaw.gram.counts import count_nodes
from sparselaw.inputs.tabulated import grouped
from sparselaw.search import solve_decreasing

RIDGE = 1e-4  # of the mean square of a nonzero
SWEEPS = 300
TOLERANCE = 1e-6  # relative change of the loss in a sweep


@dataclass(frozen=True, slots=True)
class Cavity:
    """The loss, and how many sweeps it took; ``converged`` says whether it settled."""

    loss: float
    sweeps: int
    converged: bool


def cavity_loss(train: Any, energy: FloatArray) -> Cavity:
    """The predicted loss after the rows ``train``; ``energy`` is s_j of every feature."""
    if not train.nnz:
        return Cavity(float(energy.sum()), 0, True)
    square = (train.data**2).astype(np.float64)
    ridge = RIDGE * float(square.mean())
    column = train.indices.astype(np.int64)
    message = np.full(square.size, 1.0 / (ridge + 2.0 * float(square.mean())))
    open_share = np.ones(train.shape[1])
    steps = SWEEPS * 4.0 * square.size
    sweeps, settled = _sweeps.after(steps)(
        train.indptr.astype(np.int64), column, square, ridge, message, energy, open_share, SWEEPS, TOLERANCE
    )
    return Cavity(float(energy @ open_share), int(sweeps), bool(settled))


@lazy_njit()
def _sweeps(starts, column, square, ridge, message, energy, open_share, most, tolerance):  # type: ignore[no-untyped-def]
    """Sweep until the loss settles: ``message`` is R_{t->j}, ``open_share`` 1/(1 + sum_t x_tj^2 R_{t->j})."""
    rows, features = len(starts) - 1, len(energy)
    known = np.zeros(features)
    share = np.zeros(len(square))
    before = 0.0
    for sweep in range(most):
        known[:] = 0.0
        for e in range(len(square)):
            known[column[e]] += square[e] * message[e]
        loss = 0.0
        for j in range(features):
            open_share[j] = 1.0 / (1.0 + known[j])
            loss += energy[j] * open_share[j]
        if sweep > 0 and abs(loss - before) <= tolerance * loss:
            return sweep, True
        before = loss
        for t in range(rows):
            total = 0.0
            for e in range(starts[t], starts[t + 1]):
                others = known[column[e]] - square[e] * message[e]
                share[e] = square[e] / (1.0 + max(others, 0.0))
                total += share[e]
            for e in range(starts[t], starts[t + 1]):
                new = 1.0 / (ridge + max(total - share[e], 0.0))
                message[e] = np.sqrt(message[e] * new)
    return most, False


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
