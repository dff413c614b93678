"""A teacher of products: y = sum_{i<j} v_ij x_i x_j, the v_ij independent and standard normal.

What matters here is which pairs were seen together. The variance of the others, sum s_i s_j over unseen
pairs, is what no learner can know.
"""

from __future__ import annotations

import math

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.data.patterns import Patterns
from sparselaw.inputs import ActivationInputs
from sparselaw.networks.lesson import Lesson
from sparselaw.networks.strata import Space, error_by_strata

ROUNDING = 1e-14  # of all pairs: none is left unseen


def seen_pairs(patterns: Patterns, coordinates: int, rng: np.random.Generator) -> FloatArray:
    """V (K, K), upper triangle: v_ij where i and j were seen in one sample, 0 elsewhere."""
    rows = patterns.matrix(coordinates)
    met = np.asarray((abs(rows.T) @ abs(rows)).todense()) > 0.0
    return np.triu(rng.standard_normal((coordinates, coordinates)) * met, 1)


def unseen_pair_variance(inputs: ActivationInputs, active: FloatArray, pairs: FloatArray) -> float:
    """sum_{i<j} s_i s_j over pairs that were never seen together."""
    s = inputs.variances(active)
    total = inputs.tail_variance(0)
    squares = math.fsum(inputs.variances(np.arange(1.0, min(inputs.dimension, 1e5) + 1.0)) ** 2)
    seen = float(s @ (pairs != 0.0) @ s)
    unseen = 0.5 * (total**2 - squares) - seen
    return unseen if unseen > ROUNDING * total**2 else 0.0


def pair_lesson(patterns: Patterns, pairs: FloatArray) -> Lesson:
    rows = patterns.matrix(len(pairs))
    targets = np.asarray((rows @ pairs) * rows.toarray()).sum(axis=1)
    return Lesson(
        indptr=patterns.indptr,
        column=patterns.column,
        value=patterns.value,
        weight=patterns.counts / patterns.counts.sum(),
        targets=targets[:, None],
        coordinates=len(pairs),
    )


def pair_network_loss(
    inputs: ActivationInputs,
    unseen: float,
    pairs: FloatArray,
    space: Space,
    relu: bool,
    rng: np.random.Generator,
) -> float:
    """The unseen pairs' variance, plus the error on the seen ones by strata."""
    seen = space.seen >= 0
    spread = np.zeros((space.seen.size, space.seen.size))
    spread[np.ix_(seen, seen)] = pairs

    def target(places: FloatArray, values: FloatArray, sizes: FloatArray) -> tuple[FloatArray, FloatArray]:
        even, odd = np.zeros((spread.shape[0], 1)), np.zeros((spread.shape[0], 1))
        for k, (where, x) in enumerate(zip(places, values, strict=True)):
            among = x * float(values[:k] @ spread[places[:k], where])  # with the commoner ones
            even[where + 1 :, 0] += among
            odd[where + 1 :, 0] += x * spread[where, where + 1 :]
        return even, sizes[:, None] * odd

    return unseen + error_by_strata(inputs, space, relu, target, rng)
