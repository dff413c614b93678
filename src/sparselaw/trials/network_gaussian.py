"""A network trained on dense Gaussian inputs, taught by a linear teacher: one trial, beside the sparse one.

Every coordinate is seen in every sample, so that there is no unseen variance to compare with. The loss is
measured on a test set of ``TESTS`` samples.
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from sparselaw.networks.descent import NetworkDescent
from sparselaw.networks.lesson import Lesson
from sparselaw.networks.network import Network
from sparselaw.networks.outcome_of_training import record_values
from sparselaw.networks.strata import forward
from sparselaw.networks.train import draw_weights, train
from sparselaw.trials.task import Record, Task, random_stream

TESTS, BLOCK = 20_000, 4096


def trial(task: Task) -> Record:
    """Draw the data of ``task``, train the network, measure its loss."""
    network, adam = cast(Network, task.network), cast(NetworkDescent, task.solver)
    deviation = np.sqrt(task.inputs.variances(np.arange(1.0, task.inputs.dimension + 1.0)))
    M = deviation.size
    X = random_stream(task, "data").standard_normal((task.D, M)) * deviation
    teacher = random_stream(task, "teacher").standard_normal((task.outputs, M)).T
    lesson = Lesson(
        indptr=np.arange(0, task.D * M + 1, M),
        column=np.tile(np.arange(M), task.D),
        value=X.ravel(),
        weight=np.full(task.D, 1.0 / task.D),
        targets=X @ teacher,
        coordinates=M,
    )
    start = draw_weights(network, adam, M, task.outputs, random_stream(task, "embedding"))
    trained = train(network, adam, lesson, start)
    test, total = random_stream(task, "test"), 0.0
    for begin in range(0, TESTS, BLOCK):
        x = test.standard_normal((min(BLOCK, TESTS - begin), M)) * deviation
        said = forward(x @ trained.weights.first, trained.weights, not network.is_linear)
        total += float(np.sum((said - x @ teacher) ** 2))
    loss = total / (TESTS * task.outputs)
    return Record(**record_values(trained, loss if math.isfinite(loss) else math.inf))
