"""What networks are taught: a linear teacher, products of pairs, answers to Zipf tokens."""

from __future__ import annotations

import math

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.data.sparse_samples import Patterns, SparseData
from sparselaw.experiments.networks.strata import Space, error_by_strata
from sparselaw.experiments.networks.train import Lesson, Weights
from sparselaw.inputs import ActivationInputs

# A linear teacher with m outputs: T x, the entries of T independent and standard normal.


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


# A teacher of products: y = sum_{i<j} v_ij x_i x_j, the v_ij independent and standard normal.
#
# What matters here is which pairs were seen together. The variance of the others, sum s_i s_j over unseen
# pairs, is what no learner can know.

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
    taught = np.zeros((space.seen.size, space.seen.size))
    taught[np.ix_(seen, seen)] = pairs

    def target(places: FloatArray, values: FloatArray, sizes: FloatArray) -> tuple[FloatArray, FloatArray]:
        even, odd = np.zeros((taught.shape[0], 1)), np.zeros((taught.shape[0], 1))
        for k, (where, x) in enumerate(zip(places, values, strict=True)):
            among = x * float(values[:k] @ taught[places[:k], where])  # with the commoner ones
            even[where + 1 :, 0] += among
            odd[where + 1 :, 0] += x * taught[where, where + 1 :]
        return even, sizes[:, None] * odd

    return unseen + error_by_strata(inputs, space, relu, target, rng)


# Facts: Zipf tokens, each with one of C answers to be memorised.
#
# A sample is one token, j with probability p_j / sum p: sparse inputs of which exactly one coordinate is
# active, with amplitude 1, so that s_j = p_j and alpha2 = -1. A token that was never seen is answered wrongly
# with probability (C-1)/C, whatever the network: the error rate is the unseen variance, over sum p, times
# (C-1)/C plus the seen tokens that were not memorised. Cross-entropy misleads, since a network is sure of
# itself on tokens it has not seen: the loss of these trials is the error rate.


def draw_tokens(inputs: ActivationInputs, D: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """The tokens seen in D draws, ascending, and how often each was.

    A token is 1 with probability 1 / sum p. Otherwise it comes from the tail of the others, which is drawn
    with the law -log(1 - p_j) by ``draw_tail`` and kept with probability p_j / -log(1 - p_j) over its
    bound.
    """
    total = inputs.expected_nonzeros()
    ones = int(rng.binomial(D, 1.0 / total))
    wanted, drawn = D - ones, [np.ones(0)]
    while (missing := wanted - sum(part.size for part in drawn)) > 0:
        proposed = inputs.draw_tail(1, int(1.5 * missing) + 16, rng)
        p = inputs.probabilities(proposed)
        kept = proposed[rng.random(proposed.size) < p / -np.log1p(-p)]
        drawn.append(kept[:missing])
    tokens, counts = np.unique(np.concatenate([np.ones(ones), *drawn]), return_counts=True)
    return tokens, counts


def facts_lesson(counts: IntArray, answers: IntArray, choices: int) -> Lesson:
    """Each token is a row of its own with one nonzero."""
    K = counts.size
    return Lesson(
        indptr=np.arange(K + 1),
        column=np.arange(K),
        value=np.ones(K),
        weight=counts / counts.sum(),
        targets=np.eye(choices)[answers],
        coordinates=K,
        classes=True,
    )
