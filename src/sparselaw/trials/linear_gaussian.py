"""Linear features of dense Gaussian inputs: one trial.

Two mirrored ways in, by the smaller of N and D (``data.gaussian_span``). N < D: the span of the embedding's
rows; in its coordinates the features are R^T g with g standard Gaussian, the teacher's part is a = Q^T
Sigma^(1/2) w, and the variance left out acts as label noise and as a floor. N >= D: the span of the data;
the embedding restricted to it is Gaussian, and what it leaves out is unseen. If both exceed the dimension
the coordinates themselves serve.
"""

from __future__ import annotations

import functools

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.data.gaussian_span import draw_span, wishart_root
from sparselaw.trials.linear_problem import (
    LinearProblem,
    OneTeacher,
    draw_one_teacher,
    problem_in_embedding,
    problem_of,
)
from sparselaw.trials.linear_readout import (
    averaged_loss,
    loss_of_readout,
    over_parameterised,
    train,
    under_parameterised,
)
from sparselaw.trials.task import Record, Task, as_record, random_stream


def trial(task: Task) -> Record:
    """Measure the loss of ``task`` on dense inputs."""
    v = task.inputs.variances(np.arange(1.0, task.inputs.dimension + 1.0))
    if task.estimator == "exact" and task.solver.rank_tolerance is not None:
        return _min_norm(task, v)
    if task.estimator == "exact" and task.solver.linear:
        loss, solution = averaged_loss(task.solver, _reduced(task, v))
        return as_record(solution, lambda: loss, ("teacher", "test", "unseen"))
    return _one_teacher(task)


def _min_norm(task: Task, v: FloatArray) -> Record:
    """Given the smaller side, averaged over the larger; infinite where the two nearly meet."""
    N, D, M = task.N, task.D, v.size
    if min(N, D) > M:  # every coordinate is learned; only label noise is left, with its N or D at M
        averaged = ("teacher", "test", "data", "u")
        if task.noise > 0.0 and D <= M + 1:
            return _infinite(f"the mean over the draws is infinite at D <= dimension + 1 (D={D})")
        loss = task.noise * M / (D - M - 1) if task.noise > 0.0 else 0.0
        return Record(loss=loss, status="ok", averaged=averaged, rank=M)
    if abs(N - D) <= 1:
        return _infinite(f"the mean over the draws is infinite at |N - D| <= 1 (N={N}, D={D})")
    if N < D:
        span = draw_span(v, N, random_stream(task, "embedding"))
        loss = under_parameterised(span.outside, N, D, task.noise)
        return Record(loss=loss, status="ok", averaged=("teacher", "test", "data"), rank=N)
    span = draw_span(v, D, random_stream(task, "data"))
    inverse = (0.0, 0.0)
    if task.noise > 0.0:
        root = np.linalg.inv(span.triangle)  # G^+ = Q R^-T R^-1 Q^T
        inverse = (float(np.sum((root @ span.inside) * root)), float(np.sum(root**2)))
    loss = over_parameterised(span.outside, D, N, task.noise, inverse)
    return Record(loss=loss, status="ok", averaged=("teacher", "test", "u"), rank=D)


def _infinite(reason: str) -> Record:
    return Record(loss=float("inf"), status="infinite", reason=reason, averaged=("teacher", "test"))


def _reduced(task: Task, v: FloatArray) -> LinearProblem:
    """The trial's linear problem, averaged over teachers."""
    N, D, M = task.N, task.D, v.size
    data = random_stream(task, "data")
    if min(N, D) > M:
        return problem_of(task, np.sqrt(v)[:, None] * wishart_root(D, M, data), v)
    if N < D:
        span = draw_span(v, N, random_stream(task, "embedding"))
        factor = wishart_root(D, N, data)
        return problem_in_embedding(task, factor, span.triangle, span.outside, span.inside)
    span = draw_span(v, D, data)
    return problem_of(task, span.triangle, span.inside, span.outside)


def _one_teacher(task: Task) -> Record:
    drawn = draw_one_teacher(task, samples=task.solver.by_samples)
    solution = train(task, drawn)
    theta = solution.coefficients[:, 0]
    if task.estimator == "raw":  # the error of a test sample is Gaussian: their mean is a chi-square
        chance = float(random_stream(task, "test").chisquare(task.n_test))
        return as_record(solution, lambda: _realised_loss(task, drawn, theta) * chance / task.n_test, ())
    loss = functools.partial(loss_of_readout, drawn.problem, drawn.teacher, theta)
    return as_record(solution, loss, ("test", "unseen"))


def _realised_loss(task: Task, drawn: OneTeacher, theta: FloatArray) -> float:
    """The population loss of this very draw: outside the data's span w and u are drawn, not averaged."""
    w, Q = drawn.whole_teacher, drawn.span
    if w is None or Q is None:
        return loss_of_readout(drawn.problem, drawn.teacher, theta)
    size = float(np.linalg.norm(theta)) / np.sqrt(task.N)
    error = w - size * random_stream(task, "outside").standard_normal(w.size)
    error += Q @ (drawn.teacher - drawn.problem.embedding.T @ theta - Q.T @ error)
    return float(task.inputs.variances(np.arange(1.0, w.size + 1.0)) @ error**2)
