"""Closed forms of the minimum-norm loss: the embedding, or the data, averaged exactly.

Over-parameterised, any data X of rank r, N > r + 1. Let P project on the column space of X. The part of u
in that space is an N x r Gaussian Z, the rest is independent of the readout, and E (Z^T Z)^-1 = N / (N - r
- 1). Hence

  E[loss | X] = t (1 + r/(N-r-1)) + q (tr(Sigma G^+) + t tr(G^+)/(N-r-1)),   t = tr(Sigma (I - P)), G = X X^T.

Dense under-parameterised, N < D - 1, is its mirror: given u, y is a linear function of the N features plus an
independent error of variance t + q, t the variance outside the span of u's rows, and E tr(A (Phi Phi^T)^-1) =
N/(D-N-1):  E[loss | u] = t + (t + q) N/(D-N-1).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, solve_triangular

from sparselaw.arrays import FloatArray


def over_parameterised(
    outside: float, rank: int, width: int, noise: float, inverse: tuple[float, float]
) -> float:
    """Mean over u and teacher given the data; with noise, ``inverse`` = (tr(Sigma G^+), tr(G^+))."""
    freedom = width - rank - 1
    loss = outside * (1.0 + rank / freedom)
    if noise > 0.0:
        loss += noise * (inverse[0] + outside * inverse[1] / freedom)
    return loss


def under_parameterised(outside: float, width: int, samples: int, noise: float) -> float:
    """Mean over Gaussian data and teacher given u."""
    return outside + (outside + noise) * width / (samples - width - 1)


def inverse_traces(factor: FloatArray, covariance: FloatArray) -> tuple[float, float]:
    """(tr(Sigma G^+), tr(G^+)) for G = F F^T with F (n, r) of full column rank; Sigma diagonal."""
    orthogonal, triangle = qr(factor, mode="economic", check_finite=False)
    inverse = solve_triangular(triangle, orthogonal.T, check_finite=False)
    columns = np.einsum("ij,ij->j", inverse, inverse)
    return float(columns @ covariance), float(columns.sum())
