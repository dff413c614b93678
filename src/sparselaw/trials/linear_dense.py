"""Dense Gaussian inputs, linear features: one trial.

Two mirrored ways in, by the smaller of N and D (see ``data.dense``). N < D: the span of the embedding's
rows; in its coordinates the features are R^T g with g standard Gaussian, the teacher's part is a = Q^T
Sigma^(1/2) w, and the variance left out acts as label noise and as a floor. N >= D: the span of the data;
the embedding restricted to it is Gaussian, and what it leaves out is unseen. If both exceed the dimension
the coordinates themselves serve.
"""

from __future__ import annotations

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.data.dense import draw_span, factor_vectors
from sparselaw.trials.linear_closed import over_parameterised, under_parameterised
from sparselaw.trials.linear_filter import averaged_loss, prepare
from sparselaw.trials.linear_problem import LinearProblem, draw_embedding, wishart_root
from sparselaw.trials.linear_raw import dense_test_loss
from sparselaw.trials.linear_sparse import as_record
from sparselaw.trials.linear_train import Readout, loss_of_readout, train, train_by_samples
from sparselaw.trials.task import Record, Task, random_stream


def trial(task: Task) -> Record:
    """Measure the loss of ``task`` on dense inputs."""
    v = task.inputs.variances(np.arange(1.0, task.inputs.dimension + 1.0))
    if task.estimator == "exact" and task.solver.rank_tolerance is not None:
        return _min_norm(task, v)
    if task.estimator == "exact" and task.solver.linear:
        loss, solution = averaged_loss(task.solver, prepare(_reduced(task, v)))
        return as_record(loss, solution, averaged=("teacher", "test", "unseen"))
    return _one_teacher(task, v)


def _min_norm(task: Task, v: FloatArray) -> Record:
    """Given the smaller side, averaged over the larger; infinite where the two nearly meet."""
    N, D, M = task.N, task.D, v.size
    if min(N, D) > M:  # every coordinate is learned; only label noise is left, with its N or D at M
        return _fully_learned(task, M)
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


def _fully_learned(task: Task, M: int) -> Record:
    if task.noise == 0.0:
        return Record(loss=0.0, status="ok", averaged=("teacher", "test", "data", "u"), rank=M)
    if task.D <= M + 1:
        return _infinite(f"the mean over the draws is infinite at D <= dimension + 1 (D={task.D})")
    loss = task.noise * M / (task.D - M - 1)
    return Record(loss=loss, status="ok", averaged=("teacher", "test", "data", "u"), rank=M)


def _infinite(reason: str) -> Record:
    return Record(loss=float("inf"), status="infinite", reason=reason, averaged=("teacher", "test"))


def _reduced(task: Task, v: FloatArray) -> LinearProblem:
    """The trial's linear problem, averaged over teachers."""
    N, D, M = task.N, task.D, v.size
    data, embedding = random_stream(task, "data"), random_stream(task, "embedding")
    if min(N, D) > M:
        return _in_coordinates(task, v, np.sqrt(v)[:, None] * wishart_root(D, M, data))
    if N < D:
        span = draw_span(v, N, embedding)
        return LinearProblem(
            factor=wishart_root(D, N, data),
            embedding=span.triangle.T / np.sqrt(N),
            covariance=np.ones(N),
            teacher_covariance=span.inside,
            unseen=0.0,
            floor=span.outside,
            noise=span.outside + task.noise,
            width=N,
            samples=D,
        )
    span = draw_span(v, D, data)
    return _in_data_span(task, span.triangle, span.inside, span.outside)


def _in_coordinates(task: Task, v: FloatArray, factor: FloatArray) -> LinearProblem:
    return LinearProblem(
        factor=factor,
        embedding=draw_embedding(task.N, v.size, random_stream(task, "embedding")),
        covariance=v,
        teacher_covariance=None,
        unseen=0.0,
        floor=0.0,
        noise=task.noise,
        width=task.N,
        samples=task.D,
    )


def _in_data_span(task: Task, triangle: FloatArray, inside: FloatArray, outside: float) -> LinearProblem:
    return LinearProblem(
        factor=triangle,
        embedding=draw_embedding(task.N, task.D, random_stream(task, "embedding")),
        covariance=inside,
        teacher_covariance=None,
        unseen=outside,
        floor=0.0,
        noise=task.noise,
        width=task.N,
        samples=task.D,
    )


def _one_teacher(task: Task, v: FloatArray) -> Record:
    """One teacher w. The vectors of the smaller side are kept, so that w's own left-out variance is known."""
    N, D, M = task.N, task.D, v.size
    w = random_stream(task, "teacher").standard_normal(M)
    data, embedding = random_stream(task, "data"), random_stream(task, "embedding")
    deviation = np.sqrt(v)
    by_samples = task.solver.by_samples
    if min(N, D) > M:
        samples = deviation[:, None] * (
            data.standard_normal((M, D)) if by_samples else wishart_root(D, M, data)
        )
        problem, teacher = _in_coordinates(task, v, samples), w
    elif N < D:
        Q, R = factor_vectors(v, embedding.standard_normal((M, N)))
        teacher = Q.T @ (deviation * w)
        left = deviation * w - Q @ teacher
        samples = data.standard_normal((N, D)) if by_samples else wishart_root(D, N, data)
        problem = LinearProblem(
            factor=samples,
            embedding=R.T / np.sqrt(N),
            covariance=np.ones(N),
            teacher_covariance=None,
            unseen=0.0,
            floor=float(left @ left),
            noise=float(left @ left) + task.noise,
            width=N,
            samples=D,
        )
    else:
        Q, samples = factor_vectors(v, data.standard_normal((M, D)))
        teacher = Q.T @ w
        inside = (Q.T * v) @ Q
        problem = _in_data_span(task, samples, inside, max(float(v.sum() - np.trace(inside)), 0.0))
    noise = random_stream(task, "noise")
    if by_samples:
        order = random_stream(task, "order")
        readout = train_by_samples(task.solver, problem, teacher, samples.T, None, noise, order)
    else:
        readout = train(task.solver, problem, teacher, noise)
    if task.estimator == "raw":
        outside = (w, Q) if D <= N and D <= M else None
        loss = dense_test_loss(task, _realised_loss(task, v, problem, teacher, readout, outside))
        return as_record(loss, readout.solution, averaged=())
    return as_record(
        loss_of_readout(problem, teacher, readout), readout.solution, averaged=("test", "unseen")
    )


def _realised_loss(
    task: Task,
    v: FloatArray,
    problem: LinearProblem,
    teacher: FloatArray,
    readout: Readout,
    outside: tuple[FloatArray, FloatArray] | None,
) -> float:
    """The population loss of this very draw: outside the data's span w and u are drawn, not averaged."""
    if outside is None or readout.diverged:
        return loss_of_readout(problem, teacher, readout)
    w, Q = outside
    theta = readout.theta
    size = float(np.linalg.norm(theta)) / np.sqrt(task.N)
    error = w - size * random_stream(task, "outside").standard_normal(v.size)
    error += Q @ (teacher - problem.embedding.T @ theta - Q.T @ error)
    return float(v @ error**2)
