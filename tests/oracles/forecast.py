"""The forecast's algebra written out with dense matrices and inverses, one idea at a time."""

from __future__ import annotations

import numpy as np


def kernel(x, other, tau):
    """tau^2 (1 + z) e^-z with z = sqrt(3) d / 2, pair by pair."""
    found = np.empty((len(x), len(other)))
    for i, a in enumerate(x):
        for j, b in enumerate(other):
            z = np.sqrt(3.0) * np.hypot(*(a - b)) / 2.0
            found[i, j] = tau**2 * (1.0 + z) * np.exp(-z)
    return found


def covariance(rows, tau):
    K = kernel(rows.x, rows.x, tau)
    for i in range(len(K)):
        for j in range(len(K)):
            K[i, j] += rows.row_noise[i] ** 2 if i == j else 0.0
            if rows.group is not None and rows.group[i] == rows.group[j]:
                K[i, j] += rows.noise**2
    return K


def slopes(log_loss, theta, x, step=1e-6):
    """Central differences of the log loss."""
    columns = []
    for i in range(theta.size):
        shift = np.zeros(theta.size)
        shift[i] = step
        columns.append((log_loss(theta + shift, x) - log_loss(theta - shift, x)) / (2 * step))
    return np.column_stack(columns)


def condition(rows, tau, prior, theta, log_loss, x, keep=None):
    """Mean and covariance of new losses at x given the kept rows, the law linear about ``theta``.

    Parameters, discrepancy and noise are one big Gaussian vector; the rows are conditioned on.
    """
    keep = np.arange(len(rows.y)) if keep is None else keep
    J, at = slopes(log_loss, theta, rows.x), slopes(log_loss, theta, x)
    S = np.diag(prior.spread**2)
    mean = log_loss(theta, rows.x) + J @ (prior.centre - theta)
    mean_new = log_loss(theta, x) + at @ (prior.centre - theta)
    known = (covariance(rows, tau) + J @ S @ J.T)[np.ix_(keep, keep)]
    between = (kernel(x, rows.x, tau) + at @ S @ J.T)[:, keep]
    parts = 1 if rows.group is None else 2
    new = kernel(x, x, tau) + at @ S @ at.T + parts * rows.noise**2 * np.eye(len(x))
    gain = between @ np.linalg.inv(known)
    return mean_new + gain @ (rows.y - mean)[keep], new - gain @ between.T


def evidence(rows, tau, prior, theta, log_loss):
    """F + ln|K| + ln|H| with inverses and determinants."""
    K = covariance(rows, tau)
    inverse = np.linalg.inv(K)
    r = rows.y - log_loss(theta, rows.x)
    J = slopes(log_loss, theta, rows.x)
    precision = np.diag(prior.spread**-2.0)
    F = r @ inverse @ r + (theta - prior.centre) @ precision @ (theta - prior.centre)
    H = J.T @ inverse @ J + precision
    return F + np.linalg.slogdet(K)[1] + np.linalg.slogdet(H)[1]
