"""Trials of linear features: of inputs drawn by their activations, of dense ones, and trained features.

Inputs drawn by their activations: only the active coordinates A matter, G = X_A X_A^T and the columns u_A.
Everything else is averaged exactly, and so is what lies between coordinates that were only seen together.
Minimum norm, with r the rank of X_A:
  N > r + 1        closed form, averaged over u too;
  N <= r - 2       one draw of u (for r/2 < N of its null space), averaged over teacher and unseen columns;
  |N - r| <= 1     the same, but the mean over u is infinite there: the loss of one u is finite and is what is
                   recorded, with a reason that says so. Medians over seeds are the thing to look at.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import cast

import numpy as np
from scipy.linalg import qr, solve_triangular, svd

from sparselaw.arrays import FloatArray
from sparselaw.data.factor import Factor, left_out, sparse_factor, without_small
from sparselaw.data.gaussian_span import draw_span, wishart_root
from sparselaw.data.scaled_gram import told_apart
from sparselaw.data.tolerance import doubtful_rows, outside_kept
from sparselaw.inputs import ActivationInputs
from sparselaw.trials.linear_problem import (
    LinearProblem,
    OneTeacher,
    draw_one_teacher,
    draw_seen,
    one_teacher_of_seen,
    problem_in_embedding,
    problem_of,
)
from sparselaw.trials.linear_readout import (
    activations_test_loss,
    averaged_loss,
    dual_loss,
    inverse_traces,
    loss_of_readout,
    min_norm_loss,
    over_parameterised,
    train,
)
from sparselaw.trials.task import Record, Task, as_record, random_stream

NOTHING_SEEN = "no sample has a nonzero"
INFINITE_MEAN = "one draw of u: at |N - rank| <= 1 the mean over u is infinite, compare medians"


def sparse(task: Task) -> Record:
    """Draw the data of ``task`` and measure the loss."""
    inputs, seen = cast(ActivationInputs, task.inputs), draw_seen(task)
    if not seen.variance.size:
        record = Record(
            loss=seen.unseen, status="ok", reason=NOTHING_SEEN, averaged=("teacher", "test"), rank=0
        )
    elif task.estimator == "exact" and task.solver.linear:
        apart = told_apart(seen.gram, seen.variance)
        record = _averaged(task, sparse_factor(apart.gram), apart.variance, seen.unseen + apart.across)
    else:
        drawn = one_teacher_of_seen(task, task.solver.by_samples, seen)
        test_loss = functools.partial(activations_test_loss, task, drawn, seen.visible)
        record = _one_teacher(task, drawn, test_loss, int(drawn.problem.factor.shape[1]))
    active, all_visible = seen.drawn.active, seen.visible is seen.drawn
    return dataclasses.replace(
        record,
        seen=active.size,
        control=seen.unseen if all_visible else inputs.unseen_variance(active),
        control_mean=inputs.expected_unseen(task.D),
    )


def _averaged(task: Task, factor: Factor, variance: FloatArray, unseen: float) -> Record:
    """The mean over teachers, which a solver that is linear in the labels allows."""
    rtol = task.solver.rank_tolerance
    if rtol is not None:
        return _min_norm(task, rtol, factor, variance, unseen)
    loss, solution = averaged_loss(task.solver, problem_of(task, factor.values, variance, unseen))
    return as_record(solution, lambda: loss, ("teacher", "test", "unseen"), factor.rank)


def _min_norm(task: Task, rtol: float, factor: Factor, variance: FloatArray, unseen: float) -> Record:
    K, rank, outside = variance.size, factor.rank, None
    doubtful = doubtful_rows(factor, rtol)
    if doubtful > 0 and factor.rank - doubtful - 2 < task.N:  # only here can the cut change the branch
        rank, outside = outside_kept(factor, variance, rtol)
    smaller = task.noise == 0.0 and K < 2 * task.N <= 2 * (K - 2)  # label noise would need the rest of u
    if doubtful == 0 and factor.triangular and smaller:
        null = random_stream(task, "embedding").standard_normal((K, K - task.N))
        loss = dual_loss(factor.values, null, variance, unseen)
        return Record(loss=loss, status="ok", averaged=("teacher", "test", "unseen"), rank=K)
    if rank + 1 >= task.N:
        loss, solution = min_norm_loss(task.solver, rtol, problem_of(task, factor.values, variance, unseen))
        record = Record(loss=loss, status="ok", averaged=("teacher", "test", "unseen"), rank=rank)
        if solution is not None:
            record = as_record(solution, lambda: loss, record.averaged, rank)
        if rank - 1 <= task.N and record.status == "ok":
            record = dataclasses.replace(record, reason=INFINITE_MEAN)
        return record
    if outside is None:
        outside = left_out(factor, variance)
    inverse, small = (0.0, 0.0), factor.rank - rank
    if task.noise > 0.0:
        kept = without_small(factor, rtol) if small else factor
        inverse = inverse_traces(kept.dense(), variance)
    return Record(
        loss=over_parameterised(unseen + outside, rank, task.N, task.noise, inverse),
        status="rank-deficient" if small else "ok",
        reason=f"{small} singular values below rtol={rtol:g}" if small else "",
        averaged=("teacher", "test", "unseen", "u"),
        rank=rank,
    )


def _one_teacher(
    task: Task, drawn: OneTeacher, test_loss: Callable[[FloatArray], float], rank: int | None = None
) -> Record:
    """One teacher and one label noise; the unseen part of the loss still exact unless raw."""
    solution = train(task, drawn)
    theta = solution.coefficients[:, 0]
    if task.estimator == "raw":
        return as_record(solution, lambda: test_loss(theta), (), rank)
    loss = functools.partial(loss_of_readout, drawn.problem, drawn.teacher, theta)
    return as_record(solution, loss, ("test", "unseen"), rank)


# Linear features of dense Gaussian inputs: one trial.
#
# Two mirrored ways in, by the smaller of N and D (``data.gaussian_span``). N < D: the span of the embedding's
# rows; in its coordinates the features are R^T g with g standard Gaussian, the teacher's part is a = Q^T
# Sigma^(1/2) w, and the variance left out acts as label noise and as a floor. N >= D: the span of the data;
# the embedding restricted to it is Gaussian, and what it leaves out is unseen. If both exceed the dimension
# the coordinates themselves serve.


def dense(task: Task) -> Record:
    """Measure the loss of ``task`` on dense inputs."""
    v = task.inputs.variances(np.arange(1.0, task.inputs.dimension + 1.0))
    if task.estimator == "exact" and task.solver.rank_tolerance is not None:
        return _gaussian_min_norm(task, v)
    if task.estimator == "exact" and task.solver.linear:
        loss, solution = averaged_loss(task.solver, _reduced(task, v))
        return as_record(solution, lambda: loss, ("teacher", "test", "unseen"))
    drawn = draw_one_teacher(task, samples=task.solver.by_samples)

    def test_loss(
        theta: FloatArray,
    ) -> float:  # the error of a sample is Gaussian: their mean is a chi-square
        return _realised_loss(task, drawn, theta) * float(chance.chisquare(task.n_test)) / task.n_test

    chance = random_stream(task, "test")
    return _one_teacher(task, drawn, test_loss)


def _gaussian_min_norm(task: Task, v: FloatArray) -> Record:
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
        loss = span.outside + (span.outside + task.noise) * N / (D - N - 1)
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


def _realised_loss(task: Task, drawn: OneTeacher, theta: FloatArray) -> float:
    """The population loss of this very draw: outside the data's span w and u are drawn, not averaged."""
    w, Q = drawn.whole_teacher, drawn.span
    if w is None or Q is None:
        return loss_of_readout(drawn.problem, drawn.teacher, theta)
    size = float(np.linalg.norm(theta)) / np.sqrt(task.N)
    error = w - size * random_stream(task, "outside").standard_normal(w.size)
    error += Q @ (drawn.teacher - drawn.problem.embedding.T @ theta - Q.T @ error)
    return float(task.inputs.variances(np.arange(1.0, w.size + 1.0)) @ error**2)


