"""Sparse inputs, linear features: one trial.

Only the active coordinates A matter: G = X_A X_A^T and the columns u_A. Everything else is averaged exactly,
and so is what lies between coordinates that were only seen together. Minimum norm, with r the rank of X_A:
  N > r + 1        closed form, averaged over u too;
  N <= r - 2       one draw of u (for r/2 < N of its null space), averaged over teacher and unseen columns;
  |N - r| <= 1     the same, but the mean over u is infinite there: the loss of one u is finite and is what is
                   recorded, with a reason that says so. Medians over seeds are the thing to look at.
"""

from __future__ import annotations

import dataclasses
from typing import cast

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.data.gram import scaled_gram
from sparselaw.data.patterns import distinct_patterns
from sparselaw.data.sparse import SparseData, draw_sparse
from sparselaw.data.twins import told_apart
from sparselaw.inputs import ActivationInputs
from sparselaw.linalg.factor import Factor, factorise, left_out, without_small
from sparselaw.linalg.tolerance import cut_directions, doubtful_rows
from sparselaw.solvers import Solution
from sparselaw.trials import linear_dual, linear_raw
from sparselaw.trials.linear_closed import inverse_traces, over_parameterised
from sparselaw.trials.linear_filter import averaged_loss, prepare
from sparselaw.trials.linear_min_norm import min_norm_loss
from sparselaw.trials.linear_problem import LinearProblem, draw_embedding
from sparselaw.trials.linear_train import Readout, loss_of_readout, train, train_by_samples
from sparselaw.trials.task import Record, Task, random_stream

NEGLIGIBLE = 1e-100  # amplitudes this far below the largest are lost in every sum: as if never seen
INFINITE_MEAN = "one draw of u: at |N - rank| <= 1 the mean over u is infinite, compare medians"


def trial(task: Task) -> Record:
    """Draw the data of ``task`` and measure the loss."""
    inputs = cast(ActivationInputs, task.inputs)
    drawn = draw_sparse(inputs, task.D, random_stream(task, "data"))
    data = visible(inputs, drawn)
    gram = scaled_gram(data, inputs.amplitudes(data.active))
    variance, unseen = inputs.variances(data.active), inputs.unseen_variance(data.active)
    if task.estimator == "exact" and task.solver.linear:
        seen = told_apart(gram, variance)
        record = _averaged(task, factorise(seen.gram), seen.variance, unseen + seen.across)
    else:
        record = _one_teacher(task, data, factorise(gram), variance, unseen)
    return dataclasses.replace(
        record,
        seen=drawn.active.size,
        control=unseen if data is drawn else inputs.unseen_variance(drawn.active),
        control_mean=inputs.expected_unseen(task.D),
    )


def visible(inputs: ActivationInputs, data: SparseData) -> SparseData:
    """The data without coordinates whose amplitude is lost to rounding beside the largest."""
    size = inputs.amplitudes(data.active)
    kept = size > NEGLIGIBLE * size.max()
    if kept.all():
        return data
    entries = kept[data.column]
    label = np.cumsum(kept) - 1
    return dataclasses.replace(
        data,
        active=data.active[kept],
        sample=data.sample[entries],
        column=label[data.column[entries]].astype(data.column.dtype),
        sign=data.sign[entries],
    )


def as_record(loss: float, solution: Solution | None, averaged: tuple[str, ...]) -> Record:
    """The outcome of a solver as a record."""
    if solution is None:
        return Record(loss=loss, status="ok", averaged=averaged)
    return Record(
        loss=loss,
        status=solution.status,
        reason=solution.reason,
        averaged=averaged,
        iterations=solution.iterations,
        restarts=solution.restarts,
        gradient=solution.gradient,
    )


