"""Nonlinear trials by the paper's recipe: every coordinate drawn, dense matrices, pinv, a fresh test set."""

import numpy as np

from oracles import linear
from oracles import solvers as plain
from sparselaw.solvers import SGD, GradientDescent, MinNorm, Nesterov, Ridge
from sparselaw.solvers.nesterov import power_start


def relu(z):
    return np.maximum(z, 0.0)


def fit(solver, Phi, y, orders=None):
    """theta (N, T) from features (N, D) and targets (D, T); SGD visits the samples in the given orders."""
    match solver:
        case MinNorm():
            return plain.min_norm(Phi, y, solver.rtol)
        case Ridge():
            return plain.ridge(Phi, y, solver.ridge)
        case GradientDescent():
            step = solver.step or 1 / np.linalg.eigvalsh(Phi @ Phi.T / Phi.shape[1])[-1]
            return plain.gradient_descent(Phi, y, step, solver.steps)
        case Nesterov():
            left, singular, _ = np.linalg.svd(Phi, full_matrices=False)
            left = left[:, singular > 1e-10 * singular[0]]
            step = plain.power_step(Phi, left @ power_start(left.shape[1]), solver.power_iterations)
            runs = [plain.nesterov(Phi, c, step, solver.tolerance, solver.max_iterations)[0] for c in y.T]
            return np.column_stack([thetas[-1] for thetas in runs])
        case SGD():
            step = solver.step or 1 / (Phi**2).sum(axis=0).mean()
            return np.column_stack([plain.sgd(Phi, c, step, solver.batch, orders) for c in y.T])


def trial(inputs, N, D, rng, solver, noise=0.0, n_test=2000, teachers=1, f=relu):
    """One loss of the recipe; several teachers on the same data give its mean over teachers more sharply."""
    u = rng.standard_normal((N, int(inputs.dimension))) / np.sqrt(N)
    w = rng.standard_normal((int(inputs.dimension), teachers))
    X, X_test = linear.draw_inputs(inputs, D, rng), linear.draw_inputs(inputs, n_test, rng)
    y = X.T @ w + np.sqrt(noise) * rng.standard_normal((D, teachers))
    orders = [rng.permutation(D) for _ in range(getattr(solver, "passes", 0))]
    theta = fit(solver, f(u @ X), y, orders)
    return np.mean((X_test.T @ w - f(u @ X_test).T @ theta) ** 2)


def every_pattern(inputs):
    """All samples of a few coordinates as columns, with their probabilities."""
    j = np.arange(1.0, inputs.dimension + 1)
    p, amplitude = inputs.probabilities(j), inputs.amplitudes(j)
    states = np.array(np.meshgrid(*[[-1, 0, 1]] * len(j), indexing="ij")).reshape(len(j), -1)
    chance = np.where(states == 0, 1 - p[:, None], p[:, None] / 2)
    return states * amplitude[:, None], chance.prod(axis=0)


def gaussian_moments(A):
    """E[relu relu^T] for preactivations of covariance A."""
    d = np.sqrt(np.diag(A))
    f = np.arccos(np.clip(A / np.outer(d, d), -1, 1))
    return np.outer(d, d) * (np.sin(f) + (np.pi - f) * np.cos(f)) / (2 * np.pi)


def leverages(inputs, u, rng, f, n=2000):
    """q and e^2 of fresh samples for units u, the moments and the best readout by counting samples."""
    X, fresh = linear.draw_inputs(inputs, 50 * n, rng), linear.draw_inputs(inputs, n, rng)
    phi, at = f(u @ X), f(u @ fresh)
    moments = phi @ phi.T / phi.shape[1]
    readout = np.linalg.solve(moments, phi @ X.T / phi.shape[1])
    return np.sum(at * np.linalg.solve(moments, at), axis=0) / len(u), np.sum(
        (fresh - readout.T @ at) ** 2, axis=0
    )
