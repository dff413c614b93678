"""The paper's own estimator: the mean squared error on one fresh test set, with one teacher.

It has the law of the naive recipe, but costs as little as the rest. Sparse: test samples are drawn by their
nonzeros; for a coordinate that training never showed, w_j - u_j . theta is one Gaussian of variance 1 +
|theta|^2/N. Dense: the error of a test sample is Gaussian of variance loss(theta), so that the test mean is
loss(theta) times a chi-square over its freedom.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.data.patterns import sign_matrix
from sparselaw.data.sparse import SparseData, draw_sparse
from sparselaw.inputs import ActivationInputs
from sparselaw.trials.linear_problem import LinearProblem
from sparselaw.trials.linear_train import Readout
from sparselaw.trials.task import Task, random_stream


def sparse_test_loss(
    task: Task, problem: LinearProblem, train: SparseData, teacher: FloatArray, readout: Readout
) -> float:
    if readout.diverged:
        return float("inf")
    theta = readout.theta
    rng = random_stream(task, "test")
    inputs = cast(ActivationInputs, task.inputs)
    test = draw_sparse(inputs, task.n_test, rng)
    spread = np.sqrt(1.0 + float(theta @ theta) / task.N)
    error = spread * rng.standard_normal(test.active.size)  # of the coordinates never seen in training
    _, in_train, in_test = np.intersect1d(train.active, test.active, return_indices=True)
    error[in_test] = (teacher - problem.embedding.T @ theta)[in_train]
    errors = sign_matrix(test).T @ (inputs.amplitudes(test.active) * error)
    return float(np.mean(errors**2))


def dense_test_loss(task: Task, population_loss: float) -> float:
    return population_loss * float(random_stream(task, "test").chisquare(task.n_test)) / task.n_test
