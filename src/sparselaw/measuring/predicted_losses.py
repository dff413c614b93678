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

Covariance: the eigenvalues of X^T X / n. Of few features all are found; of many the largest ones, and of the
rest the density, by Lanczos' method from random starts (stochastic quadrature): sum_i f(lambda_i) ~ sum over
nodes of weight f(node), at the cost of some hundred products with the matrix.

Gaussian inputs of these eigenvalues have, with kappa of sum lambda/(lambda + kappa) = m, the loss kappa m:
for m = D rows and infinitely many features, and as well for m = N random features and infinitely many rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.compiled import lazy_njit
from sparselaw.gram.cavity_scatter import count_nodes
from sparselaw.inputs.tabulated import grouped
from sparselaw.search import solve_decreasing

RIDGE = 1e-4  # of the mean square of a nonzero
SWEEPS = 300
TOLERANCE = 1e-6  # relative change of the loss in a sweep


def cavity_loss(train: Any, variance: FloatArray) -> float:
    """The predicted loss after the rows ``train``; ``variance`` is s_j of every feature."""
    if not train.nnz:
        return float(variance.sum())
    square = (train.data**2).astype(np.float64)
    mean = float(square.mean())
    message = np.full(square.size, 1.0 / (RIDGE * mean + 2.0 * mean))
    open_share = np.ones(train.shape[1])
    starts, column = train.indptr.astype(np.int64), train.indices.astype(np.int64)
    sweep = _sweeps.after(SWEEPS * 4.0 * square.size)
    sweep(starts, column, square, RIDGE * mean, message, variance, open_share, SWEEPS, TOLERANCE)
    return float(variance @ open_share)


@lazy_njit()
def _sweeps(starts, column, square, ridge, message, variance, open_share, most, tolerance):  # type: ignore[no-untyped-def]
    """Sweep until the loss settles: ``message`` is R_{t->j}, ``open_share`` 1/(1 + sum_t x_tj^2 R_{t->j})."""
    rows, features = len(starts) - 1, len(variance)
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
            loss += variance[j] * open_share[j]
        if sweep > 0 and abs(loss - before) <= tolerance * loss:
            return
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


def sparse_loss(p: FloatArray, c: FloatArray, D: float) -> float:
    """The predicted loss after D rows, of features of frequency p and mean square c."""
    nodes = count_nodes(*grouped(p, c), D)
    size = nodes.c[nodes.coordinate] * nodes.n
    weight = nodes.point_weight
    variance = weight * (nodes.p * nodes.c)[nodes.coordinate]
    seen = size > 0.0
    unseen = float(variance[~seen].sum())
    w, g = weight[seen], size[seen]
    if float(w.sum()) <= D:
        return unseen
    k = _cut_off(w, g, D)
    return unseen + float(variance[seen] @ (k / (k + g)))


def _cut_off(weight: FloatArray, size: FloatArray, degrees: float) -> float:
    """The k of sum weight size/(size + k) = degrees."""

    def function(log_k: float) -> tuple[float, float]:
        inside = size / (size + math.exp(log_k))
        return float(weight @ inside), -float(weight @ (inside * (1.0 - inside)))

    return math.exp(solve_decreasing(function, degrees, math.log(float(weight @ size) / float(weight.sum()))))


DENSE = 1_500  # features up to which all eigenvalues are found
MOST_NONZEROS = 8_000_000
TOP = 24
STARTS, STEPS = 4, 60


@dataclass(frozen=True, slots=True)
class Spectrum:
    """Eigenvalues, each standing for ``weight`` of them."""

    value: FloatArray
    weight: FloatArray

    @property
    def total(self) -> float:
        return float(self.weight @ self.value)

    def loss(self, size: float) -> float:
        """kappa m with its correction of order 1/m, or 0 where m directions are all there is.

        With f = lambda/(lambda + kappa), B = sum f^2, C = sum f^3 it is 1 + (m C - B^2)/(m (m - B)^2).
        """
        if size >= float(self.weight.sum()) * (1.0 - 1e-9):
            return 0.0

        kappa = _cut_off(self.weight, self.value, size)
        inside = self.value / (self.value + kappa)
        b, c = float(self.weight @ inside**2), float(self.weight @ inside**3)
        finite = (size * c - b * b) / (size * (size - b) ** 2) if size - b > 1.0 else 0.0
        return min(kappa * size * (1.0 + min(finite, 1.0)), self.total)


def spectrum(x: Any, *, seed: int = 0) -> Spectrum:
    """The eigenvalues of X^T X / n, without those that rounding made zero or less.

    Of all rows, or of as many as can be multiplied in seconds.
    """
    from scipy.sparse.linalg import LinearOperator, eigsh

    if x.nnz > MOST_NONZEROS:
        order = np.random.default_rng(seed).permutation(x.shape[0])
        x = x[np.sort(order[: int(MOST_NONZEROS / x.nnz * x.shape[0])])]
    rows = x[:, np.unique(x.indices)].astype(np.float64)
    n, features = rows.shape
    if features <= DENSE:
        value, weight = np.linalg.eigvalsh((rows.T @ rows).toarray() / n), np.ones(features)
    else:
        turned = rows.T.tocsr()

        def times(v: FloatArray) -> FloatArray:
            return np.asarray(turned @ (rows @ v) / n)

        operator: Any = LinearOperator((features, features), matvec=times, dtype=np.float64)
        first = np.random.default_rng(seed + 1).standard_normal(features)
        top, basis = eigsh(operator, k=TOP, which="LM", v0=first, tol=1e-4)
        rng = np.random.default_rng(seed)
        values, weights = [top], [np.ones(TOP)]
        for _ in range(STARTS):
            start = rng.choice([-1.0, 1.0], features)
            start -= basis @ (basis.T @ start)
            nodes, share = _lanczos(times, start, basis)
            values.append(nodes)
            weights.append(share * (features - TOP) / STARTS)
        value, weight = np.concatenate(values), np.concatenate(weights)
    used = value > 1e-13 * value.max()
    return Spectrum(value[used], weight[used])


def _lanczos(times: Any, start: FloatArray, basis: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of the quadrature that ``start`` sees, outside of the basis."""
    from scipy.linalg import eigh_tridiagonal

    v = start / np.linalg.norm(start)
    before, beta = np.zeros_like(v), 0.0
    diagonal, beside = [], []
    for _ in range(STEPS):
        w = times(v) - beta * before
        w -= basis @ (basis.T @ w)
        alpha = float(v @ w)
        w -= alpha * v
        diagonal.append(alpha)
        beta = float(np.linalg.norm(w))
        if beta <= 1e-12 * abs(diagonal[0]):
            break
        beside.append(beta)
        before, v = v, w / beta
    found: Any = eigh_tridiagonal(np.array(diagonal), np.array(beside[: len(diagonal) - 1]))
    return found[0], found[1][0] ** 2
