r"""How sure a forecast would be after further runs: no losses are needed for that.

In each component everything is Gaussian, so what a run will teach does not depend on what it will show. A run
at c takes C_tc^2 / (C_cc + sigma^2) off the variance at a target t. Targets are linear in the log losses at
some points: the loss itself, or its slope along a budget, whose variance decides how far a plan is off.

The drift is measured from the frontier, the mean place of the most expensive tenth of the runs. New runs
move it. So a set is judged by ``variance_after``, with the frontier where it will then be; the greedy steps
towards a set leave it where it is. It stays the mean of as many runs as now: else a sixth cheap run, which
makes that tenth one run larger, would seem to teach what the five before it do not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.forecasting.component import Component, drift, law_of_recipes, matern
from sparselaw.forecasting.posterior import Posterior, frontier_of

NO_RUNS = np.array([])
POWERS = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the cost, by which a gain is divided: one set for each


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is to be known: ``weights`` (targets, points) of the log losses at N, D (points,)."""

    N: FloatArray
    D: FloatArray
    weights: FloatArray
    part: float = 1.0  # share of the discrepancy that counts; 0.5 for the place of a minimum


def variance_after(
    posterior: Posterior, target: Target, N: FloatArray = NO_RUNS, D: FloatArray = NO_RUNS
) -> FloatArray:
    """(targets,): of the expected value once runs at (N, D) are known too, within the components."""
    from scipy.linalg import solve_triangular

    rows, settings = posterior.rows, posterior.settings
    x = np.concatenate([rows.x, posterior.points(N, D)])
    t = posterior.points(target.N, target.D)
    recipe = np.zeros(len(x), dtype=np.int64)
    there = np.zeros(len(t), dtype=np.int64)
    frontier = frontier_of(x, len(rows.x))
    every = np.concatenate([x, t])
    wiggles = matern(every, every, settings.wiggle_length)
    drifts = drift(every - frontier, every - frontier, settings)
    n, m = len(rows.x), len(x)
    found = np.zeros(len(target.weights))
    for weight, one in zip(posterior.weights, posterior.components, strict=True):
        c = one.tau**2 * wiggles + (one.k * posterior.slope) ** 2 * drifts
        noise = np.diag(np.full(m, new_noise(posterior, one) ** 2))
        noise[:n, :n] = posterior.row_noise(one)
        _, J = law_of_recipes(one.theta, x, recipe)
        _, at = law_of_recipes(one.theta, t, there)
        root = np.linalg.cholesky(noise + c[:m, :m])
        both = solve_triangular(root, np.column_stack([J, c[:m, m:]]), lower=True, check_finite=False)
        white, near = both[:, : J.shape[1]], both[:, J.shape[1] :]
        prior = np.linalg.inv(one.covariance) - one.slopes.T @ one.slopes
        G = at + target.part * (-(near.T @ white))
        own = target.part**2 * (c[m:, m:] - near.T @ near)
        covariance = own + G @ np.linalg.solve(prior + white.T @ white, G.T)
        found += weight * np.einsum("ti,ij,tj->t", target.weights, covariance, target.weights)
    return np.maximum(found, 0.0)


def new_noise(posterior: Posterior, one: Component) -> float:
    """Standard deviation of a new run's own part, in one component."""
    return float(one.noise[0] * np.sqrt(1.0 if posterior.runs[0].group is None else 2.0))


def best_set(
    posterior: Posterior,
    target: Target,
    N: FloatArray,
    D: FloatArray,
    cost: FloatArray,
    spend: float,
    most: int,
) -> IntArray:
    """Places of the candidates (N, D) to run, each the most telling one beside those before it.

    For each power p the candidate of the largest gain / cost^p is taken again and again; of these sets the
    one is kept that leaves the least variance.
    """
    points = len(target.N)
    x = posterior.points(np.r_[target.N, N], np.r_[target.D, D])
    _, covariances = posterior.covariances(x, part=target.part)
    sigma2 = np.array([new_noise(posterior, one) ** 2 for one in posterior.components])
    with_targets = np.einsum("ti,kij->ktj", target.weights, covariances[:, :points, points:])
    among = covariances[:, points:, points:]

    def greedy(power: float, allowed: IntArray, left: float = np.inf) -> IntArray:
        """One candidate after the other, each taken out of the covariances of the rest (Cholesky by
        columns)."""
        cross, diagonal = with_targets, np.einsum("kjj->kj", among).copy()
        past: list[FloatArray] = []
        chosen: list[int] = []
        while len(chosen) < most:
            free = np.isin(np.arange(cost.size), allowed) & (cost <= left)
            free[chosen] = False
            if not free.any():
                break
            told = cross**2 / (diagonal + sigma2[:, None])[:, None, :]
            gain = np.einsum("k,ktj->j", posterior.weights, told)
            c = int(np.where(free, gain / cost**power, -np.inf).argmax())
            column = among[:, :, c].copy()
            for u in past:
                column -= u * u[:, c : c + 1]
            root = np.sqrt(column[:, c] + sigma2)
            u = column / root[:, None]
            cross = cross - (cross[:, :, c] / root[:, None])[:, :, None] * u[:, None, :]
            diagonal = np.maximum(diagonal - u**2, 0.0)
            past.append(u)
            chosen.append(c)
            left -= float(cost[c])
        return np.array(chosen, dtype=np.int64)

    every = np.arange(cost.size)
    sets = {tuple(sorted(found)): found for found in (greedy(power, every, spend) for power in POWERS)}
    left = [float(np.mean(variance_after(posterior, target, N[one], D[one]))) for one in sets.values()]
    return greedy(0.0, list(sets.values())[int(np.argmin(left))])
