"""Nonlinear features of inputs drawn by their activations: one trial.

Most sparse samples repeat, so the fit works on the distinct patterns weighted by their counts and only the
columns of u of the K coordinates seen are drawn. The teacher is averaged exactly where the solver is a linear
filter: each seen coordinate has a target of its own, and the squared errors of those K readouts sum to the
mean over teachers. Where K is large, drawn teachers take their place. The population error is in closed form
as far as the features allow and for the rest on a fresh test set.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.data.sparse_samples import Patterns, SparseData, distinct_patterns, draw_sparse, preactivations
from sparselaw.inputs import ActivationInputs
from sparselaw.solvers import Solution
from sparselaw.solvers.equations import Basis, from_rows
from sparselaw.trials.task import Record, Task, as_record, random_stream

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
        if task.estimator == "raw":  # the paper's: one teacher, n_test samples as they come
            return _test_error(task, inputs, students, task.n_test, unseen_teachers=True)
        return population_error(task, inputs, students)

    return dataclasses.replace(
        as_record(solution, loss, averaged, rank),
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


# The population error of readouts of nonlinear features f(u x) on inputs drawn by their activations.
#
# By the symmetry x -> -x the error is an odd part plus an even part. Where the odd part of f is c z, that of
# the error is the error of the linear readout c theta, whose mean over x is a sum over coordinates:
#   odd = sum_{j in A} s_j |w_j - c u_j . theta|^2 + (1 + c^2 |theta|^2 / N) * sum_{j not in A} s_j,
# A the coordinates seen in training; u_j and w_j of the others are averaged over. Only the even part,
# E_x (theta . (f(u x) - c u x))^2, needs test inputs. For any other f the whole error does, but for the
# teacher's unseen part, which adds its variance. Test inputs are reduced to distinct patterns (for the even
# part up to sign); the columns of u of coordinates that training never touched are independent of the readout
# and drawn with the test set.

TEST_WORK = 1 << 26  # multiplications for u x over the test samples, before equal ones are merged
FEWEST_TESTS, MOST_TESTS = 2_000, 50_000  # samples; with the fewest the even part is off by a few per cent
BLOCK = 1 << 22  # features held at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Students:
    """T trained readouts and the teachers they answer to (zero columns: readouts driven by noise alone)."""

    active: FloatArray  # (K,) coordinates seen in training
    embedding: FloatArray  # (K, N) their columns of u, as rows
    theta: FloatArray  # (N, T)
    teachers: FloatArray  # (K, T)


def population_error(task: Task, inputs: ActivationInputs, students: Students) -> float:
    """E_x sum_t (w_t . x - theta_t . phi(x))^2 with unseen coordinates of w averaged over."""
    slope = task.layer.odd_slope
    unseen = inputs.unseen_variance(students.active)
    samples = int(np.clip(TEST_WORK / (task.N * inputs.expected_nonzeros()), FEWEST_TESTS, MOST_TESTS))
    if slope is None:
        return unseen + _test_error(task, inputs, students, samples, unseen_teachers=False)
    missed = students.teachers - students.embedding @ students.theta * slope
    squares = np.einsum("kt,kt->k", missed, missed)
    added = slope**2 * float(np.einsum("it,it->", students.theta, students.theta)) / task.N
    odd = float(inputs.variances(students.active) @ squares) + unseen * (1.0 + added)
    return odd + _even_error(task, inputs, students, samples)


def _even_error(task: Task, inputs: ActivationInputs, students: Students, samples: int) -> float:
    """The mean over a fresh test set of sum_t (theta_t . (f(u x) - c u x))^2."""
    rng = random_stream(task, "test")
    data = draw_sparse(inputs, samples, rng)
    # Each sample times the sign of the first of its coordinates, where it has one.
    first = np.ones(data.samples, dtype=data.sign.dtype)
    first[data.sample[::-1]] = data.sign[::-1]  # nonzeros come by coordinate: the first is written last
    data = dataclasses.replace(data, sign=data.sign * first[data.sample])
    patterns = distinct_patterns(inputs, data)
    embedding, _ = _extend(students, data.active, rng, unseen_teachers=False)
    total = 0.0
    for rows, hidden in _hidden(patterns, embedding):
        answers = task.layer.even_part(hidden) @ students.theta
        total += float(patterns.counts[rows] @ np.einsum("pt,pt->p", answers, answers))
    return total / samples


def _test_error(
    task: Task, inputs: ActivationInputs, students: Students, samples: int, *, unseen_teachers: bool
) -> float:
    """The mean over a fresh test set of the whole squared error."""
    rng = random_stream(task, "test")
    data = draw_sparse(inputs, samples, rng)
    patterns = distinct_patterns(inputs, data)
    embedding, teachers = _extend(students, data.active, rng, unseen_teachers=unseen_teachers)
    expected = np.asarray(patterns.matrix(len(data.active)) @ teachers)
    total = 0.0
    for rows, hidden in _hidden(patterns, embedding):
        answers = task.layer.apply(hidden) @ students.theta
        squares = ((expected[rows] - answers) ** 2).sum(axis=1)
        total += float(patterns.counts[rows] @ squares)
    return total / samples


def _extend(
    students: Students, active: FloatArray, rng: np.random.Generator, *, unseen_teachers: bool
) -> tuple[FloatArray, FloatArray]:
    """Columns of u (K', N) and teachers (K', T) of the test coordinates, drawn where training had none."""
    place = np.minimum(np.searchsorted(students.active, active), len(students.active) - 1)
    seen = students.active[place] == active
    new = np.count_nonzero(~seen)
    N, T = students.theta.shape
    embedding, teachers = students.embedding[place], students.teachers[place]
    embedding[~seen] = rng.standard_normal((new, N)) / np.sqrt(N)
    teachers[~seen] = rng.standard_normal((new, T)) if unseen_teachers else 0.0
    return embedding, teachers


def _hidden(patterns: Patterns, embedding: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
    """u x for the patterns, a block of them at a time: (rows, (block, N))."""
    block = max(1, BLOCK // embedding.shape[1])
    for begin in range(0, len(patterns.counts), block):
        rows = slice(begin, min(begin + block, len(patterns.counts)))
        start, stop = patterns.indptr[rows.start], patterns.indptr[rows.stop]
        indptr = patterns.indptr[rows.start : rows.stop + 1] - start
        column, value = patterns.column[start:stop], patterns.value[start:stop]
        yield rows, preactivations(indptr, column, value, embedding)