# Trained linear features of inputs drawn by their activations: one trial, with no optimiser.
#
# A two-layer linear network of width N computes B x with any B (m x M) of rank at most N. With the targets T
# x, T of independent standard normal entries, and the data's second moments G = F F^T over the active
# coordinates, least squares is |T F - B F|^2, whose minimum over B keeps the N largest singular directions U
# of T F:
#
#     B = U U^T T F F^+        (Eckart and Young; reduced-rank regression),
#
# of minimum norm where rows of the data are dependent. Label noise of variance q adds sqrt(q) Z to T F, Z of
# standard normal entries. The loss is that of one output,
#
#     sum_{j seen} s_j |(T - B)_j|^2 / m + sum_{j unseen} s_j,
#
# exact over test inputs and over the teacher's unseen part. Where N >= min(m, rank) every direction is kept,
# and without noise the loss is exact over the teacher too.


def trained(task: Task) -> Record:
    """Draw the data of ``task`` and find the best network's loss."""
    inputs, seen = cast(ActivationInputs, task.inputs), draw_seen(task)
    apart = told_apart(seen.gram, seen.variance)
    factor = sparse_factor(apart.gram)
    averaged: tuple[str, ...] = ("test", "unseen")
    if task.noise == 0.0 and min(task.outputs, factor.rank) <= task.N:
        loss, averaged = left_out(factor, apart.variance), ("teacher", *averaged)
    else:
        loss = _reduced_rank(task, factor, apart.variance)
    return Record(
        loss=loss + apart.across + seen.unseen,
        status="ok",
        averaged=averaged,
        seen=seen.drawn.active.size,
        rank=factor.rank,
        control=inputs.unseen_variance(seen.drawn.active),
        control_mean=inputs.expected_unseen(task.D),
    )


def _reduced_rank(task: Task, factor: Factor, variance: FloatArray) -> float:
    """sum_j s_j |(T - B)_j|^2 / m over the seen coordinates."""
    m, F = task.outputs, factor.dense()
    T = random_stream(task, "teacher").standard_normal((m, variance.size))
    scale = np.linalg.norm(F, axis=0)
    Q, R = qr(F / scale, mode="economic", check_finite=False)  # F F^+ = Q Q^T
    labels = T @ F
    if task.noise > 0.0:
        labels += np.sqrt(task.noise) * random_stream(task, "noise").standard_normal(labels.shape)
    fitted = solve_triangular(R, (labels / scale).T, trans="T", check_finite=False).T @ Q.T  # labels F^+
    if min(labels.shape) > task.N:
        U = svd(labels, full_matrices=False, check_finite=False)[0][:, : task.N]
        fitted = U @ (U.T @ fitted)
    return float(np.sum((T - fitted) ** 2, axis=0) @ variance) / m
