"""Derivatives of laws that join two terms above a floor, by the logarithms of their parameters.

Two terms in logarithms t_N and t_D with the norm g between them have

    c = g log(e^(t_N/g) + e^(t_D/g)),    dc = p_N dt_N + p_D dt_D + H dg,
    p_N = 1/(1 + e^-w), p_D = 1 - p_N,   w = (t_N - t_D)/g,   H = -p_N log p_N - p_D log p_D,

and with v = p_N p_D the second derivatives by t are v/g times those of (t_N - t_D)^2/2, by t_N and log g
-v w, by log g twice g (H + v w^2). A floor under it: eta = log(E + e^c), with s = e^c/(E + e^c) the share
above,

    eta_i = s c_i,   eta_ij = s c_ij + s (1-s) c_i c_j,   eta_E = 1-s,   eta_Ei = -s (1-s) c_i.

Arrays are (fits, rows); the floor stands first among the parameters.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sparselaw.laws.base import LogSlopes

LARGEST = 700.0  # exponents of e beyond it leave the range of numbers


def of_two_powers(E: Any, A: Any, B: Any, alpha: Any, beta: Any, g: Any, N: Any, D: Any) -> LogSlopes:
    """Of E + [(A N^-alpha)^(1/g) + (B D^-beta)^(1/g)]^g by (E, A, B, alpha, beta, g), each (fits, 1)."""
    with np.errstate(all="ignore"):
        fall_N, fall_D = -alpha * np.log(1.0 * N), -beta * np.log(1.0 * D)
        p_N, p_D, w, tail, c = shares(np.log(A) + fall_N, np.log(B) + fall_D, g)
        mixing = tail + np.minimum(p_N, p_D) * np.abs(w)
        v = p_N * p_D
        J = np.stack([p_N, p_D, p_N * fall_N, p_D * fall_D, g * mixing], axis=-1)
        one = np.ones_like(c)
        apart = np.stack([one, -one, fall_N * one, -fall_D * one], axis=-1)
        V = np.empty((*c.shape, 5, 5))
        V[..., :4, :4] = (v / g)[..., None, None] * apart[..., :, None] * apart[..., None, :]
        V[..., 4, :4] = V[..., :4, 4] = -(v * w)[..., None] * apart
        V[..., 2, 2] += p_N * fall_N
        V[..., 3, 3] += p_D * fall_D
        V[..., 4, 4] = g * (mixing + v * w * w)
        return above_floor(np.log(E), c, J, V)


def shares(of_N: Any, of_D: Any, g: Any) -> tuple[Any, Any, Any, Any, Any]:
    """p_N, p_D, w, log(1 + e^-|w|) and c, from the logarithms of both terms."""
    w = np.clip(np.nan_to_num((of_N - of_D) / g, nan=0.0), -LARGEST, LARGEST)
    tail = np.log1p(np.exp(-np.abs(w)))
    p_N, p_D = np.exp(np.minimum(w, 0.0) - tail), np.exp(np.minimum(-w, 0.0) - tail)
    return p_N, p_D, w, tail, np.maximum(of_N, of_D) + g * tail


def above_floor(log_E: Any, c: Any, J: Any, V: Any) -> LogSlopes:
    """From c (fits, rows) with its derivatives J (..., q) and V (..., q, q) to those of log(E + e^c)."""
    eta = np.logaddexp(log_E, c)
    s, floor = np.exp(c - eta), np.exp(log_E - eta)
    both = s * floor
    q = J.shape[-1] + 1
    first, second = np.empty((*c.shape, q)), np.empty((*c.shape, q, q))
    first[..., 0], first[..., 1:] = floor, s[..., None] * J
    second[..., 0, 0] = both
    second[..., 1:, 0] = second[..., 0, 1:] = -both[..., None] * J
    second[..., 1:, 1:] = s[..., None, None] * V + (both[..., None] * J)[..., :, None] * J[..., None, :]
    return LogSlopes(eta, first, second)
