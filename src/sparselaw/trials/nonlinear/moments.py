"""Population loss of a readout of nonlinear features under Gaussian inputs, without a test set.

With features f(L g), g standard normal in R^m and target y = h . g + (independent part), the loss of a
readout theta is E y^2 - 2 theta . E[phi y] + theta^T R theta with E[phi_i y] = E[f'] (L h)_i (Stein) and
R = E[phi phi^T]. For the ReLU E[f'] = 1/2 and R is the arc-cosine kernel of L L^T. R is never stored: it is
formed a block of rows at a time, so that N = 16,000 needs a block and the factor L, not N x N matrices.
"""

from __future__ import annotations

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.features import Layer

BLOCK = 512  # rows of R at a time


def known(layer: Layer) -> bool:
    """Whether the features have their Gaussian moments in closed form."""
    one = np.ones(1)
    moments = layer.gaussian_moments(one[:, None], one, one)
    return moments is not None and layer.gaussian_slopes(one) is not None


def predicted_square(layer: Layer, factor: FloatArray, theta: FloatArray, block: int = BLOCK) -> float:
    """sum over columns of theta^T R theta, R the second moments of f(factor @ g)."""
    deviations = np.sqrt(np.einsum("ij,ij->i", factor, factor))
    total = 0.0
    for begin in range(0, len(factor), block):
        rows = slice(begin, begin + block)
        covariance = factor[rows] @ factor[begin:].T
        moments = layer.gaussian_moments(covariance, deviations[rows], deviations[begin:])
        assert moments is not None
        share = np.einsum("it,it->", theta[rows], moments @ theta[begin:])
        own = moments[:, : len(theta[rows])]
        # R is symmetric: blocks right of the diagonal count twice
        total += float(2.0 * share - np.einsum("it,ij,jt->", theta[rows], own, theta[rows], optimize=True))
    return total


def population_loss(
    layer: Layer,
    factor: FloatArray,
    signal: FloatArray,
    theta: FloatArray,
    target_square: float,
    block: int = BLOCK,
) -> float:
    """The loss summed over columns: targets h_t . g (``signal`` (m, T)), readouts theta (N, T).

    ``target_square`` is sum E y^2. Columns of theta beyond those of ``signal`` answer to no target: they are
    the part of the readout driven by noise, which adds theta^T R theta alone.
    """
    slopes = layer.gaussian_slopes(np.sqrt(np.einsum("ij,ij->i", factor, factor)))
    assert slopes is not None
    answered = theta[:, : signal.shape[1]]
    along = factor @ signal
    along *= slopes[:, None]
    overlap = float(np.einsum("it,it->", answered, along))
    return target_square - 2.0 * overlap + predicted_square(layer, factor, theta, block)
