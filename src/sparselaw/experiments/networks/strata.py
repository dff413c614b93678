"""Test inputs by their rarest active coordinate: the error on rare coordinates without waiting for them.

The error of a trained network sits on coordinates seen once, or with one sign, or never: events of
probability 1/D, which a plain test set hardly holds. So test inputs are sorted by their rarest active
coordinate s:

    E g(x) = sum_s P(s) E[g(x) | s],      P(s) = p_s prod_{r > s} (1 - p_r),

where given s the commoner coordinates are active as ever and s has either sign. A background is one sample of
all coordinates; cut off before s and with x_s = +-sqrt(c_s) put in, it is a test input of stratum s. Every
background serves all strata. The space holds the coordinates seen and as many of the first that were not;
beyond it coordinates are left out of x here (what the teacher does with them is in the unseen variance).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.data.sparse_samples import by_sample, draw_sparse
from sparselaw.experiments.networks.train import Weights
from sparselaw.inputs import ActivationInputs

BACKGROUNDS = 32
BEYOND = 2  # unseen coordinates are in the space up to so many times the number seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """S coordinates in ascending order; the first layer has a row for each, drawn where not trained."""

    coordinate: FloatArray  # (S,)
    amplitude: FloatArray
    probability: FloatArray  # (S,) of being the rarest one active
    seen: FloatArray  # (S,) index into the coordinates seen, -1 where unseen
    weights: Weights


def space_of(
    inputs: ActivationInputs, active: FloatArray, weights: Weights, start: float, rng: np.random.Generator
) -> Space:
    """``start`` is the deviation of the first layer's entries before training: unseen rows are still so."""
    nearest = np.arange(1.0, min(inputs.dimension, BEYOND * active.size + 16.0) + 1.0)
    coordinate = np.union1d(active, nearest)
    place = np.searchsorted(active, coordinate)
    inside = place < active.size
    inside[inside] = active[place[inside]] == coordinate[inside]
    seen = np.where(inside, place, -1)
    first = rng.standard_normal((coordinate.size, weights.first.shape[1])) * start
    first[inside] = weights.first[seen[inside]]
    p = inputs.probabilities(coordinate)
    none_beyond = np.concatenate([np.cumprod((1.0 - p)[::-1])[::-1][1:], [1.0]])
    return Space(
        coordinate=coordinate,
        amplitude=inputs.amplitudes(coordinate),
        probability=p * none_beyond,
        seen=seen,
        weights=Weights(first=first, hidden=weights.hidden, last=weights.last),
    )


def error_by_strata(
    inputs: ActivationInputs,
    space: Space,
    relu: bool,
    target: Callable[[FloatArray, FloatArray, FloatArray], tuple[FloatArray, FloatArray]],
    rng: np.random.Generator,
) -> float:
    """E |target(x) - f(x)|^2 over x in the space, a mean over outputs.

    ``target(places, values, sizes)`` is what the teacher says of a background with these nonzeros, for all
    strata at once: a part that does not change with the sign of x_s, and one that does (S, m).
    """
    indptr, column, sign = by_sample(drawn := draw_sparse(inputs, BACKGROUNDS, rng))
    size = inputs.amplitudes(drawn.active)
    place = np.searchsorted(space.coordinate, drawn.active)
    place[place == space.coordinate.size] = 0
    inside = space.coordinate[place] == drawn.active
    own = space.amplitude[:, None] * space.weights.first
    total = np.zeros(space.coordinate.size)
    for b in range(BACKGROUNDS):
        columns = column[indptr[b] : indptr[b + 1]]
        values = sign[indptr[b] : indptr[b + 1]] * size[columns]
        kept = inside[columns]
        places, values = place[columns[kept]], values[kept]
        base = np.zeros_like(own)
        for where, x in zip(places, values, strict=True):
            base[where + 1 :] += x * space.weights.first[where]
        even, odd = target(places, values, space.amplitude)
        for turned in (1.0, -1.0):
            error = forward(base + turned * own, space.weights, relu) - (even + turned * odd)
            total += np.mean(error**2, axis=1)
    return float(space.probability @ total) / (2 * BACKGROUNDS)


def forward(z: FloatArray, weights: Weights, relu: bool) -> FloatArray:
    """The outputs (rows, m) from the preactivations of the first layer (rows, N)."""
    act = np.maximum(z, 0.0) if relu else z
    for layer in weights.hidden:
        act = np.maximum(act @ layer.T, 0.0) if relu else act @ layer.T
    outputs: FloatArray = act @ weights.last.T
    return outputs
