"""Population loss of a ReLU readout under Gaussian inputs, without a test set.

With features relu(L g), g standard normal in R^m and target y = h . g + (independent part), the loss of a
readout theta is E y^2 - 2 theta . E[phi y] + theta^T R theta with E[phi y] = L h / 2 (half of a Gaussian's
linear part survives the ReLU) and R = E[phi phi^T] the arc-cosine kernel of L L^T. R is never stored: it is
formed a block of rows at a time, so that N = 16,000 needs a block and the factor L, not N x N matrices.
"""

from __future__ import annotations

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.features.relu import gaussian_moments

BLOCK = 512  # rows of R at a time


def predicted_square(factor: FloatArray, theta: FloatArray, block: int = BLOCK) -> float:
    """sum over columns of theta^T R theta, R the second moments of relu(factor @ g)."""
    deviations = np.sqrt(np.einsum("ij,ij->i", factor, factor))
    total = 0.0
    for begin in range(0, len(factor), block):
        rows = slice(begin, begin + block)
        moments = gaussian_moments(factor[rows] @ factor[begin:].T, deviations[rows], deviations[begin:])
        share = np.einsum("it,it->", theta[rows], moments @ theta[begin:])
        own = moments[:, : len(theta[rows])]
        # R is symmetric: blocks right of the diagonal count twice
        total += float(2.0 * share - np.einsum("it,ij,jt->", theta[rows], own, theta[rows], optimize=True))
    return total


def population_loss(
    factor: FloatArray, signal: FloatArray, theta: FloatArray, target_square: float, block: int = BLOCK
) -> float:
    """The loss summed over columns: targets h_t . g (``signal`` (m, T)), readouts theta (N, T).

    ``target_square`` is sum E y^2. Columns of theta beyond those of ``signal`` answer to no target: they are
    the part of the readout driven by noise, which adds theta^T R theta alone.
    """
    answered = theta[:, : signal.shape[1]]
    overlap = float(np.einsum("it,it->", answered, factor @ signal)) / 2.0
    return target_square - 2.0 * overlap + predicted_square(factor, theta, block)
