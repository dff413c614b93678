"""The paper's own estimator: the mean squared error on one fresh test set, with one teacher.

It has the law of the naive recipe, but costs as little as the rest. Sparse: test samples are drawn by their
nonzeros; for a coordinate that training never showed, w_j - u_j . theta is one Gaussian of variance 1 +
|theta|^2/N. Dense: the error of a test sample is Gaussian of variance loss(theta), so that the test mean is
loss(theta) times a chi-square over its freedom.
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from sparselaw.data.patterns import sign_matrix
from sparselaw.data.sparse_samples import SparseData, draw_sparse
from sparselaw.inputs import ActivationInputs
from sparselaw.trials.linear.one_teacher import OneTeacher
from sparselaw.trials.linear.readout import Readout
from sparselaw.trials.task import Task, random_stream


def activations_test_loss(task: Task, drawn: OneTeacher, train: SparseData, readout: Readout) -> float:
    if readout.diverged:
        return float("inf")
    inputs, theta = cast(ActivationInputs, task.inputs), readout.theta
    rng = random_stream(task, "test")
    test = draw_sparse(inputs, task.n_test, rng)
    _, in_train, in_test = np.intersect1d(train.active, test.active, return_indices=True)
    with np.errstate(over="ignore", invalid="ignore"):  # noise whose squares no number holds
        spread = np.sqrt(1.0 + float(theta @ theta) / task.N)
        error = spread * rng.standard_normal(test.active.size)  # of the coordinates never seen in training
        error[in_test] = (drawn.teacher - drawn.problem.embedding.T @ theta)[in_train]
        errors = sign_matrix(test).T @ (inputs.amplitudes(test.active) * error)
        loss = float(np.mean(errors**2))
    return loss if math.isfinite(loss) else math.inf


def gaussian_test_loss(task: Task, population_loss: float) -> float:
    return population_loss * float(random_stream(task, "test").chisquare(task.n_test)) / task.n_test
