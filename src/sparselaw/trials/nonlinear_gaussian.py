"""Nonlinear features of dense Gaussian inputs: one trial."""

from __future__ import annotations

import numpy as np

from sparselaw.trials.nonlinear import narrow, wide
from sparselaw.trials.task import Record, Task

NARROW = 768  # above it, and for D < N, a few hundred test points cost less than the N x N moments


def trial(task: Task) -> Record:
    """The narrow layer has its test set averaged exactly; the wide one spares the N x M matrix instead."""
    spectrum = task.inputs.variances(np.arange(1.0, task.inputs.dimension + 1.0))
    if task.estimator == "exact" and task.N > NARROW and min(task.N, len(spectrum)) > task.D:
        return wide.trial(task, spectrum)
    return narrow.trial(task, spectrum)
