"""What a solver's rank tolerance cuts off: directions in which the data vary, but too little.

They lie near the coordinates of the shortest rows of X_A, which are few. Split the coordinates in the short
ones S and the rest B, longer by a margin. The vectors x with x_B = W x_S are invariant under G if
W = -G_BB^-1 (G_BS - W (G_SS + G_SB W)), an iteration that gains the margin squared in each sweep. On them a
small SVD decides. No step mixes lengths: amplitudes of 1e-90 are as good as any.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, qr, solve_triangular, svd

from sparselaw.arrays import FloatArray
from sparselaw.linalg.elimination import dense, solve, solve_transposed
from sparselaw.linalg.factor import Factor

MARGIN = 30.0
SWEEPS = 6


def doubtful_rows(factor: Factor, rtol: float) -> int:
    """How many rows are short enough to make a singular value at or below ``rtol`` times the largest.

    Rows of length one are well apart (their distances from each other's spans are the pivots), so that a
    singular value far below all row lengths does not occur; thirty-fold is taken as the margin.
    """
    return int(np.count_nonzero(factor.length <= MARGIN * rtol * np.linalg.norm(factor.length)))


def cut_directions(factor: Factor, rtol: float) -> FloatArray:
    """The left singular vectors (K, c) of X_A with singular values at or below ``rtol`` times the largest.

    For a triangular factor. With dependent rows see ``without_small``.
    """
    limit = rtol * largest_singular_value(factor)
    short = factor.length <= MARGIN * limit
    if not short.any():
        return np.empty((factor.length.size, 0))
    space = _short_space(factor, short)
    span, triangle = qr(space, mode="economic", check_finite=False)
    halves = solve_triangular(triangle, (factor.values.T @ space).T, trans=1).T
    _, singular, rotation = svd(halves, full_matrices=False, check_finite=False)
    return np.asarray(span @ rotation[singular <= limit].T)


def _short_space(factor: Factor, short: NDArray[np.bool_]) -> FloatArray:
    """Columns x with x_S = I and x_B = W, invariant under G, for S the short coordinates.

    The columns of G^-1 over S are those of the first W, up to a matrix from the right; and G_BB^-1 b is what
    G^-1 b has in B, less W times what it has in S.
    """
    length, number = factor.length[short], int(np.count_nonzero(short))

    def inverse(right: FloatArray) -> FloatArray:
        return solve_transposed(factor.values, solve(factor.values, right))

    def inverse_B(right: FloatArray) -> FloatArray:
        everywhere = np.zeros((short.size, number))
        everywhere[~short] = right
        found = inverse(everywhere)
        return np.asarray(found[~short] - first @ found[short])

    scaled = np.zeros((short.size, number))
    scaled[short] = np.diag(length)
    columns = inverse(scaled)
    middle = cho_factor(length[:, None] * columns[short])  # of a matrix of order one, whatever the lengths
    first = columns[~short] @ cho_solve(middle, np.diag(length))
    G = np.asarray(factor.values @ dense(factor.values[short]).T)  # (K, |S|)
    W = first
    for _ in range(SWEEPS):
        W = inverse_B(W @ (G[short] + G[~short].T @ W) - G[~short])
    space = np.zeros((short.size, number))
    space[short], space[~short] = np.eye(number), W
    return space


def largest_singular_value(factor: Factor) -> float:
    """Of X_A, by power iteration from the row lengths."""
    vector, last, value = factor.length, 0.0, 1.0
    for _ in range(1000):
        if abs(value - last) <= 1e-14 * value:
            break
        vector = factor.values @ (factor.values.T @ (vector / np.linalg.norm(vector)))
        last, value = value, float(np.linalg.norm(vector))
    return float(np.sqrt(value))
