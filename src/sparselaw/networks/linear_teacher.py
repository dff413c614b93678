"""A linear teacher with m outputs: T x, the entries of T independent and standard normal."""

from __future__ import annotations

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.data.patterns import Patterns
from sparselaw.data.sparse_samples import SparseData
from sparselaw.inputs import ActivationInputs
from sparselaw.networks.lesson import Lesson, Weights
from sparselaw.networks.strata import Space, error_by_strata


def linear_lesson(patterns: Patterns, teacher: FloatArray) -> Lesson:
    """``teacher`` is (K, m), over the coordinates seen."""
    return Lesson(
        indptr=patterns.indptr,
        column=patterns.column,
        value=patterns.value,
        weight=patterns.counts / patterns.counts.sum(),
        targets=np.asarray(patterns.matrix(len(teacher)) @ teacher),
        coordinates=len(teacher),
    )


def linear_network_loss(
    variance: FloatArray, unseen: float, teacher: FloatArray, weights: Weights, start: float
) -> float:
    """The exact loss of a linear network, a mean over outputs, over the teacher's unseen part and over the
    untrained rows of the first layer: sum_seen s_j |T_j - B_j|^2 / m + (1 + start^2 |rest|^2 / m) unseen,
    where B = first rest."""
    rest: FloatArray = weights.last.T
    for layer in weights.hidden[::-1]:
        rest = layer.T @ rest
    error = np.mean((teacher - weights.first @ rest) ** 2, axis=1)
    response = start**2 * float(np.sum(rest**2)) / rest.shape[1]
    return float(variance @ error + (1.0 + response) * unseen)


def relu_network_loss(
    inputs: ActivationInputs, unseen: float, teacher: FloatArray, space: Space, rng: np.random.Generator
) -> float:
    """As above for any network; the error but for the teacher's unseen part is measured on strata."""
    weights = np.where(space.seen[:, None] >= 0, teacher[space.seen], 0.0)

    def target(places: FloatArray, values: FloatArray, sizes: FloatArray) -> tuple[FloatArray, FloatArray]:
        even = np.zeros_like(weights)
        for where, x in zip(places, values, strict=True):
            even[where + 1 :] += x * weights[where]
        return even, sizes[:, None] * weights

    return unseen + error_by_strata(inputs, space, True, target, rng)


def sign_unseen_variance(inputs: ActivationInputs, data: SparseData, unseen: float) -> float:
    """The variance of coordinates never seen with the sign they have: half of s_j where one sign was seen."""
    starts = np.searchsorted(data.column, np.arange(data.active.size))
    one_sign = np.maximum.reduceat(data.sign, starts) == np.minimum.reduceat(data.sign, starts)
    return unseen + 0.5 * float(np.sum(inputs.variances(data.active[one_sign])))
