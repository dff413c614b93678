"""The solvers as plainly as they can be written: iterations on theta in R^N, twins of sparselaw.solvers."""

import numpy as np


def ridge(Phi, y, ridge):
    return np.linalg.solve(Phi @ Phi.T + ridge * np.eye(len(Phi)), Phi @ y)


def min_norm(Phi, y, rtol=1e-10):
    return np.linalg.pinv(Phi.T, rcond=rtol) @ y


def gradient_descent(Phi, y, step, steps, momentum=0.0):
    D = Phi.shape[1]
    theta = before = np.zeros((len(Phi), *y.shape[1:]))
    for _ in range(steps):
        move = momentum * (theta - before) - step * (Phi @ (Phi.T @ theta - y)) / D
        theta, before = theta + move, theta
    return theta


def power_step(Phi, start, iterations=50):
    D = Phi.shape[1]
    v = start / np.linalg.norm(start)
    for _ in range(iterations):
        v = Phi @ (Phi.T @ v) / D
        v = v / np.linalg.norm(v)
    return 1.0 / (v @ (Phi @ (Phi.T @ v)) / D)


def nesterov(Phi, y, step, tolerance, max_iterations):
    """Every iterate, whether each was a restart, and every relative gradient."""
    D = Phi.shape[1]
    theta = ahead = np.zeros(len(Phi))
    t = 1.0
    first = np.linalg.norm(Phi @ y) / D
    thetas, restarted, gradients = [], [], []
    for _ in range(max_iterations):
        gradient = Phi @ (Phi.T @ ahead - y) / D
        new = ahead - step * gradient
        if gradient @ (new - theta) > 0:
            ahead, t = new, 1.0
            restarted.append(True)
        else:
            next_t = (1 + np.sqrt(1 + 4 * t * t)) / 2
            ahead, t = new + (t - 1) / next_t * (new - theta), next_t
            restarted.append(False)
        theta = new
        thetas.append(theta)
        gradients.append(np.linalg.norm(gradient) / first)
        if gradients[-1] < tolerance:
            break
    return np.array(thetas), np.array(restarted), np.array(gradients)


def sgd(Phi, y, step, batch, orders, momentum=0.0):
    theta = before = np.zeros(len(Phi))
    for order in orders:
        for begin in range(0, len(order), batch):
            block = order[begin : begin + batch]
            gradient = Phi[:, block] @ (Phi[:, block].T @ theta - y[block]) / len(block)
            theta, before = theta + momentum * (theta - before) - step * gradient, theta
    return theta
