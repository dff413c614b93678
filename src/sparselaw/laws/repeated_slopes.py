"""Derivatives of the data-constrained law by the logarithms of its parameters; compiled.

A count n = U h, h = 1 + R (1 - e), e = e^(-rho/R), rho = x/U - 1, is the worth of x, U of them fresh. With
l = log U, f = log R, k = e (x/U)/h and q = R (1 - e) - e rho, of log n

    n_l = 1 - k,    n_ll = -k (x/(U R) - 1 + k),   n_lf = -k (rho/R - q/h),
    n_f = q/h,      n_ff = (q - e rho^2/R)/h - (q/h)^2.

The size that U samples feed has the logarithm u = (log(alpha A/(beta B)) + beta log U)/alpha. Both terms are
joined as in slopes.py, with g = 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sparselaw.compiled import njit
from sparselaw.laws.base import LogSlopes
from sparselaw.laws.slopes import above_floor, shares

jit: Any = njit(nogil=True, error_model="numpy")
E, A, B, ALPHA, BETA, R_N, R_D = range(7)


def of_repeated_data(values: tuple[Any, ...], N: Any, D: Any, U: Any) -> LogSlopes:
    """``values`` are (E, A, B, alpha, beta, R_N, R_D)."""
    given = np.stack([np.ravel(x).astype(np.float64) for x in np.broadcast_arrays(*values)])
    x, y, fresh = (np.log(1.0 * size) for size in np.broadcast_arrays(N, D, U))
    return LogSlopes(*_repeated(given, x, y, fresh))


@jit
def _repeated(values, log_N, log_D, log_U):  # type: ignore[no-untyped-def]
    fits, rows = values.shape[1], log_N.size
    eta, first, second = np.empty((fits, rows)), np.zeros((fits, rows, 7)), np.zeros((fits, rows, 7, 7))
    t_N, t_D = np.zeros(7), np.zeros(7)
    H_N, H_D = np.zeros((7, 7)), np.zeros((7, 7))
    for t in range(fits):
        theta = values[:, t]
        log_E, log_A, log_B = np.log(theta[E]), np.log(theta[A]), np.log(theta[B])
        for i in range(rows):
            of_N = log_A - _size_term(theta, log_N[i], log_U[i], t_N, H_N)
            of_D = log_B - _data_term(theta, log_D[i], log_U[i], t_D, H_D)
            p_N, p_D, _, _, c = shares(of_N, of_D, 1.0)
            v = p_N * p_D
            J, V = first[t, i], second[t, i]
            for a in range(1, 7):
                J[a] = p_N * t_N[a] + p_D * t_D[a]
                for b in range(1, a + 1):
                    V[a, b] = p_N * H_N[a, b] + p_D * H_D[a, b]
                    V[a, b] += v * (t_N[a] - t_D[a]) * (t_N[b] - t_D[b])
            eta[t, i] = above_floor(log_E, c, J, V)
    return eta, first, second


@jit
def _worth(log_x, log_fresh, R):  # type: ignore[no-untyped-def]
    """log n, n_l, n_f, n_ll, n_lf, n_ff."""
    ratio = np.exp(min(log_x - log_fresh, 700.0))
    rho = ratio - 1.0
    e = np.exp(-rho / R)
    gone = -np.expm1(-rho / R)
    h = 1.0 + R * gone
    k = e * ratio / h
    q = R * gone - e * rho
    ff = (q - e * rho * rho / R) / h - (q / h) ** 2
    return log_fresh + np.log(h), 1.0 - k, q / h, -k * (ratio / R - 1.0 + k), -k * (rho / R - q / h), ff


@jit
def _size_term(theta, x, u, J, H):  # type: ignore[no-untyped-def]
    """alpha log N'; J and H become the derivatives of log A - alpha log N'."""
    alpha, beta = theta[ALPHA], theta[BETA]
    J[:] = 0.0
    H[:] = 0.0
    fed = (np.log(alpha * theta[A] / (beta * theta[B])) + beta * u) / alpha
    n = x
    if fed < x:  # elsewhere every parameter is fed: N' = N
        fed = max(fed, -700.0)
        n, by_l, by_f, by_ll, by_lf, by_ff = _worth(x, fed, theta[R_N])
        J[A], J[B], J[ALPHA], J[BETA] = 1 / alpha, -1 / alpha, 1 / alpha - fed, (beta * u - 1.0) / alpha
        H[ALPHA, A], H[ALPHA, B], H[BETA, ALPHA] = -1 / alpha, 1 / alpha, -J[BETA]
        H[ALPHA, ALPHA], H[BETA, BETA] = fed - 2 / alpha, beta * u / alpha
        for a in range(1, 5):
            for b in range(1, a + 1):
                H[a, b] = by_l * H[a, b] + by_ll * J[a] * J[b]
            H[R_N, a] = by_lf * J[a]
        H[R_N, R_N] = by_ff
        for a in range(1, 5):
            J[a] *= by_l
        J[R_N] = by_f
    return _falls(alpha, n, J, H, A, ALPHA)


@jit
def _data_term(theta, y, u, J, H):  # type: ignore[no-untyped-def]
    """The same for beta log D'."""
    J[:] = 0.0
    H[:] = 0.0
    n, _, by_f, _, _, by_ff = _worth(y, min(u, y), theta[R_D])
    J[R_D], H[R_D, R_D] = by_f, by_ff
    return _falls(theta[BETA], n, J, H, B, BETA)


@jit
def _falls(exponent, n, J, H, of_c, of_e):  # type: ignore[no-untyped-def]
    """From the derivatives of n to those of log coefficient - exponent n."""
    for a in range(1, 7):
        for b in range(1, a + 1):
            H[a, b] *= -exponent
        J[a] *= -exponent
    for a in range(1, 7):
        H[max(a, of_e), min(a, of_e)] += J[a]
    H[of_e, of_e] += J[of_e] - exponent * n
    J[of_e] -= exponent * n
    J[of_c] += 1.0
    return exponent * n
