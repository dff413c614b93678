"""Which trial measures which inputs and features: those that there are, side by side.

A trial is a function of a task that returns a record. Another way of drawing samples (``inputs.sampling``) or
another kind of features (``features.kind``) is another file here and a line in ``TRIALS``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

from sparselaw.errors import InputError
from sparselaw.trials.task import Record, Task

# (how samples are drawn, kind of features) -> the module of the trial, loaded when it is first needed
TRIALS = {
    ("activations", "linear"): "sparselaw.trials.linear_activations",
    ("activations", "nonlinear"): "sparselaw.trials.nonlinear_activations",
    ("activations", "trained"): "sparselaw.trials.trained_activations",
    ("activations", "network"): "sparselaw.trials.network_activations",
    ("gaussian", "network"): "sparselaw.trials.network_gaussian",
    ("gaussian", "linear"): "sparselaw.trials.linear_gaussian",
    ("gaussian", "nonlinear"): "sparselaw.trials.nonlinear_gaussian",
}


def meeting_of(task: Task) -> tuple[str, str]:
    """The key of its trial; features that no trial measures on such inputs are refused."""
    meeting = (task.inputs.sampling, task.kind)
    if meeting not in TRIALS:
        name = "features" if task.network is None else "network"
        condition = f"has no trial for inputs drawn as {task.inputs.sampling}"
        raise InputError(name, task.kind, condition, "choose other features or inputs")
    return meeting


def trial_of(task: Task) -> Callable[[Task], Record]:
    """The trial that measures the loss of ``task``."""
    trial: Callable[[Task], Record] = importlib.import_module(TRIALS[meeting_of(task)]).trial
    return trial
