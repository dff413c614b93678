"""Sparse samples drawn for regressions, few enough to be a matrix, and fresh ones to try them on."""

from __future__ import annotations

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs.activations import ActivationInputs

FRESH = 600  # samples to try a regression on
HEAD = 0.02  # coordinates with a larger p have a column of draws, the others come as events


def draw_samples(
    inputs: ActivationInputs, D: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Samples (D, K) of the coordinates seen, those coordinates, and in how many samples each is."""
    after = inputs.last_above(HEAD)
    j = np.arange(1.0, after + 1.0)
    row, column = np.nonzero(rng.random((D, after)) < inputs.probabilities(j))
    events = 0 if after >= inputs.dimension else rng.poisson(D * inputs.tail_rate(after))
    rows = np.concatenate([row, rng.integers(D, size=events)])
    coordinates = np.concatenate([j[column], inputs.draw_tail(after, events, rng) if events else np.empty(0)])
    place = np.unique(np.stack([rows.astype(float), coordinates], axis=1), axis=0)
    seen, column = np.unique(place[:, 1], return_inverse=True)
    X = np.zeros((D, seen.size))
    X[place[:, 0].astype(int), column] = np.where(rng.random(len(place)) < 0.5, -1.0, 1.0)
    return X * inputs.amplitudes(seen), seen, np.abs(X).sum(axis=0)


def fresh_samples(
    inputs: ActivationInputs, seen: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Fresh samples (F, K) in the coordinates seen, their squared norms, and what each counts for.

    In half of them one of the coordinates seen is made active, each as likely: rare ones are what is missed.
    """
    drawn, place, _ = draw_samples(inputs, FRESH, rng)
    squares = np.sum(drawn**2, axis=1)
    X = np.zeros((FRESH, seen.size))
    _, here, there = np.intersect1d(seen, place, return_indices=True)
    X[:, here] = drawn[:, there]
    rows, chosen = np.arange(0, FRESH, 2), rng.integers(seen.size, size=(FRESH + 1) // 2)
    new = X[rows, chosen] == 0.0
    added = inputs.amplitudes(seen)[chosen[new]] * np.where(rng.random(int(new.sum())) < 0.5, -1.0, 1.0)
    X[rows[new], chosen[new]] = added
    squares[rows[new]] += added**2
    more = (X != 0.0) @ (1.0 / inputs.probabilities(seen)) / seen.size
    return X, squares, 1.0 / (0.5 + 0.5 * more)
