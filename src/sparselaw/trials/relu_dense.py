"""One trial of ReLU features on dense Gaussian inputs."""

from __future__ import annotations

import math

import numpy as np

from sparselaw.errors import InputError
from sparselaw.trials import relu_dense_narrow, relu_dense_wide
from sparselaw.trials.task import Record, Task

NARROW = 768  # above it, and for D < N, a few hundred test points cost less than the N x N moments


def trial(task: Task) -> Record:
    """The narrow layer has its test set averaged exactly; the wide one spares the N x M matrix instead."""
    dimension = task.inputs.dimension
    if math.isinf(dimension):
        raise InputError(
            "dimension", dimension, "dense inputs are drawn coordinate by coordinate", "choose a finite one"
        )
    spectrum = task.inputs.variances(np.arange(1.0, dimension + 1.0))
    if task.estimator == "exact" and task.N > NARROW and min(task.N, len(spectrum)) > task.D:
        return relu_dense_wide.trial(task, spectrum)
    return relu_dense_narrow.trial(task, spectrum)
