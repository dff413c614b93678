"""Naive twins of the measurement of real features."""

from fractions import Fraction
from itertools import combinations

import numpy as np


def seen_and_unseen(matrix, D):
    """K(D), and the variance of unseen features in a row that is not drawn, over all choices of D rows."""
    x = np.asarray(matrix, dtype=float)
    seen, unseen = [], []
    for chosen in combinations(range(len(x)), D):
        missing = ~(x[list(chosen)] != 0).any(axis=0)
        seen.append((~missing).sum())
        others = [row for row in range(len(x)) if row not in chosen]
        unseen.append(np.mean([(x[row, missing] ** 2).sum() for row in others]))
    return float(np.mean(seen)), float(np.mean(unseen))


def exact_sum(numbers):
    """The sum of doubles as a fraction, rounded once."""
    return float(sum((Fraction(float(v)) for v in numbers), Fraction(0)))


def projection_loss(train, test):
    """|x - P x|^2 of each test row, P the projection on the span of the training rows."""
    _, size, directions = np.linalg.svd(np.asarray(train, float), full_matrices=False)
    basis = directions[size > 1e-9 * size.max()]
    rest = np.asarray(test, float)
    rest = rest - rest @ basis.T @ basis
    return (rest**2).sum(axis=1)


def cavity(x, variance, ridge, sweeps):
    """Belief propagation on the nonzeros, message by message."""
    rows, columns = np.nonzero(x)
    edges = list(zip(rows.tolist(), columns.tolist(), strict=True))
    square = {(t, j): x[t, j] ** 2 for t, j in edges}
    R = dict.fromkeys(edges, 1.0)
    for _ in range(sweeps):
        new = {}
        for t, j in edges:
            total = ridge
            for s, i in edges:
                if s == t and i != j:
                    known = sum(square[u, k] * R[u, k] for u, k in edges if k == i and u != t)
                    total += square[t, i] / (1.0 + known)
            new[t, j] = 1.0 / total
        R = {edge: (R[edge] * new[edge]) ** 0.5 for edge in edges}
    known = np.zeros(x.shape[1])
    for t, j in edges:
        known[j] += square[t, j] * R[t, j]
    return float((np.asarray(variance) / (1.0 + known)).sum())


def sparse_equivalent(p, c, D):
    """The deterministic equivalent with every count, coordinate by coordinate."""
    from scipy.optimize import brentq
    from scipy.stats import binom

    n = np.arange(D + 1)
    weight = binom.pmf(n[None, :], D, np.asarray(p)[:, None])
    size = np.asarray(c)[:, None] * n
    seen = float(weight[:, 1:].sum())
    variance = np.asarray(p) * np.asarray(c)
    if seen <= D:
        return float(variance @ weight[:, 0])

    def gap(log_k):
        return float((weight * size / (size + np.exp(log_k))).sum()) - D

    k = np.exp(brentq(gap, -60.0, 60.0, xtol=1e-13))
    return float(variance @ (weight * k / (k + size)).sum(axis=1))
