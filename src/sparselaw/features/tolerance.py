"""What a solver's rank tolerance cuts off: directions in which the data vary, but too little.

They lie near the coordinates of the shortest rows of X_A, which are few. Split the coordinates in the short
ones S and the rest B, longer by a margin. The vectors x with x_B = W x_S are invariant under G if
W = -G_BB^-1 (G_BS - W (G_SS + G_SB W)), an iteration that gains the margin squared in each sweep. On them a
small SVD decides. No step mixes lengths: amplitudes of 1e-90 are as good as any.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, qr, solve_triangular, svd

from sparselaw.data.arrays import FloatArray
from sparselaw.features.elimination import Triangle, solve, solve_transposed
from sparselaw.features.factor import Factor

MARGIN = 30.0
SWEEPS = 6


def doubtful_rows(factor: Factor, rtol: float) -> int:
    """How many rows are short enough to make a singular value at or below ``rtol`` times the largest.

    Rows of length one are well apart (their distances from each other's spans are the pivots), so that a
    singular value far below all row lengths does not occur; thirty-fold is taken as the margin.
    """
    return int(np.count_nonzero(factor.length <= MARGIN * rtol * np.linalg.norm(factor.length)))


def cut_directions(factor: Factor, rtol: float) -> FloatArray:
    """The left singular vectors (K, c) of X_A with singular values at or below ``rtol`` times the largest."""
    if not factor.full_rank:
        basis, singular, _ = svd(factor.dense(), full_matrices=False, check_finite=False)
        return np.asarray(basis[:, singular <= rtol * singular[0]])
    limit = rtol * largest_singular_value(factor)
    short = factor.length <= MARGIN * limit
    if not short.any():
        return np.empty((factor.length.size, 0))
    space, halves = _short_space(factor, int(np.argmax(short)))
    span, triangle = qr(space, mode="economic", check_finite=False)
    _, singular, rotation = svd(solve_triangular(triangle, halves.T, trans=1).T, full_matrices=False)
    return np.asarray(span @ rotation[singular <= limit].T)


def _short_space(factor: Factor, first: int) -> tuple[FloatArray, FloatArray]:
    """Columns x = [W; I], invariant under G for S the coordinates from ``first`` on, and F^T x.

    Amplitudes fall along the coordinates, so that S holds all the short ones. F is upper triangular, hence
    G_BB^-1 = F_BB^-T (I + Y Y^T)^-1 F_BB^-1 with Y = F_BB^-1 F_BS.
    """
    head, side = factor.values[:first, :first], _dense(factor.values[:first, first:])
    corner = _dense(factor.values[first:, first:])
    Y, unit = solve(head, side), np.eye(corner.shape[0])
    capacity = cho_factor(unit + Y.T @ Y)

    def inverse(right: FloatArray) -> FloatArray:
        half = solve(head, right)
        return solve_transposed(head, half - Y @ cho_solve(capacity, Y.T @ half))

    G_BS, G_SS = side @ corner.T, corner @ corner.T
    W = -inverse(G_BS)
    for _ in range(SWEEPS):
        W = inverse(W @ (G_SS + G_BS.T @ W) - G_BS)
    return np.vstack([W, unit]), np.vstack([head.T @ W, side.T @ W + corner.T])


def largest_singular_value(factor: Factor) -> float:
    """Of X_A, by power iteration from the row lengths."""
    vector, last, value = factor.length, 0.0, 1.0
    for _ in range(1000):
        if abs(value - last) <= 1e-14 * value:
            break
        vector = factor.values @ (factor.values.T @ (vector / np.linalg.norm(vector)))
        last, value = value, float(np.linalg.norm(vector))
    return float(np.sqrt(value))


def _dense(part: Triangle) -> FloatArray:
    return part if isinstance(part, np.ndarray) else np.asarray(part.toarray())
