"""The cheapest joint tilt: many coordinates aligned with x_1 at once.

Let coordinate j be active with frequency f_j and its signs lean by d_j. The mean of x x^T is then
M_11 = 1, M_1j = a_j d_j, M_jk = a_j a_k d_j d_k, M_jj = c_j f_j (a_j = sqrt c_j), and data fail once its top
eigenvalue reaches the threshold. Relative entropy is least, for a given eigenvector w, under
    f+-  proportional to  (p_j / 2) exp(theta (c_j w_j^2 +- 2 a_j w_j m_j)),
    m_j = w_1 + sum_{k != j} w_k a_k d_k,
the derivative of w^T M w; w and the frequencies are iterated to a fixed point, theta is bisected.
"""

from __future__ import annotations

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.failure.importance.tilts import Bulk, Node, Tilt

ROWS = 16
ITERATIONS = 60
HALVED = 2.0**-40
LEAST_SHIFT = 0.3  # coordinates moved by fewer standard deviations keep their law


def joint_tilt(bulk: Bulk) -> Tilt:
    """Empty where no alignment of the first coordinates reaches the threshold."""
    from scipy.optimize import bisect

    p, c = bulk.active[:ROWS], bulk.squared[:ROWS]
    if len(p) == 0 or bulk.threshold >= 0.999 * (1.0 + float(c.sum())) or bulk.threshold <= 1.0:
        return {}

    def gap(theta: float) -> float:
        return _solve(p, c, theta)[0] - bulk.threshold

    if gap(0.0) >= 0.0:
        return {}
    low, high = 0.0, 1.0
    while gap(high) < 0.0:
        low, high = high, 2.0 * high
        if high > 1e6:
            return {}
    # Plain bisection: near its fixed point the value is known to 1e-10 only, too rough for a secant.
    width = HALVED * (high - low)
    theta = float(bisect(gap, low, high, xtol=1.5 * width))
    _, plus, minus = _solve(p, c, theta if gap(theta) >= 0.0 else theta + width)  # the end that fails
    tilt: Tilt = {}
    for row in range(len(p)):
        shift = abs(plus[row] - minus[row]) * np.sqrt(bulk.D / p[row])
        if shift > LEAST_SHIFT:
            a = max(float(plus[row]), 1e-300)
            b = max(float(minus[row]), 1e-6 * a)
            tilt[row] = [Node(0.5, a, b), Node(0.5, b, a)]
    return tilt


def _solve(p: FloatArray, c: FloatArray, theta: float) -> tuple[float, FloatArray, FloatArray]:
    """The top eigenvalue and the frequencies at a fixed point, reached from full alignment."""
    a = np.sqrt(c)
    f = np.full(len(p), 0.99)
    d = f.copy()
    plus = minus = 0.5 * f
    value = 0.0
    for _ in range(ITERATIONS):
        lean = np.concatenate([[1.0], a * d])
        matrix = np.outer(lean, lean)
        matrix[np.arange(1, len(lean)), np.arange(1, len(lean))] = c * f
        values, vectors = np.linalg.eigh(matrix)
        before, value = value, float(values[-1])
        w = np.abs(vectors[:, -1])
        if abs(value - before) < 1e-10:
            break
        pull = 2.0 * a * w[1:] * (w @ lean - w[1:] * a * d)
        push = c * w[1:] ** 2
        top = theta * (push + pull)
        e_minus, e_none = np.exp(-2.0 * theta * pull), np.exp(-np.minimum(top, 700.0))
        norm = 0.5 * p * (1.0 + e_minus) + (1.0 - p) * e_none
        plus, minus = 0.5 * p / norm, 0.5 * p * e_minus / norm
        f, d = plus + minus, plus - minus
    return value, plus, minus
