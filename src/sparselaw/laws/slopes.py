"""Derivatives of laws that join two terms above a floor, by the logarithms of their parameters; compiled.

Two terms in logarithms t_N and t_D with the norm g between them have

    c = g log(e^(t_N/g) + e^(t_D/g)),    dc = p_N dt_N + p_D dt_D + H dg,
    p_N = 1/(1 + e^-w), p_D = 1 - p_N,   w = (t_N - t_D)/g,   H = -p_N log p_N - p_D log p_D,

and with v = p_N p_D the second derivatives by t are v/g times those of (t_N - t_D)^2/2, by t_N and log g
-v w, by log g twice g (H + v w^2). A floor under it: eta = log(E + e^c), with s = e^c/(E + e^c) the share
above,

    eta_i = s c_i,   eta_ij = s c_ij + s (1-s) c_i c_j,   eta_E = 1-s,   eta_Ei = -s (1-s) c_i.

Of second derivatives the lower triangle is filled. The floor stands first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sparselaw.compiled import njit
from sparselaw.laws.base import LogSlopes

jit: Any = njit(nogil=True, error_model="numpy")


def of_two_powers(E: Any, A: Any, B: Any, alpha: Any, beta: Any, g: Any, N: Any, D: Any) -> LogSlopes:
    """Of E + [(A N^-alpha)^(1/g) + (B D^-beta)^(1/g)]^g by (E, A, B, alpha, beta, g)."""
    given = (np.ravel(x).astype(np.float64) for x in np.broadcast_arrays(E, A, B, alpha, beta, g))
    return LogSlopes(*_two_powers(np.stack(list(given)), np.log(1.0 * N), np.log(1.0 * D)))


@jit
def _two_powers(values, log_N, log_D):  # type: ignore[no-untyped-def]
    fits, rows = values.shape[1], log_N.size
    eta, first, second = np.empty((fits, rows)), np.zeros((fits, rows, 6)), np.zeros((fits, rows, 6, 6))
    apart = np.empty(6)
    for t in range(fits):
        E, A, B, alpha, beta, g = values[:, t]
        log_E, log_A, log_B = np.log(E), np.log(A), np.log(B)
        for i in range(rows):
            fall_N, fall_D = -alpha * log_N[i], -beta * log_D[i]
            J, V = first[t, i], second[t, i]
            p_N, p_D, w, tail, c = shares(log_A + fall_N, log_B + fall_D, g)
            J[1], J[2], J[3], J[4] = p_N, p_D, p_N * fall_N, p_D * fall_D
            bits = tail + min(p_N, p_D) * abs(w)
            J[5] = g * bits
            apart[1], apart[2], apart[3], apart[4] = 1.0, -1.0, fall_N, -fall_D
            v = p_N * p_D
            for a in range(1, 5):
                for b in range(1, a + 1):
                    V[a, b] = v / g * apart[a] * apart[b]
                V[5, a] = -v * w * apart[a]
            V[3, 3] += p_N * fall_N
            V[4, 4] += p_D * fall_D
            V[5, 5] = g * (bits + v * w * w)
            eta[t, i] = above_floor(log_E, c, J, V)
    return eta, first, second


@jit
def shares(of_N, of_D, g):  # type: ignore[no-untyped-def]
    """p_N, p_D, w, log(1 + e^-|w|) and c."""
    w = (of_N - of_D) / g
    if not abs(w) < 700.0:
        w = np.sign(w) * 700.0 if abs(w) >= 700.0 else 0.0
    tail = np.log1p(np.exp(-abs(w)))
    return np.exp(min(w, 0.0) - tail), np.exp(min(-w, 0.0) - tail), w, tail, max(of_N, of_D) + g * tail


@jit
def above_floor(log_E, c, J, V):  # type: ignore[no-untyped-def]
    """eta; J and V of c, from the second place on, become those of eta."""
    larger = max(log_E, c)
    eta = larger + np.log(np.exp(log_E - larger) + np.exp(c - larger))
    s = np.exp(c - eta)
    floor = np.exp(log_E - eta)
    both = s * floor
    q = J.size
    V[0, 0] = both
    for a in range(1, q):
        V[a, 0] = -both * J[a]
        for b in range(1, a + 1):
            V[a, b] = s * V[a, b] + both * J[a] * J[b]
    J[0] = floor
    for a in range(1, q):
        J[a] *= s
    return eta
