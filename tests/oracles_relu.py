"""ReLU trials by the paper's recipe: every coordinate drawn, dense matrices, pinv, a fresh test set."""

import numpy as np

import oracles_solvers as plain
from sparselaw.inputs import SparseInputs
from sparselaw.solvers import SGD, GradientDescent, MinNorm, Nesterov, Ridge


def draw(problem, D, rng):
    """X (M, D)."""
    j = np.arange(1.0, problem.dimension + 1)[:, None]
    if isinstance(problem, SparseInputs):
        active = rng.random((len(j), D)) < j ** -(problem.alpha1 + 1)
        return active * rng.choice([-1.0, 1.0], (len(j), D)) * j ** (-(problem.alpha2 + 1) / 2)
    return rng.standard_normal((len(j), D)) * j ** (-(problem.alpha + 1) / 2)


def relu(x):
    return np.maximum(x, 0.0)


def fit(solver, Phi, y, rng):
    D = Phi.shape[1]
    match solver:
        case MinNorm():
            return plain.min_norm(Phi, y)
        case Ridge():
            return plain.ridge(Phi, y, solver.ridge)
        case GradientDescent():
            step = solver.step or 1 / np.linalg.eigvalsh(Phi @ Phi.T / D)[-1]
            return plain.gradient_descent(Phi, y, step, solver.steps)
        case Nesterov():
            step = plain.power_step(Phi, rng.standard_normal(len(Phi)))
            return plain.nesterov(Phi, y, step, solver.tolerance, solver.max_iterations)[0][-1]
        case SGD():
            step = solver.step or 1 / (Phi**2).sum(axis=0).mean()
            orders = [rng.permutation(D) for _ in range(solver.passes)]
            return plain.sgd(Phi, y, step, solver.batch, orders)


def trial(problem, N, D, rng, solver, noise=0.0, n_test=2000, teachers=1):
    """One loss of the recipe; several teachers on the same data give its mean over teachers more sharply."""
    u = rng.standard_normal((N, int(problem.dimension))) / np.sqrt(N)
    w = rng.standard_normal((int(problem.dimension), teachers))
    X, X_test = draw(problem, D, rng), draw(problem, n_test, rng)
    y = X.T @ w + np.sqrt(noise) * rng.standard_normal((D, teachers))
    Phi = relu(u @ X)
    if isinstance(solver, Nesterov | SGD):
        theta = np.column_stack([fit(solver, Phi, y[:, t], rng) for t in range(teachers)])
    else:
        theta = fit(solver, Phi, y, rng)
    return np.mean((X_test.T @ w - relu(u @ X_test).T @ theta) ** 2)


def gaussian_moments(A):
    """E[relu relu^T] for preactivations of covariance A."""
    d = np.sqrt(np.diag(A))
    f = np.arccos(np.clip(A / np.outer(d, d), -1, 1))
    return np.outer(d, d) * (np.sin(f) + (np.pi - f) * np.cos(f)) / (2 * np.pi)
