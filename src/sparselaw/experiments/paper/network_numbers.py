"""Numbers of one experiment, with intervals over its seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import numpy as np

from sparselaw.experiments.paper.network_runs import Experiment
from sparselaw.inputs import ActivationInputs, Inputs
from sparselaw.interval import Interval, student_interval
from sparselaw.log_slope import log_slope


def mean_ratio(experiment: Experiment, *, sign: bool) -> Interval | None:
    """Loss over unseen variance, a mean over the sweep; None where something else than the data limits it."""
    if experiment.limit:
        return None
    by_seed: dict[int, list[float]] = {}
    for task, record in zip(experiment.tasks, experiment.records, strict=True):
        over = record.sign_unseen if sign else record.control
        by_seed.setdefault(task.seed, []).append(math.log(record.loss / (over or math.nan)))
    means = student_interval([float(np.mean(values)) for values in by_seed.values()])
    return Interval(math.exp(means.low), math.exp(means.best), math.exp(means.high))


def pooled_slope(experiments: Sequence[Experiment]) -> Interval | None:
    """The mean slope of loss/unseen in D over all seeds of several sweeps; None where one is limited."""
    if any(experiment.limit for experiment in experiments):
        return None
    slopes: list[float] = []
    for experiment in experiments:
        curves: dict[int, list[float]] = {}
        for task, record in zip(experiment.tasks, experiment.records, strict=True):
            curves.setdefault(task.seed, []).append(record.loss / (record.control or math.nan))
        sizes = sorted({task.D for task in experiment.tasks})
        slopes += [float(slope) for slope in log_slope(sizes, list(curves.values()))[0]]
    return student_interval(slopes)


def over_tail(experiment: Experiment) -> Interval:
    """Loss over sum_{j>N} s_j, a mean over the widths of a sweep."""
    inputs = cast(ActivationInputs, experiment.inputs)
    N, losses = experiment.losses("N")
    tails = np.array([inputs.tail_variance(int(n)) for n in N])
    return student_interval([float(value) for value in np.mean(losses / tails[:, None], axis=0)])


def frozen_constant(inputs: Inputs) -> float:
    """C_N N^-(a-1) of frozen features over the tail N^-(a-1) / (a-1), variances j^-a."""
    return inputs.model_constant() * (inputs.spectrum - 1.0)


def median_interval(values: list[float]) -> Interval:
    """The median with its interval by order statistics (normal approximation of the ranks)."""
    ordered, n = np.sort(values), len(values)
    half = 0.98 * math.sqrt(n)
    low, high = max(0, math.floor(n / 2 - half)), min(n - 1, math.ceil(n / 2 + half))
    return Interval(float(ordered[low]), float(np.median(ordered)), float(ordered[high]))
