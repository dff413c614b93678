"""Minibatch stochastic gradient descent, in any orthonormal basis of the features' span.

A step moves theta along the features of its batch, so from zero the iterates stay in their span and depend on
the features through inner products alone: rows written in the eigenbasis (P, r) give the same run as rows in
R^N, at r numbers a sample.
"""

from __future__ import annotations

import numba
import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.solvers.settings import SGD
from sparselaw.solvers.solution import Solution


def default_step(features: FloatArray, counts: IntArray | None = None) -> float:
    """1 / E|phi|^2 over the training samples; features that are all zero move nothing, whatever the step."""
    square = float(np.average((features**2).sum(axis=1), weights=counts))
    return 1.0 / square if square > 0.0 else 1.0


def sgd(
    settings: SGD,
    features: FloatArray,
    targets: FloatArray,
    rng: np.random.Generator,
    counts: IntArray | None = None,
    clip: float = np.inf,
) -> Solution:
    """``passes`` over the samples, each visited once a pass in a fresh order; the last batch may be short.

    Row p of ``features`` stands for counts[p] samples. ``targets`` is (P, T), or (D, T) when repeats have
    targets of their own, in the order of np.repeat(rows, counts). The coefficients are theta in the basis
    the rows are written in. A batch gradient longer than ``clip`` is shortened to it.
    """
    counts = np.ones(len(features), dtype=np.int64) if counts is None else counts
    row_of_sample = np.repeat(np.arange(len(features)), counts)
    target_of_sample = row_of_sample if len(targets) == len(features) else np.arange(len(row_of_sample))
    step = settings.step if settings.step is not None else default_step(features, counts)
    theta = np.zeros((targets.shape[1], features.shape[1]))
    features, targets = np.ascontiguousarray(features), np.ascontiguousarray(targets)
    batches = 0
    for _ in range(settings.passes):
        order = rng.permutation(len(row_of_sample))
        rows, labels = row_of_sample[order], target_of_sample[order]
        one_pass(theta, features, targets, rows, labels, step, settings.batch, clip)
        batches += -(-len(order) // settings.batch)
        if not np.isfinite(theta).all():
            break
    diverged = not np.isfinite(theta).all()
    return Solution(
        coefficients=theta.T,
        status="diverged" if diverged else "ok",
        reason=f"the iterates overflowed at step {step:g}" if diverged else "",
        iterations=batches,
    )


@numba.njit(cache=True, fastmath={"reassoc", "contract"}, error_model="numpy")
def one_pass(theta, features, targets, rows, labels, step, batch, clip):  # type: ignore[no-untyped-def]
    """theta <- theta - step * mean over the batch of (phi . theta - y) phi, batch after batch, in place."""
    gradient = np.empty(theta.shape[1])
    for begin in range(0, rows.size, batch):
        size = min(batch, rows.size - begin)
        for t in range(theta.shape[0]):
            gradient[:] = 0.0
            for k in range(begin, begin + size):
                phi = features[rows[k]]
                residual = -targets[labels[k], t]
                for i in range(phi.size):
                    residual += phi[i] * theta[t, i]
                for i in range(phi.size):
                    gradient[i] += residual * phi[i]
            move = step / size
            if clip < np.inf:
                length = np.sqrt(np.sum(gradient * gradient)) / size
                if length > clip:
                    move *= clip / length
            for i in range(gradient.size):
                theta[t, i] -= move * gradient[i]
