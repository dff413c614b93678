"""The compiled loops of the iterative solvers, apart so that the settings can be read without numba."""

from __future__ import annotations

import numpy as np

from sparselaw.compiled import njit

DIVERGED = 1e8  # times the first gradient: far beyond the overshoot of a stable run
RUNNING, CONVERGED, GREW = 0, 1, 2


@njit(fastmath={"reassoc", "contract"}, error_model="numpy")
def advance(eigenvalues, projections, step, tolerance, iterations, theta, ahead, momentum):  # type: ignore[no-untyped-def]
    """Up to ``iterations`` more from the state (theta, ahead, momentum), the two vectors in place.

    Returns (outcome, iterations done, restarts, |gradient| / |first gradient|, momentum). The gradient is
    taken at the extrapolated point ``ahead``; when it points along the last move, g . (new - theta) > 0,
    the momentum is dropped. A fresh run has both vectors at zero and momentum 1; a run in pieces is the
    same run.
    """
    rank = eigenvalues.size
    first = np.sqrt(np.sum(projections * projections))
    restarts = 0
    relative = 1.0
    for iteration in range(1, iterations + 1):
        square = 0.0
        along = 0.0
        for i in range(rank):
            g = eigenvalues[i] * ahead[i] - projections[i]
            square += g * g
            along += g * (ahead[i] - step * g - theta[i])
        relative = np.sqrt(square) / first
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum))
        beta = (momentum - 1.0) / following
        momentum = following
        if along > 0.0:
            restarts += 1
            beta = 0.0
            momentum = 1.0
        for i in range(rank):
            new = ahead[i] - step * (eigenvalues[i] * ahead[i] - projections[i])
            ahead[i] = new + beta * (new - theta[i])
            theta[i] = new
        if relative < tolerance:
            return CONVERGED, iteration, restarts, relative, momentum
        if not relative < DIVERGED:  # or no longer a number
            return GREW, iteration, restarts, relative, momentum
    return RUNNING, iterations, restarts, relative, momentum


@njit(fastmath={"reassoc", "contract"}, error_model="numpy")
def batch_gradient(gradient, theta, t, features, targets, rows, labels):  # type: ignore[no-untyped-def]
    """The sum over the batch of (phi . theta - y) phi for teacher t, in place."""
    gradient[:] = 0.0
    for k in range(rows.size):
        phi = features[rows[k]]
        residual = -targets[labels[k], t]
        for i in range(phi.size):
            residual += phi[i] * theta[t, i]
        for i in range(phi.size):
            gradient[i] += residual * phi[i]


@njit(fastmath={"reassoc", "contract"}, error_model="numpy")
def clipped(gradient, step, size, clip):  # type: ignore[no-untyped-def]
    """The step along the sum: that along the mean, shorter where the mean is longer than ``clip``."""
    move = step / size
    if clip < np.inf:
        length = np.sqrt(np.sum(gradient * gradient)) / size
        if length > clip:
            move *= clip / length
    return move


@njit(fastmath={"reassoc", "contract"}, error_model="numpy")
def one_pass(theta, features, targets, rows, labels, step, batch, clip):  # type: ignore[no-untyped-def]
    """theta <- theta - step * mean over the batch of (phi . theta - y) phi, batch after batch, in place."""
    gradient = np.empty(theta.shape[1])
    for begin in range(0, rows.size, batch):
        size = min(batch, rows.size - begin)
        for t in range(theta.shape[0]):
            batch_gradient(
                gradient,
                theta,
                t,
                features,
                targets,
                rows[begin : begin + size],
                labels[begin : begin + size],
            )
            move = clipped(gradient, step, size, clip)
            for i in range(gradient.size):
                theta[t, i] -= move * gradient[i]


@njit(fastmath={"reassoc", "contract"}, error_model="numpy")
def one_heavy_pass(theta, velocity, features, targets, rows, labels, step, batch, momentum, clip):  # type: ignore[no-untyped-def]
    """The same with momentum: velocity <- momentum velocity - step * gradient, theta <- theta + velocity."""
    gradient = np.empty(theta.shape[1])
    for begin in range(0, rows.size, batch):
        size = min(batch, rows.size - begin)
        for t in range(theta.shape[0]):
            batch_gradient(
                gradient,
                theta,
                t,
                features,
                targets,
                rows[begin : begin + size],
                labels[begin : begin + size],
            )
            move = clipped(gradient, step, size, clip)
            for i in range(gradient.size):
                velocity[t, i] = momentum * velocity[t, i] - move * gradient[i]
                theta[t, i] += velocity[t, i]
