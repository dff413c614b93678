"""A network trained on inputs drawn by their activations: one trial.

The network sees the distinct samples weighted by how often each occurred. ``loss`` is the population loss
of one output, exact over the teacher's unseen part; over test inputs it is exact for linear networks and by
strata for others. ``control`` is the unseen variance of the same data (of pairs, where pairs are taught),
so that loss/control compares the network with what any learner must lose. What limits the network is its
status.
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from sparselaw.data.patterns import distinct_patterns
from sparselaw.data.sparse_samples import draw_sparse
from sparselaw.inputs import ActivationInputs
from sparselaw.networks.descent import NetworkDescent
from sparselaw.networks.facts import draw_tokens, facts_lesson
from sparselaw.networks.linear_teacher import (
    linear_lesson,
    linear_network_loss,
    relu_network_loss,
    sign_unseen_variance,
)
from sparselaw.networks.network import Network
from sparselaw.networks.outcome_of_training import record_values
from sparselaw.networks.pair_teacher import pair_lesson, pair_network_loss, seen_pairs, unseen_pair_variance
from sparselaw.networks.strata import forward, space_of
from sparselaw.networks.train import draw_weights, train
from sparselaw.trials.task import Record, Task, random_stream


def trial(task: Task) -> Record:
    """Draw the data of ``task``, train the network, measure its loss."""
    return _facts(task) if task.target == "facts" else _regression(task)


def _regression(task: Task) -> Record:
    inputs, network, adam = cast(ActivationInputs, task.inputs), cast(Network, task.network), _adam(task)
    data = draw_sparse(inputs, task.D, random_stream(task, "data"))
    patterns = distinct_patterns(inputs, data)
    unseen = inputs.unseen_variance(data.active)
    rng = random_stream(task, "teacher")
    if task.target == "pairs":
        pairs = seen_pairs(patterns, data.active.size, rng)
        lesson, control = pair_lesson(patterns, pairs), unseen_pair_variance(inputs, data.active, pairs)
    else:
        teacher = rng.standard_normal((task.outputs, data.active.size)).T
        lesson, control = linear_lesson(patterns, teacher), unseen
    start = draw_weights(network, adam, data.active.size, task.outputs, random_stream(task, "embedding"))
    trained = train(network, adam, lesson, start)
    deviation = adam.start / math.sqrt(network.width)

    def loss() -> float:
        if task.target == "linear" and network.is_linear:
            variance = inputs.variances(data.active)
            return linear_network_loss(variance, unseen, teacher, trained.weights, deviation)
        test = random_stream(task, "test")
        space = space_of(inputs, data.active, trained.weights, deviation, test)
        relu = not network.is_linear
        if task.target == "pairs":
            return pair_network_loss(inputs, control, pairs, space, relu, test)
        return relu_network_loss(inputs, unseen, teacher, space, test)

    averaged = ("unseen", "test") if network.is_linear and task.target == "linear" else ("unseen",)
    linear = task.target == "linear"
    return Record(
        **record_values(trained, loss() if np.isfinite(trained.losses[-1]) else math.inf),
        averaged=averaged,
        control=control,
        control_mean=inputs.expected_unseen(task.D) if linear else None,
        seen=data.active.size,
        sign_unseen=sign_unseen_variance(inputs, data, unseen) if linear else None,
    )


def _facts(task: Task) -> Record:
    inputs, network, adam = cast(ActivationInputs, task.inputs), cast(Network, task.network), _adam(task)
    tokens, counts = draw_tokens(inputs, task.D, random_stream(task, "data"))
    answers = random_stream(task, "teacher").integers(0, task.outputs, size=tokens.size)
    embedding = random_stream(task, "embedding")
    if network.activation == "transformer":
        from sparselaw.networks.transformer import train_transformer

        trained, wrong, missed = train_transformer(network, adam, counts, answers, task.outputs, embedding)
    else:
        lesson = facts_lesson(counts, answers, task.outputs)
        start = draw_weights(network, adam, tokens.size, task.outputs, embedding)
        trained = train(network, adam, lesson, start)
        said = forward(trained.weights.first, trained.weights, not network.is_linear).argmax(axis=1)
        wrong = (said != answers).astype(float)
        missed = float(counts @ wrong) / task.D
    total = inputs.expected_nonzeros()
    control = inputs.unseen_variance(tokens) / total * (task.outputs - 1) / task.outputs
    forgotten = float(wrong @ inputs.probabilities(tokens)) / total
    return Record(
        **record_values(trained, control + forgotten, missed),
        averaged=("unseen", "test"),
        control=control,
        seen=tokens.size,
    )


def _adam(task: Task) -> NetworkDescent:
    return cast(NetworkDescent, task.solver)
