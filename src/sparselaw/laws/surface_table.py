"""The surface's curve below the peak for any (alpha1, alpha_N), from Chebyshev's polynomials; compiled.

f(u; alpha1, alpha_N) = log(F(t) (1 - t)), u = log(t/(1-t)), is found by the theory (theory.collapse) at
Chebyshev's points of log alpha1, log alpha_N and u, once in a process, in two to three seconds. Beyond
the ends in alpha1 and alpha_N it is held; for few features it falls like t, at the peak it is constant.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.compiled import njit

jit: Any = njit(nogil=True, error_model="numpy")
ALPHA1 = (0.15, 3.0)
ALPHA_N = (0.2, 5.0)
U = (-7.0, 4.0)
ORDERS = (11, 11, 36)
MEDIAN = 0.6745  # |x| of a normal x is below this many standard deviations half of the time


@lru_cache(maxsize=1)
def coefficients() -> FloatArray:
    """(11, 11, 36): of T_i(log alpha1) T_j(log alpha_N) T_l(u), each scaled to [-1, 1]."""
    from sparselaw.inputs import SparseInputs
    from sparselaw.theory.scaling_limit import below_peak

    of_alpha1, of_N, of_u = (_points(n) for n in ORDERS)
    alpha1 = np.exp(_stretched(of_alpha1, np.log(ALPHA1)))
    alpha_N = np.exp(_stretched(of_N, np.log(ALPHA_N)))
    u = _stretched(of_u, np.asarray(U))
    table = np.array(
        [[below_peak(SparseInputs(alpha1=a, alpha2=n - a - 1.0), u) for n in alpha_N] for a in alpha1]
    )
    for axis, n in enumerate(ORDERS):
        transform = np.cos(np.outer(np.arange(n), np.arccos(_points(n)))) * 2.0 / n
        transform[0] *= 0.5
        table = np.moveaxis(np.tensordot(transform, table, axes=(1, axis)), 0, axis)
    return np.ascontiguousarray(table)


def curves(alpha1: FloatArray, alpha_N: FloatArray) -> FloatArray:
    """(pairs, 36): the coefficients along u for each pair."""
    first, second = _polynomials(alpha1, ALPHA1, ORDERS[0]), _polynomials(alpha_N, ALPHA_N, ORDERS[1])
    whole = coefficients().reshape(ORDERS[0], -1)
    along = (first @ whole).reshape(-1, ORDERS[1], ORDERS[2])
    return np.ascontiguousarray(np.einsum("pj,pju->pu", second, along))


def _polynomials(values: FloatArray, ends: tuple[float, float], order: int) -> FloatArray:
    low, high = np.log(ends)
    x = np.clip((2.0 * np.log(values) - low - high) / (high - low), -1.0, 1.0)
    return np.asarray(np.cos(np.arccos(x)[:, None] * np.arange(order)))


def _points(n: int) -> FloatArray:
    return np.asarray(np.cos(np.pi * (np.arange(n) + 0.5) / n))


def _stretched(x: FloatArray, ends: Any) -> FloatArray:
    return np.asarray(0.5 * (ends[0] + ends[1]) + 0.5 * (ends[1] - ends[0]) * x)


@jit
def log_above_floor(curve, A, B, alpha1, alpha_N, N_scale, shift, log_N, log_D):  # type: ignore[no-untyped-def]
    """(pairs, rows): the logarithm of the loss above the floor; ``shift`` is that of log t.

    The logarithms of the sizes are (pairs, rows), or (1, rows) for all pairs.
    """
    pairs, rows = A.size, log_N.shape[1]
    found = np.empty((pairs, rows))
    for i in range(pairs):
        s = 1.0 / (alpha1[i] + 1.0)
        rare = (2.0**s - 1.0) * N_scale[i]
        log_A, log_B = np.log(A[i]), np.log(B[i])
        j = i % log_N.shape[0]
        for r in range(rows):
            x, y = log_N[j, r], log_D[j, r]
            log_t = x - s * y + shift[i]
            t = np.exp(min(log_t, 600.0))
            below = log_A - alpha_N[i] * x + _clenshaw(curve[i], log_t)
            above = log_B - alpha_N[i] * s * y + log_t
            width = MEDIAN * np.sqrt(rare * t * np.exp(-x))  # of the peak, as a share of K
            weight = 0.5 * math.erfc(-(t - 1.0) / (width * np.sqrt(2.0)))
            joined = below if weight == 0.0 else above if weight == 1.0 else 0.0
            if 0.0 < weight < 1.0:
                joined = (1.0 - weight) * below + weight * above
            found[i, r] = joined - np.log(np.hypot(t - 1.0, width))
    return found


@jit
def _clenshaw(c, log_t):  # type: ignore[no-untyped-def]
    """f at t; constant beyond the peak."""
    u = log_t - np.log1p(-np.exp(log_t)) if log_t < -1e-9 else U[1]
    inside = min(max(u, U[0]), U[1])
    x = (2.0 * inside - U[0] - U[1]) / (U[1] - U[0])
    first, second = 0.0, 0.0
    for i in range(c.size - 1, 0, -1):
        first, second = 2.0 * x * first - second + c[i], first
    value = x * first - second + c[0]
    return value * np.exp(u - U[0]) if u < U[0] else value
