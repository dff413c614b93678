"""A network trained on inputs drawn by their activations: one trial.

The network sees the distinct samples weighted by how often each occurred. ``loss`` is the population loss
of one output, exact over the teacher's unseen part; over test inputs it is exact for linear networks and by
strata for others. ``control`` is the unseen variance of the same data (of pairs, where pairs are taught),
so that loss/control compares the network with what any learner must lose. What limits the network is its
status.
"""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
from scipy import sparse

from sparselaw.data.sparse_samples import distinct_patterns, draw_sparse
from sparselaw.experiments.networks.network import Network, NetworkDescent
from sparselaw.experiments.networks.teachers import (
    draw_tokens,
    forward,
    linear_network_loss,
    pair_network_loss,
    pair_targets,
    relu_network_loss,
    seen_pairs,
    sign_unseen_variance,
    space_of,
    unseen_pair_variance,
)
from sparselaw.experiments.networks.train import Lesson, Trained, draw_weights, train
from sparselaw.inputs import ActivationInputs
from sparselaw.trials.run import FLOPS, Needs, expected_patterns, finite_dimension
from sparselaw.trials.task import Record, Task, random_stream


def trial(task: Task) -> Record:
    """Draw the data of ``task``, train the network, measure its loss."""
    if task.inputs.sampling != "activations":
        return _gaussian(task)
    return _facts(task) if task.target == "facts" else _regression(task)


def _regression(task: Task) -> Record:
    inputs, network, adam = cast(ActivationInputs, task.inputs), cast(Network, task.network), _adam(task)
    data = draw_sparse(inputs, task.D, random_stream(task, "data"))
    patterns = distinct_patterns(inputs, data)
    rows, share = patterns.matrix(data.active.size), patterns.counts / patterns.counts.sum()
    unseen = inputs.unseen_variance(data.active)
    rng = random_stream(task, "teacher")
    if task.target == "pairs":
        pairs = seen_pairs(rows, rng)
        targets, control = pair_targets(rows, pairs), unseen_pair_variance(inputs, data.active, pairs)
    else:
        teacher = rng.standard_normal((task.outputs, data.active.size)).T
        targets, control = np.asarray(rows @ teacher), unseen
    start = draw_weights(network, adam, data.active.size, task.outputs, random_stream(task, "embedding"))
    trained = train(network, adam, Lesson(rows, share, targets), start)
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

    linear = task.target == "linear"
    return Record(
        **record_values(trained, loss() if np.isfinite(trained.losses[-1]) else math.inf),
        averaged=("unseen", "test") if network.is_linear and linear else ("unseen",),
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
        from sparselaw.experiments.networks.transformer import train_transformer

        trained, wrong, missed = train_transformer(network, adam, counts, answers, task.outputs, embedding)
    else:
        rows = sparse.eye_array(tokens.size, format="csr")  # each token with one nonzero
        lesson = Lesson(rows, counts / counts.sum(), np.eye(task.outputs)[answers], classes=True)
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


# A network trained on dense Gaussian inputs, taught by a linear teacher: one trial, beside the sparse one.
#
# Every coordinate is seen in every sample, so that there is no unseen variance to compare with. The loss is
# measured on a test set of ``TESTS`` samples.

TESTS, BLOCK = 20_000, 4096


def _gaussian(task: Task) -> Record:
    network, adam = cast(Network, task.network), _adam(task)
    deviation = np.sqrt(task.inputs.variances(np.arange(1.0, task.inputs.dimension + 1.0)))
    M = deviation.size
    X = random_stream(task, "data").standard_normal((task.D, M)) * deviation
    teacher = random_stream(task, "teacher").standard_normal((task.outputs, M)).T
    lesson = Lesson(sparse.csr_array(X), np.full(task.D, 1.0 / task.D), X @ teacher)
    start = draw_weights(network, adam, M, task.outputs, random_stream(task, "embedding"))
    trained = train(network, adam, lesson, start)
    test, total = random_stream(task, "test"), 0.0
    for begin in range(0, TESTS, BLOCK):
        x = test.standard_normal((min(BLOCK, TESTS - begin), M)) * deviation
        said = forward(x @ trained.weights.first, trained.weights, not network.is_linear)
        total += float(np.sum((said - x @ teacher) ** 2))
    loss = total / (TESTS * task.outputs)
    return Record(**record_values(trained, loss if math.isfinite(loss) else math.inf))


# What limits a trained network: its data, its optimiser, or its width.
#
# ok                  training loss below 5 % of the loss: the data limit it;
# not-converged       above, and the training loss was still falling: the optimiser limits it;
# not-data-limited    above, and it had settled: the width limits it.

DATA_LIMITED = 0.05  # training loss over population loss
ROUNDING = 1e-12  # of the first training loss: nothing is left to learn
SETTLED = 0.1  # fall of the training loss over the second half of the steps, below which it has settled,
STEEP = 0.1  # unless the gradient is still this part of the first


def record_values(trained: Trained, loss: float, error_rate: float | None = None) -> dict[str, Any]:
    """The fields of a record that training decides.

    ``error_rate`` on the training samples takes the place of the training loss where the loss is one too.
    Whether it still falls is seen by the cross-entropy behind it.
    """
    losses = trained.losses
    final = float(losses[-1]) if error_rate is None else error_rate
    status, reason = "ok", ""
    if not np.isfinite(losses[-1]):
        status, reason, loss = "diverged", "the training loss is not finite", math.inf
    elif final > DATA_LIMITED * loss and final > ROUNDING * losses[0]:
        falling = losses[-1] < (1.0 - SETTLED) * losses[losses.size // 2]
        limited = falling or trained.gradient > STEEP
        status = "not-converged" if limited else "not-data-limited"
        reason = f"training loss {final:.2g}, loss {loss:.2g}"
    return {
        "loss": loss,
        "status": status,
        "reason": reason,
        "iterations": losses.size - 1,
        "gradient": trained.gradient,
        "train": final if math.isfinite(final) else None,
    }


def needs(task: Task) -> Needs:
    """Memory and time of a trial, before it starts."""
    N, m, D, steps = float(task.N), float(task.outputs), float(task.D), _adam(task).steps
    layers = 6.0 * m + 6.0 * (cast(Network, task.network).depth - 2) * N  # work of a unit behind the first
    if task.inputs.sampling != "activations":
        M = finite_dimension(task)
        memory = 40.0 * (D + 4096.0) * M + 48.0 * M * N + 1e6
        return Needs(memory=memory, seconds=1e-2 + steps * D * N * (4.0 * M + layers) / (0.3 * FLOPS))
    inputs, facts = cast(ActivationInputs, task.inputs), task.target == "facts"
    K = inputs.expected_seen(task.D)
    P = K if facts else expected_patterns(inputs, task.D)
    nonzeros = 1.0 if facts else inputs.expected_nonzeros()
    weights = (K + layers / 6.0) * N
    step = P * N * (4.0 * nonzeros + layers) + 30.0 * weights
    memory = 40.0 * D * nonzeros + 48.0 * weights + 16.0 * P * m + 200.0 * K * N
    if task.target == "pairs":
        memory += 40.0 * K * K + 16.0 * P * K
    return Needs(memory=memory, seconds=1e-2 + 5e-8 * D * nonzeros + steps * step / (0.3 * FLOPS))
