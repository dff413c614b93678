"""Descents on theta itself, and their losses by definition. Twins of sparselaw.experiments.dynamics."""

import numpy as np


def matrices(training):
    """Phi (k, D), y (D,) of a training problem, every sample written out."""
    rows = np.asarray(training.samples @ np.eye(training.samples.shape[1]))
    X = np.repeat(rows, training.counts, axis=0).T
    return training.problem.embedding @ X, training.targets


def losses(training, theta):
    """(population loss, training loss)."""
    problem = training.problem
    Phi, y = matrices(training)
    error = training.teacher - problem.embedding.T @ theta
    Sigma = np.diag(problem.covariance) if problem.covariance.ndim == 1 else problem.covariance
    unseen = problem.unseen * (1 + theta @ theta / problem.width)
    return problem.floor + unseen + error @ Sigma @ error, np.mean((Phi.T @ theta - y) ** 2)


def clipped(Phi, y, step, clip, steps):
    theta = np.zeros(len(Phi))
    for _ in range(steps):
        gradient = Phi @ (Phi.T @ theta - y) / Phi.shape[1]
        theta = theta - step * gradient * min(1.0, clip / np.linalg.norm(gradient))
    return theta


def clipped_sgd(Phi, y, step, batch, clip, orders):
    theta = np.zeros(len(Phi))
    for order in orders:
        for begin in range(0, len(order), batch):
            block = order[begin : begin + batch]
            gradient = Phi[:, block] @ (Phi[:, block].T @ theta - y[block]) / len(block)
            theta = theta - step * gradient * min(1.0, clip / np.linalg.norm(gradient))
    return theta
