"""Trained linear features of inputs drawn by their activations: one trial, with no optimiser.

A two-layer linear network of width N computes B x with any B (m x M) of rank at most N. With the targets T
x, T of independent standard normal entries, and the data's second moments G = F F^T over the active
coordinates, least squares is |T F - B F|^2, whose minimum over B keeps the N largest singular directions U
of T F:

    B = U U^T T F F^+        (Eckart and Young; reduced-rank regression),

of minimum norm where rows of the data are dependent. Label noise of variance q adds sqrt(q) Z to T F, Z of
standard normal entries. The loss is that of one output,

    sum_{j seen} s_j |(T - B)_j|^2 / m + sum_{j unseen} s_j,

exact over test inputs and over the teacher's unseen part. Where N >= min(m, rank) every direction is kept,
and without noise the loss is exact over the teacher too.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from scipy.linalg import qr, solve_triangular, svd

from sparselaw.arrays import FloatArray
from sparselaw.data.factor import Factor, left_out, sparse_factor
from sparselaw.data.scaled_gram import told_apart
from sparselaw.inputs import ActivationInputs
from sparselaw.trials.linear_problem import draw_seen
from sparselaw.trials.task import Record, Task, random_stream


def trial(task: Task) -> Record:
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
