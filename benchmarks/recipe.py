"""The paper's recipe, written plainly: M x D data, N x M embedding, pinv, a fresh test set.

As the paper does, data and features are in single precision and the pseudo-inverse in double. The features of
the test set are taken in blocks, so that the recipe fits in memory.
"""

from __future__ import annotations

import numpy as np

BLOCK = 5000


def draw_sparse_matrix(alpha1, alpha2, M, D, rng):
    j = np.arange(1, M + 1)
    p = (j ** -(alpha1 + 1)).astype(np.float32)
    amplitude = (j ** (-(alpha2 + 1) / 2)).astype(np.float32)
    X = (rng.random((D, M), dtype=np.float32) < p).astype(np.float32)
    X *= amplitude
    X *= 1 - 2 * rng.integers(0, 2, (D, M), dtype=np.int8)
    return X


def draw_dense_matrix(alpha, M, D, rng):
    deviation = (np.arange(1, M + 1) ** (-(alpha + 1) / 2)).astype(np.float32)
    X = rng.standard_normal((D, M), dtype=np.float32)
    X *= deviation
    return X


def trial(draw, N, D, M, n_test, rng, relu=False):
    """One trial; ``draw(D, rng)`` gives D rows of M inputs."""

    def features(X):
        Phi = X @ u.T
        return np.maximum(Phi, 0.0, out=Phi) if relu else Phi

    w = rng.standard_normal(M).astype(np.float32)
    u = rng.standard_normal((N, M), dtype=np.float32)
    u /= np.float32(np.sqrt(N))
    X = draw(D, rng)
    Phi, y = features(X), X @ w
    theta = np.linalg.pinv(Phi.astype(np.float64), rcond=1e-10) @ y
    del X, Phi
    X = draw(n_test, rng)
    errors = [features(X[i : i + BLOCK]) @ theta - X[i : i + BLOCK] @ w for i in range(0, n_test, BLOCK)]
    return float(np.mean(np.concatenate(errors) ** 2))
