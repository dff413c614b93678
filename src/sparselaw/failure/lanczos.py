"""The largest eigenvalue against one, without a matrix: for data with very many repeated coordinates.

With the coordinates seen once eliminated, lambda_max(X X^T) > T exactly when
A = sum_i x_i x_i^T / (T - r_i) has an eigenvalue above 1. A product with A costs the nonzeros. A Ritz
value above 1 proves it; that none is there is taken from a top Ritz value whose residual keeps it below.
"""

from __future__ import annotations

import numpy as np

from sparselaw.compiled import njit

MAX_STEPS = 640


@njit()
def top_exceeds_one(data, place, repeated, T, rare, equal):  # type: ignore[no-untyped-def]
    """Whether A has an eigenvalue above 1 + equal."""
    n = repeated + 1
    steps = min(n, MAX_STEPS)
    alpha, beta = np.zeros(steps), np.zeros(steps)
    # A start that leans on no coordinate in particular: a fixed quasi-random vector, led by x_1.
    z = np.empty(n)
    for a in range(n):
        z[a] = 0.5 + (0.6180339887498949 * (a + 1)) % 1.0
    z[0] = np.sqrt(n)
    z /= np.sqrt(np.dot(z, z))
    before = np.zeros(n)
    for m in range(steps):
        out = _product(z, data, place, T, rare)
        alpha[m] = np.dot(out, z)
        out -= alpha[m] * z
        if m > 0:
            out -= beta[m - 1] * before
        beta[m] = np.sqrt(np.dot(out, out))
        last = m + 1 == steps or beta[m] < 1e-14
        if last or (m + 1) % 20 == 0:
            ritz, tip = _top(alpha[: m + 1], beta[:m])
            if ritz > 1.0 + equal:
                return True
            if last or ritz + 1e3 * beta[m] * tip < 1.0:
                return False
        before = z
        z = out / beta[m]
    return False


@njit()
def _product(z, data, place, T, rare):  # type: ignore[no-untyped-def]
    along = np.full(data.D, z[0])
    for e in range(data.size):
        a = place[data.coordinate[e]]
        if a >= 0:
            along[data.sample[e]] += data.sign[e] * np.sqrt(data.squared[data.coordinate[e]]) * z[a + 1]
    out = np.zeros(len(z))
    for i in range(data.D):
        along[i] /= T - rare[i]
        out[0] += along[i]
    for e in range(data.size):
        a = place[data.coordinate[e]]
        if a >= 0:
            out[a + 1] += data.sign[e] * np.sqrt(data.squared[data.coordinate[e]]) * along[data.sample[e]]
    return out


@njit()
def _top(alpha, beta):  # type: ignore[no-untyped-def]
    """The largest eigenvalue of the tridiagonal matrix and the size of its vector's last entry."""
    n = len(alpha)
    matrix = np.zeros((n, n))
    for m in range(n):
        matrix[m, m] = alpha[m]
        if m + 1 < n:
            matrix[m, m + 1] = beta[m]
            matrix[m + 1, m] = beta[m]
    values, vectors = np.linalg.eigh(matrix)
    return values[-1], abs(vectors[-1, -1])
