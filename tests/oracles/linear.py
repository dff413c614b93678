"""Naive twins of the linear trials: dense matrices in all M coordinates, pinv, plain iterations."""

from __future__ import annotations

import numpy as np

from oracles.sparse import draw_dense_matrix, sequences
from sparselaw.inputs import SparseInputs
from sparselaw.solvers import SGD, GradientDescent, MinNorm, Nesterov, Ridge


def draw_inputs(inputs, D, rng):
    if isinstance(inputs, SparseInputs):
        return draw_dense_matrix(inputs, D, rng)
    v = variances(inputs)
    return np.sqrt(v)[:, None] * rng.standard_normal((v.size, D))


def variances(inputs):
    if isinstance(inputs, SparseInputs):
        return sequences(inputs, int(inputs.dimension))[2]
    return np.arange(1, int(inputs.dimension) + 1.0) ** -(inputs.alpha + 1)


def readout(settings, Phi, y, rng):
    """theta from the features and targets themselves; y may have several columns."""
    N, D = Phi.shape
    if isinstance(settings, MinNorm):
        return np.linalg.pinv(Phi.T, rcond=settings.rtol) @ y
    if isinstance(settings, Ridge):
        return np.linalg.solve(Phi @ Phi.T + settings.ridge * np.eye(N), Phi @ y)
    theta = np.zeros((N, *y.shape[1:]))
    if isinstance(settings, GradientDescent):
        step = settings.step or D / np.linalg.norm(Phi, 2) ** 2
        for _ in range(settings.steps):
            theta = theta - step * (Phi @ (Phi.T @ theta - y)) / D
        return theta
    if isinstance(settings, Nesterov):  # converged from zero, it is the minimum-norm solution
        return np.linalg.pinv(Phi.T, rcond=1e-10) @ y
    assert isinstance(settings, SGD)
    step = settings.step or D / np.sum(Phi**2)
    for _ in range(settings.passes):
        order = rng.permutation(D)
        for start in range(0, D, settings.batch):
            batch = order[start : start + settings.batch]
            error = Phi[:, batch].T @ theta - y[batch]
            theta = theta - step / batch.size * Phi[:, batch] @ error
    return theta


def trial_loss(inputs, N, D, settings, noise, rng):
    """One draw of data and embedding in full; the population loss averaged over teacher and label noise.

    All the solvers are linear in the targets (SGD for a given order of samples), so theta = Psi y with Psi
    the readouts of the D unit targets.
    """
    X = draw_inputs(inputs, D, rng)
    M = X.shape[0]
    u = rng.standard_normal((N, M)) / np.sqrt(N)
    response = u.T @ readout(settings, u @ X, np.eye(D), rng)
    error = np.eye(M) - response @ X.T
    v = variances(inputs)
    return float(v @ (error**2).sum(axis=1) + noise * (v @ (response**2).sum(axis=1)))


def averaged_min_norm(X, u, s, unseen, width, noise):
    """Mean over teacher, label noise and unseen columns for given X_A, u_A: T w_A with T by pinv."""
    inverse = np.linalg.pinv((u @ X).T, rcond=1e-10)
    T = inverse @ X.T
    error = np.eye(X.shape[0]) - u.T @ T
    loss = s @ (error**2).sum(axis=1) + unseen * (1 + (T**2).sum() / width)
    return loss + noise * (s @ ((u.T @ inverse) ** 2).sum(axis=1) + unseen * (inverse**2).sum() / width)
