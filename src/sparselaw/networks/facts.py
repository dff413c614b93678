"""Facts: Zipf tokens, each with one of C answers to be memorised.

A sample is one token, j with probability p_j / sum p: sparse inputs of which exactly one coordinate is
active, with amplitude 1, so that s_j = p_j and alpha2 = -1. A token that was never seen is answered wrongly
with probability (C-1)/C, whatever the network: the error rate is the unseen variance, over sum p, times
(C-1)/C plus the seen tokens that were not memorised. Cross-entropy misleads, since a network is sure of
itself on tokens it has not seen: the loss of these trials is the error rate.
"""

from __future__ import annotations

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError
from sparselaw.inputs import ActivationInputs
from sparselaw.networks.lesson import Lesson


def check_facts(inputs: ActivationInputs) -> None:
    """Tokens have amplitude one and probabilities that can be added up."""
    if not np.allclose(inputs.squared_amplitudes(np.array([1.0, 2.0, 7.0])), 1.0):
        remedy = "choose alpha2 = -1 for facts"
        raise InputError("alpha2", getattr(inputs, "alpha2", inputs.kind), "gives tokens sizes", remedy)
    if not np.isfinite(inputs.expected_nonzeros()):
        raise InputError("alpha1", getattr(inputs, "alpha1", ""), "has no Zipf law", "choose alpha1 > 0")


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
