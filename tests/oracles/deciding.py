"""What a further run teaches, by conditioning one large Gaussian; draws under a prior, one by one."""

import numpy as np

from sparselaw.forecasting.component import drift, law_of_recipes, matern


def variance_after(posterior, target, N, D):
    """Law and discrepancy together are one Gaussian over rows, new runs and target; the Schur complement."""
    new = posterior.points(np.asarray(N, float), np.asarray(D, float)) if len(N) else np.empty((0, 2))
    x = np.concatenate([posterior.rows.x, new])
    order = np.argsort(x.sum(axis=1), kind="stable")
    frontier = x[order[len(x) - max(1, len(posterior.rows.x) // 10) :]].mean(axis=0)
    every = np.concatenate([x, posterior.points(target.N, target.D)])
    n, m = len(posterior.rows.x), len(x)
    total = np.zeros(len(target.weights))
    for weight, one in zip(posterior.weights, posterior.components, strict=True):
        noise = np.eye(m) * one.noise[0] ** 2
        noise[:n, :n] = np.diag((one.noise[0] * posterior.alone[0].relative) ** 2)
        c = one.tau**2 * matern(every, every, posterior.settings.wiggle_length)
        away = every - frontier
        c = c + (one.k * posterior.slope) ** 2 * drift(away, away, posterior.settings)
        _, J = law_of_recipes(one.theta, every, np.zeros(len(every), dtype=int))
        prior = np.linalg.inv(np.linalg.inv(one.covariance) - one.slopes.T @ one.slopes)
        joint = c + J @ prior @ J.T
        gain = np.linalg.solve(joint[:m, :m] + noise, joint[:m, m:])
        left = joint[m:, m:] - joint[m:, :m] @ gain
        total += weight * np.diag(target.weights @ left @ target.weights.T)
    return total


def of_draws(values, logs, usual, reach, ends):
    """Quantiles of draws, each counted by Cauchy's density of its log multiplier: sorted and added up."""
    counts = []
    for value, log in zip(values, logs, strict=True):
        away = max(-np.log(reach), min(np.log(reach), log)) / usual
        counts.append((value, 1.0 / (np.pi * usual * (1.0 + away * away))))
    counts.sort()
    total = sum(count for _, count in counts)
    found = []
    for end in ends:
        sofar = 0.0
        for value, count in counts:
            sofar += count
            if sofar >= end * total:
                found.append(value)
                break
    return found
