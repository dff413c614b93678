"""Nonlinear features of inputs drawn by their activations: one trial.

Most sparse samples repeat, so the fit works on the distinct patterns weighted by their counts and only the
columns of u of the K coordinates seen are drawn. The teacher is averaged exactly where the solver is a linear
filter: each seen coordinate has a target of its own, and the squared errors of those K readouts sum to the
mean over teachers. Where K is large, drawn teachers take their place. The population error is in closed form
as far as the features allow and for the rest on a fresh test set, see ``nonlinear.population``.
"""

from __future__ import annotations

import dataclasses
from typing import cast

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.data.patterns import Patterns, distinct_patterns
from sparselaw.data.sparse_samples import SparseData, draw_sparse
from sparselaw.features.preactivations import preactivations
from sparselaw.inputs import ActivationInputs
from sparselaw.solvers import Solution
from sparselaw.solvers.equations import Basis, from_rows
from sparselaw.trials.nonlinear.population import Students, population_error, raw_test_error
from sparselaw.trials.outcome import as_record, finite_loss
from sparselaw.trials.task import Record, Task, random_stream

EXACT_TEACHERS = 2048  # seen coordinates up to which each has a target of its own
DRAWN_TEACHERS = 64


def trial(task: Task) -> Record:
    """Draw the data of ``task`` and measure the loss."""
    inputs = cast(ActivationInputs, task.inputs)
    data = draw_sparse(inputs, task.D, random_stream(task, "data"))
    if not data.active.size:
        unseen = inputs.unseen_variance(data.active)
        return Record(loss=unseen, status="ok", reason="no sample has a nonzero", seen=0, rank=0)
    patterns = distinct_patterns(inputs, data)
    embedding = random_stream(task, "embedding").standard_normal((len(data.active), task.N))
    embedding /= np.sqrt(task.N)
    hidden = preactivations(patterns.indptr, patterns.column, patterns.value, embedding)
    features = np.asarray(task.layer.apply(hidden), dtype=np.float64)

    teachers, averaged = _teachers(task, data)
    solution, basis, rank = _fit(task, patterns, features, teachers)
    unseen = inputs.unseen_variance(data.active)

    def loss() -> float:
        columns = solution.coefficients.shape[1] - teachers.shape[1]  # driven by label noise alone
        students = Students(
            active=data.active,
            embedding=embedding,
            theta=basis @ solution.coefficients,
            teachers=np.pad(teachers, ((0, 0), (0, columns))),
        )
        if task.estimator == "raw":
            return raw_test_error(task, inputs, students)
        return population_error(task, inputs, students)

    return dataclasses.replace(
        as_record(finite_loss(solution, loss), solution, averaged, rank),
        seen=len(data.active),
        control=unseen,
        control_mean=inputs.expected_unseen(task.D),
    )


def _teachers(task: Task, data: SparseData) -> tuple[FloatArray, tuple[str, ...]]:
    """Columns (K, T) whose squared errors sum to the mean over teachers, and what is averaged exactly."""
    K = len(data.active)
    rng = random_stream(task, "teacher")
    if task.estimator == "raw":
        return rng.standard_normal((K, 1)), ()
    if not task.solver.linear:
        return rng.standard_normal((K, 1)), ("unseen",)
    if K <= EXACT_TEACHERS:
        return np.eye(K), ("teacher", "unseen")
    return rng.standard_normal((K, DRAWN_TEACHERS)) / np.sqrt(DRAWN_TEACHERS), ("unseen",)


def _fit(
    task: Task, patterns: Patterns, features: FloatArray, teachers: FloatArray
) -> tuple[Solution, Basis, int | None]:
    """The solution, the basis it is written in, and the rank.

    Label noise enters a pattern's mean target with variance noise / count. For many teachers it has a column
    of its own, since its part of the readout is independent of theirs; one teacher takes it on board.
    """
    targets = np.asarray(patterns.matrix(len(teachers)) @ teachers)
    label_noise = random_stream(task, "noise")
    if task.solver.by_samples:
        targets = np.repeat(targets, patterns.counts, axis=0)
        targets = targets + np.sqrt(task.noise) * label_noise.standard_normal(targets.shape)
        order = random_stream(task, "order")
        if len(features) >= task.N:
            return task.solver.solve_samples(features, targets, order, patterns.counts), np.eye(task.N), None
        span, triangle = np.linalg.qr(features.T)  # fewer patterns than features: rows in their span
        return task.solver.solve_samples(triangle.T, targets, order, patterns.counts), span, None
    if task.noise > 0.0:
        noise = np.sqrt(task.noise / patterns.counts) * label_noise.standard_normal(len(targets))
        many = task.estimator == "exact" and task.solver.linear
        targets = np.column_stack([targets, noise]) if many else targets + noise[:, None]
    equations, basis = from_rows(features, targets, patterns.counts)
    return task.solver.solve(equations), basis, len(equations.eigenvalues)
