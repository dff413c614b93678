"""Linear features of inputs drawn by their activations: one trial.

Only the active coordinates A matter: G = X_A X_A^T and the columns u_A. Everything else is averaged exactly,
and so is what lies between coordinates that were only seen together. Minimum norm, with r the rank of X_A:
  N > r + 1        closed form, averaged over u too;
  N <= r - 2       one draw of u (for r/2 < N of its null space), averaged over teacher and unseen columns;
  |N - r| <= 1     the same, but the mean over u is infinite there: the loss of one u is finite and is what is
                   recorded, with a reason that says so. Medians over seeds are the thing to look at.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import cast

from sparselaw.arrays import FloatArray
from sparselaw.data.factor import Factor, left_out, sparse_factor, without_small
from sparselaw.data.scaled_gram import told_apart
from sparselaw.data.tolerance import doubtful_rows, outside_kept
from sparselaw.inputs import ActivationInputs
from sparselaw.trials.linear_problem import SeenData, draw_seen, one_teacher_of_seen, problem_of
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


def trial(task: Task) -> Record:
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
        record = _one_teacher(task, seen)
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


def _one_teacher(task: Task, seen: SeenData) -> Record:
    """One teacher and one label noise; the unseen part of the loss still exact unless raw."""
    drawn = one_teacher_of_seen(task, task.solver.by_samples, seen)
    solution, rank = train(task, drawn), int(drawn.problem.factor.shape[1])
    theta = solution.coefficients[:, 0]
    if task.estimator == "raw":
        return as_record(solution, lambda: activations_test_loss(task, drawn, seen.visible, theta), (), rank)
    loss = functools.partial(loss_of_readout, drawn.problem, drawn.teacher, theta)
    return as_record(solution, loss, ("test", "unseen"), rank)
