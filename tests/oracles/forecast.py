"""The forecast's algebra written out with dense matrices and inverses, one idea at a time."""

from __future__ import annotations

import numpy as np
from scipy.integrate import dblquad


def matern(a, b, length):
    z = np.sqrt(3.0) * np.hypot(*(a - b)) / length
    return (1.0 + z) * np.exp(-z)


def brownian_of_integrals(s, t):
    """Covariance of two integrals of a Brownian motion from 0: the double integral of min(u, v)."""
    if s * t <= 0.0:
        return 0.0
    return dblquad(lambda u, v: min(u, v), 0.0, abs(s), 0.0, abs(t))[0]


def integrated(s, t):
    """The same in closed form, by cases."""
    if s * t <= 0.0:
        return 0.0
    a, b = sorted((abs(s), abs(t)))
    return a**3 / 3.0 + a**2 * (b - a) / 2.0


def discrepancy(posterior, one, a, b, same_recipe=True):
    """Prior covariance of wiggles and drift between two centred points."""
    settings = posterior.settings
    s, t = a - posterior.frontier, b - posterior.frontier

    def far(value):  # a distance behind the frontier counts more
        return value * settings.drift_behind if value < 0 else value

    drift = settings.drift_of_sizes**2 * sum(integrated(far(s[i]), far(t[i])) for i in (0, 1))
    drift += settings.drift_of_compute**2 * integrated(far(s.sum()), far(t.sum()))
    found = one.tau**2 * matern(a, b, settings.wiggle_length) + (one.k * posterior.slope) ** 2 * drift
    return found if same_recipe else one.rho * found


def covariance(posterior, one, x, of_x, other, of_other):
    return np.array(
        [
            [discrepancy(posterior, one, a, b, r == s) for b, s in zip(other, of_other, strict=True)]
            for a, r in zip(x, of_x, strict=True)
        ]
    )


def noise(posterior, one):
    """Each row's own variance, and a part that rows of one run share."""
    relative = np.concatenate([alone.relative for alone in posterior.alone])
    groups = [
        (r, i if runs.group is None else runs.group[i], runs.group is not None)
        for r, runs in enumerate(posterior.runs)
        for i in range(len(runs))
    ]
    found = np.zeros((len(groups), len(groups)))
    for i, (r, run, grouped) in enumerate(groups):
        found[i, i] += (one.noise[r] * relative[i]) ** 2
        for j, (s, other, _) in enumerate(groups):
            if grouped and r == s and run == other:
                found[i, j] += one.noise[r] ** 2
    return found


def slopes(log_loss, theta, x, step=1e-6):
    """Central differences of the log loss."""
    columns = []
    for i in range(theta.size):
        shift = np.zeros(theta.size)
        shift[i] = step
        columns.append((log_loss(theta + shift, x) - log_loss(theta - shift, x)) / (2 * step))
    return np.column_stack(columns)


def condition(posterior, one, prior, log_loss, x, of_x=None, keep=None):
    """Mean and covariance of expected losses at x given the kept rows, the law linear about theta.

    Parameters, discrepancy and noise are one big Gaussian vector; the rows are conditioned on.
    """
    rows = posterior.rows
    of_x = np.zeros(len(x), int) if of_x is None else of_x
    keep = np.arange(len(rows.y)) if keep is None else keep
    theta = one.theta
    J, at = (
        slopes(lambda t, p: log_loss(t, p, rows.recipe), theta, rows.x),
        slopes(lambda t, p: log_loss(t, p, of_x), theta, x),
    )
    S = np.linalg.inv(prior.root.T @ prior.root)
    mean = log_loss(theta, rows.x, rows.recipe) + J @ (prior.centre - theta)
    mean_new = log_loss(theta, x, of_x) + at @ (prior.centre - theta)
    K = covariance(posterior, one, rows.x, rows.recipe, rows.x, rows.recipe) + noise(posterior, one)
    known = (K + J @ S @ J.T)[np.ix_(keep, keep)]
    between = (covariance(posterior, one, x, of_x, rows.x, rows.recipe) + at @ S @ J.T)[:, keep]
    new = covariance(posterior, one, x, of_x, x, of_x) + at @ S @ at.T
    gain = between @ np.linalg.inv(known)
    return mean_new + gain @ (rows.y - mean)[keep], new - gain @ between.T


def log_evidence(posterior, one, prior, log_loss):
    """-(F + ln|K| + ln|H| - ln|prior precision|) / 2 with inverses and determinants."""
    rows = posterior.rows
    K = covariance(posterior, one, rows.x, rows.recipe, rows.x, rows.recipe) + noise(posterior, one)
    inverse = np.linalg.inv(K)
    r = rows.y - log_loss(one.theta, rows.x, rows.recipe)
    J = slopes(lambda t, p: log_loss(t, p, rows.recipe), one.theta, rows.x)
    precision = prior.root.T @ prior.root
    away = one.theta - prior.centre
    F = r @ inverse @ r + away @ precision @ away
    H = J.T @ inverse @ J + precision
    return -0.5 * (F + sum(np.linalg.slogdet(A)[1] for A in (K, H)) - np.linalg.slogdet(precision)[1])
