"""The eigenvalues of the covariance of real features, and the loss of Gaussian inputs that have them.

Few features: all eigenvalues. Many: the largest ones exactly, and of the rest the density, by Lanczos' method
from random starts (stochastic quadrature): sum_i f(lambda_i) ~ sum over nodes of weight f(node), at the cost
of some hundred products with the matrix.

Gaussian inputs of these eigenvalues have, with kappa of sum lambda/(lambda + kappa) = m, the loss kappa m:
for m = D rows and infinitely many features, and as well for m = N random features and infinitely many rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.search import solve_decreasing

DENSE = 1_500  # features up to which all eigenvalues are found
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

        def degrees(log_k: float) -> tuple[float, float]:
            inside = self.value / (self.value + math.exp(log_k))
            return float(self.weight @ inside), -float(self.weight @ (inside * (1.0 - inside)))

        log_k = solve_decreasing(degrees, size, math.log(self.total / float(self.weight.sum())))
        inside = self.value / (self.value + math.exp(log_k))
        b, c = float(self.weight @ inside**2), float(self.weight @ inside**3)
        finite = (size * c - b * b) / (size * (size - b) ** 2) if size - b > 1.0 else 0.0
        return min(math.exp(log_k) * size * (1.0 + min(finite, 1.0)), self.total)


def spectrum(x: Any, *, center: bool = False, seed: int = 0) -> Spectrum:
    """The eigenvalues of X^T X / n, of the covariance where centred."""
    seen = np.unique(x.indices)
    rows = x[:, seen].astype(np.float64)
    n, features = rows.shape
    mean = np.asarray(rows.mean(axis=0)).ravel() if center else np.zeros(features)
    if features <= DENSE:
        second = (rows.T @ rows).toarray() / n - np.outer(mean, mean)
        return _kept(np.linalg.eigvalsh(second), np.ones(features))
    turned = rows.T.tocsr()

    def times(v: FloatArray) -> FloatArray:
        product = np.asarray(turned @ (rows @ v)) / n
        return np.asarray(product - mean * float(mean @ v)) if center else product

    top, basis = _largest(times, features, seed)
    rng = np.random.default_rng(seed)
    nodes, weights = [top], [np.ones(top.size)]
    for _ in range(STARTS):
        start = rng.choice([-1.0, 1.0], features)
        start -= basis @ (basis.T @ start)
        value, share = _lanczos(times, start, basis)
        nodes.append(value)
        weights.append(share * (features - top.size) / STARTS)
    return _kept(np.concatenate(nodes), np.concatenate(weights))


def _largest(times: Any, features: int, seed: int) -> tuple[FloatArray, FloatArray]:
    from scipy.sparse.linalg import LinearOperator, eigsh

    operator = LinearOperator((features, features), matvec=times, dtype=np.float64)
    start = np.random.default_rng(seed + 1).standard_normal(features)
    found: Any = eigsh(operator, k=TOP, which="LM", v0=start, tol=1e-4)
    value, vectors = (np.array(part, dtype=np.float64) for part in found)
    return value, vectors


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


def _kept(value: FloatArray, weight: FloatArray) -> Spectrum:
    """Without those that rounding made zero or less."""
    used = value > 1e-13 * value.max()
    return Spectrum(value[used], weight[used])
