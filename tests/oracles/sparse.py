"""Naive twins of the sparse data code: dense matrices and plain sums."""

from __future__ import annotations

import numpy as np

from sparselaw.data.scaled_gram import ScaledGram, scaled_gram
from sparselaw.inputs import SparseInputs


def sequences(inputs: SparseInputs, M: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """p, c, s for j = 1 .. M."""
    j = np.arange(1, M + 1, dtype=float)
    p, c = j ** -(inputs.alpha1 + 1), j ** -(inputs.alpha2 + 1)
    return p, c, p * c


def draw_dense_matrix(inputs: SparseInputs, D: int, rng: np.random.Generator) -> np.ndarray:
    """The M x D matrix of inputs, entry by entry."""
    p, c, _ = sequences(inputs, int(inputs.dimension))
    active = rng.random((p.size, D)) < p[:, None]
    return active * rng.choice([-1.0, 1.0], size=active.shape) * np.sqrt(c)[:, None]


def as_matrix(inputs, data) -> np.ndarray:
    """The rows of the active coordinates, K x D."""
    X = np.zeros((data.active.size, data.samples))
    amplitude = data.active ** (-(inputs.alpha2 + 1) / 2)
    for sample, column, sign in zip(data.sample, data.column, data.sign, strict=True):
        assert X[column, sample] == 0.0
        X[column, sample] = sign * amplitude[column]
    return X


def gram_of(inputs, data) -> ScaledGram:
    return scaled_gram(data, inputs.amplitudes(data.active))


def in_full(gram: ScaledGram) -> np.ndarray:
    """G, K x K."""
    lower = gram.correlation.toarray()
    assert np.array_equal(lower, np.tril(lower))
    return gram.length[:, None] * (lower + np.tril(lower, -1).T) * gram.length