def _averaged(task: Task, factor: Factor, variance: FloatArray, unseen: float) -> Record:
    """The mean over teachers, which a solver that is linear in the labels allows."""
    rtol = task.solver.rank_tolerance
    if rtol is not None:
        return _min_norm(task, rtol, factor, variance, unseen)
    problem = _with_embedding(task, factor, variance, unseen)
    loss, solution = averaged_loss(task.solver, prepare(problem))
    record = as_record(loss, solution, averaged=("teacher", "test", "unseen"))
    return dataclasses.replace(record, rank=factor.rank)


def _min_norm(task: Task, rtol: float, factor: Factor, variance: FloatArray, unseen: float) -> Record:
    K, kept, cut = variance.size, factor, np.empty((variance.size, 0))
    doubtful = doubtful_rows(factor, rtol)
    if doubtful > 0 and factor.rank - doubtful - 2 < task.N:  # only here can the cut change the branch
        if factor.triangular:
            cut = cut_directions(factor, rtol)
        else:
            kept = without_small(factor, rtol)
    rank = kept.rank - cut.shape[1]
    if doubtful == 0 and factor.triangular and linear_dual.applies(task.N, K, task.noise):
        null = random_stream(task, "embedding").standard_normal((K, K - task.N))
        loss = linear_dual.dual_loss(factor.values, null, variance, unseen)
        return Record(loss=loss, status="ok", averaged=("teacher", "test", "unseen"), rank=K)
    if rank + 1 >= task.N:
        loss, solution = min_norm_loss(task.solver, rtol, _with_embedding(task, factor, variance, unseen))
        record = as_record(loss, solution, averaged=("teacher", "test", "unseen"))
        if rank - 1 <= task.N and record.status == "ok":
            record = dataclasses.replace(record, reason=INFINITE_MEAN)
        return dataclasses.replace(record, rank=rank)
    outside = unseen + left_out(kept, variance) + float(variance @ np.einsum("ij,ij->i", cut, cut))
    inverse, small = (0.0, 0.0), factor.rank - rank
    if task.noise > 0.0:
        kept = without_small(factor, rtol) if cut.size else kept
        inverse = inverse_traces(kept.dense(), variance)
    return Record(
        loss=over_parameterised(outside, rank, task.N, task.noise, inverse),
        status="rank-deficient" if small else "ok",
        reason=f"{small} singular values below rtol={rtol:g}" if small else "",
        averaged=("teacher", "test", "unseen", "u"),
        rank=rank,
    )


def _with_embedding(task: Task, factor: Factor, variance: FloatArray, unseen: float) -> LinearProblem:
    return LinearProblem(
        factor=factor.values,
        embedding=draw_embedding(task.N, variance.size, random_stream(task, "embedding")),
        covariance=variance,
        teacher_covariance=None,
        unseen=unseen,
        floor=0.0,
        noise=task.noise,
        width=task.N,
        samples=task.D,
    )


def _one_teacher(task: Task, data: SparseData, factor: Factor, variance: FloatArray, unseen: float) -> Record:
    """One teacher and one label noise; the unseen part of the loss still exact unless raw."""
    problem = _with_embedding(task, factor, variance, unseen)
    teacher = random_stream(task, "teacher").standard_normal(data.active.size)
    readout = _train(task, problem, data, teacher)
    if task.estimator == "raw":
        loss = linear_raw.sparse_test_loss(task, problem, data, teacher, readout)
        record = as_record(loss, readout.solution, averaged=())
    else:
        loss = loss_of_readout(problem, teacher, readout)
        record = as_record(loss, readout.solution, averaged=("test", "unseen"))
    return dataclasses.replace(record, rank=factor.rank)


def _train(task: Task, problem: LinearProblem, data: SparseData, teacher: np.ndarray) -> Readout:
    noise = random_stream(task, "noise")
    if not task.solver.by_samples:
        return train(task.solver, problem, teacher, noise)
    patterns = distinct_patterns(cast(ActivationInputs, task.inputs), data)
    return train_by_samples(
        task.solver,
        problem,
        teacher,
        patterns.matrix(data.active.size),
        patterns.counts,
        noise,
        random_stream(task, "order"),
    )
