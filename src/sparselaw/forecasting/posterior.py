r"""What the runs say of every loss: components at several (tau, k, noise, rho), averaged by their evidence.

Each component is Gaussian (``component``). Its weight is Laplace's evidence times the priors of tau, k, the
noise and rho. With mean m and variance v in each component, mu = sum w m and sd^2 = sum w (v + (m - mu)^2).

The frontier, from which the drift is measured, is the mean place of the most expensive tenth of the runs;
s0, its unit, is the mean of -(1/2)(d/dlnN + d/dlnD) ln law over the most expensive third.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.forecasting.component import Component, Moments, Rows, component, drift, drift_variance, matern
from sparselaw.forecasting.coupled_model import (
    NAMES,
    LawAlone,
    Prior,
    centre_and_sd,
    law_alone,
    log_parameters,
    prior_of,
    value_and_slopes,
)
from sparselaw.forecasting.known_runs import KnownRuns
from sparselaw.forecasting.settings import SETTINGS, Settings
from sparselaw.interval import Z95, Interval
from sparselaw.laws import CoupledLaw

NEGLIGIBLE = 1e-4  # a component of less weight is left out
STEP = 0.005  # of both log sizes, for the slope of the law
LEAST_SLOPE = 1e-4
FREE = (1, 2)  # a and b: nothing ties them between recipes
TIED = 0.9  # correlation of the other parameters of two recipes, where rho > 0

BoolArray = npt.NDArray[np.bool_]
Correlations = Sequence[tuple[float, float]]  # rho of two recipes' discrepancies, and its prior weight
ALONE: Correlations = ((0.0, 1.0),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Posterior:
    """Of one or more recipes. ``runs`` are the rows used of each: all, or every so many along compute."""

    runs: tuple[KnownRuns, ...]
    alone: tuple[LawAlone, ...]  # the law of each recipe without a discrepancy
    rows: Rows
    centre: FloatArray  # (2,): mean ln N, mean ln D
    frontier: FloatArray  # (2,), centred
    slope: float  # s0
    components: tuple[Component, ...]
    weights: FloatArray
    settings: Settings

    @property
    def converged(self) -> bool:
        return all(one.converged for one in self.components)

    @property
    def noise(self) -> FloatArray:
        """(recipes,): standard deviation of a run's own part of the log loss."""
        return np.asarray(np.sqrt(self.weights @ np.array([one.noise**2 for one in self.components])))

    @property
    def run_noise(self) -> FloatArray:
        """(recipes,): the same for one row of a new run, where rows of one run share a part."""
        shared = np.array([1.0 if runs.group is None else 2.0 for runs in self.runs])
        return np.asarray(self.noise * np.sqrt(shared))

    def row_noise(self, one: Component) -> FloatArray:
        """(n, n): covariance of what is a run's own, in one component."""
        return _noise(self.runs, self.alone, one.noise)

    @property
    def wiggle(self) -> float:
        """The typical tau."""
        return float(np.exp(self.weights @ np.log([one.tau for one in self.components])))

    @property
    def drift(self) -> float:
        """The typical k."""
        return float(np.exp(self.weights @ np.log([one.k for one in self.components])))

    def points(self, N: FloatArray, D: FloatArray) -> FloatArray:
        """(points, 2): centred logarithms of sizes that broadcast."""
        N, D = np.broadcast_arrays(np.asarray(N, dtype=np.float64), np.asarray(D, dtype=np.float64))
        return np.column_stack([np.log(N.ravel()), np.log(D.ravel())]) - self.centre

    def moments(self, x: FloatArray, recipe: IntArray | int = 0) -> list[Moments]:
        """Of every component at centred x (points, 2)."""
        which = self._recipes(recipe, len(x))
        wiggles = matern(self.rows.x, x, self.settings.wiggle_length)
        drifts = drift(self.rows.x - self.frontier, x - self.frontier, self.settings)
        same = self.rows.recipe[:, None] == which[None, :]
        return [
            one.moments(x, which, _related(same, one.rho) * self._discrepancy(one, wiggles, drifts))
            for one in self.components
        ]

    def covariances(
        self, x: FloatArray, recipe: IntArray | int = 0, part: float = 1.0
    ) -> tuple[FloatArray, FloatArray]:
        """Of every component: means (components, points) and covariances (components, points, points) of the
        expected log loss, without a run's own noise. ``part`` is the share of the discrepancy in them."""
        which = self._recipes(recipe, len(x))
        found = self.moments(x, recipe)
        wiggles = matern(x, x, self.settings.wiggle_length)
        drifts = drift(x - self.frontier, x - self.frontier, self.settings)
        same = which[:, None] == which[None, :]
        each = []
        for one, at in zip(self.components, found, strict=True):
            prior = _related(same, one.rho) * self._discrepancy(one, wiggles, drifts)
            through = at.law_slopes + part * (at.slopes - at.law_slopes)
            each.append(part**2 * (prior - at.near.T @ at.near) + through @ one.covariance @ through.T)
        return np.array([at.mean for at in found]), np.array(each)

    def mixture(
        self, x: FloatArray, recipe: IntArray | int = 0, part: float = 1.0
    ) -> tuple[FloatArray, FloatArray]:
        """Mean (points,) and covariance (points, points) of the expected log loss over all components."""
        means, covariances = self.covariances(x, recipe, part)
        mean = self.weights @ means
        apart = part * (means - mean)
        within = np.tensordot(self.weights, covariances, axes=1)
        return mean, np.asarray(within + (self.weights[:, None] * apart).T @ apart)

    def log_losses(self, N: FloatArray, D: FloatArray, recipe: int = 0) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the log loss of a new run at every (N, D)."""
        x = self.points(N, D)
        found = self.moments(x, recipe)
        drifts = drift_variance(x - self.frontier, self.settings)
        variances = []
        for one, at in zip(self.components, found, strict=True):
            own = one.tau**2 + (one.k * self.slope) ** 2 * drifts - np.sum(at.near**2, axis=0)
            of_law = np.einsum("ij,jk,ik->i", at.slopes, one.covariance, at.slopes)
            variances.append(np.maximum(own, 0.0) + of_law)
        mean, sd = self._mixture([at.mean for at in found], variances)
        return mean, np.sqrt(sd**2 + self.run_noise[recipe] ** 2)

    def parameters(self, recipe: int = 0) -> dict[str, Interval]:
        """E, A, B, alpha, beta, g of a recipe, each with its 95 % interval."""
        own = slice(6 * recipe, 6 * recipe + 6)
        means, variances = [], []
        for one in self.components:
            logs, slopes = log_parameters(one.theta[own], self.centre)
            means.append(logs)
            variances.append(np.einsum("ij,jk,ik->i", slopes, one.covariance[own, own], slopes))
        mean, sd = self._mixture(means, variances)
        best = self.law(recipe)
        return {
            name: Interval(float(np.exp(m - Z95 * s)), getattr(best, name), float(np.exp(m + Z95 * s)))
            for name, m, s in zip(NAMES, mean, sd, strict=True)
        }

    def law(self, recipe: int = 0) -> CoupledLaw:
        """The law at the mean of theta."""
        theta = self.weights @ np.array([one.theta for one in self.components])
        values = np.exp(log_parameters(theta[6 * recipe : 6 * recipe + 6], self.centre)[0])
        return CoupledLaw(**dict(zip(NAMES, map(float, values), strict=True)))

    def pulls(self, N: FloatArray, D: FloatArray) -> FloatArray:
        """(points, rows): by how much a run moves the log loss at (N, D), against one without it."""
        found = self.moments(self.points(N, D))
        each = [one.pulls(at) for one, at in zip(self.components, found, strict=True)]
        return np.asarray(np.tensordot(self.weights, each, axes=1))

    def _discrepancy(self, one: Component, wiggles: FloatArray, drifts: FloatArray) -> FloatArray:
        return np.asarray(one.tau**2 * wiggles + (one.k * self.slope) ** 2 * drifts)

    def _recipes(self, recipe: IntArray | int, points: int) -> IntArray:
        return np.broadcast_to(np.asarray(recipe, dtype=np.int64), points)

    def _mixture(
        self, means: Sequence[FloatArray], variances: Sequence[FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        centre = self.weights @ np.array(means)
        apart = (np.array(means) - centre) ** 2
        return centre, np.sqrt(self.weights @ (np.array(variances) + apart))


def posterior(runs: KnownRuns, settings: Settings = SETTINGS) -> Posterior:
    """Of one table of runs. Above 400 rows, 400 of them, evenly along compute."""
    return joint_posterior([runs], settings=settings)


def joint_posterior(
    tables: Sequence[KnownRuns], correlations: Correlations = ALONE, settings: Settings = SETTINGS
) -> Posterior:
    """Of several recipes whose discrepancies are correlated by one of ``correlations``, found by evidence."""
    used = tuple(runs.in_order().thinned(settings.most_rows) for runs in tables)
    sizes = [np.column_stack([np.log(runs.N), np.log(runs.D)]) for runs in used]
    centre = np.concatenate(sizes).mean(axis=0)
    each = [x - centre for x in sizes]
    alone = tuple(
        law_alone(x, np.log(runs.loss), runs.scale, prior_of(runs.loss, settings), settings)
        for x, runs in zip(each, used, strict=True)
    )
    rows = Rows(
        np.concatenate(each),
        np.log(np.concatenate([runs.loss for runs in used])),
        np.repeat(np.arange(len(used)), [len(runs) for runs in used]),
    )
    frontier = frontier_of(rows.x)
    slope = float(np.mean([_slope(x, one.theta) for x, one in zip(each, alone, strict=True)]))
    wiggles = matern(rows.x, rows.x, settings.wiggle_length)
    drifts = drift(rows.x - frontier, rows.x - frontier, settings)
    same = rows.recipe[:, None] == rows.recipe[None, :]
    found: list[Component] = []
    logs: list[float] = []
    for rho, weight in correlations:
        prior = _joint_prior(used, rho, settings)
        for k, share in itertools.product(settings.drift_sizes, settings.noise_shares):
            theta = np.concatenate([one.theta for one in alone])
            own = np.array([one.noise(share) for one in alone])
            noise = _noise(used, alone, own)
            for tau in settings.wiggle_sizes:
                K = noise + _related(same, rho) * (tau**2 * wiggles + (k * slope) ** 2 * drifts)
                one = component(rows, prior, K, theta, tau=tau, k=k, rho=rho, noise=own)
                away = _away(k, settings.drift_prior) + _away(tau, settings.wiggle_prior)
                away += _away(share, settings.noise_prior)
                found.append(one)
                logs.append(one.log_evidence + float(np.log(weight)) - 0.5 * away)
                theta = one.theta
    weights = np.exp(np.array(logs) - max(logs))
    kept = np.flatnonzero(weights > NEGLIGIBLE * weights.sum())
    return Posterior(
        runs=used,
        alone=alone,
        rows=rows,
        centre=centre,
        frontier=frontier,
        slope=slope,
        components=tuple(found[i] for i in kept),
        weights=weights[kept] / weights[kept].sum(),
        settings=settings,
    )


def _noise(used: Sequence[KnownRuns], alone: Sequence[LawAlone], own: FloatArray) -> FloatArray:
    """(n, n): covariance of what is a run's own; rows of one run share a part of it."""
    noise = np.diag(np.concatenate([sd * one.relative for sd, one in zip(own, alone, strict=True)]) ** 2)
    first = 0
    for runs, sd in zip(used, own, strict=True):
        rows = slice(first, first + len(runs))
        if runs.group is not None:
            noise[rows, rows] += sd**2 * (runs.group[:, None] == runs.group[None, :])
        first += len(runs)
    return noise


def frontier_of(x: FloatArray) -> FloatArray:
    """Mean place of the most expensive tenth of the rows x (rows, 2)."""
    most_expensive = np.argsort(x.sum(axis=1), kind="stable")[-max(1, len(x) // 10) :]
    return np.asarray(x[most_expensive].mean(axis=0))


def _slope(x: FloatArray, theta: FloatArray) -> float:
    """s0 of one recipe."""
    compute = x.sum(axis=1)
    top = x[compute >= np.quantile(compute, 0.66)]
    fall = value_and_slopes(theta, top - STEP)[0] - value_and_slopes(theta, top + STEP)[0]
    return max(float(np.mean(fall)) / (4.0 * STEP), LEAST_SLOPE)


def _joint_prior(used: Sequence[KnownRuns], rho: float, settings: Settings) -> Prior:
    """Independent of each other where the discrepancies are; else the laws are alike, but for A and B."""
    both = [centre_and_sd(runs.loss, settings) for runs in used]
    centre = np.concatenate([centre for centre, _ in both])
    if len(used) == 1 or rho == 0.0:
        return Prior(centre=centre, root=np.diag(1.0 / np.concatenate([sd for _, sd in both])))
    sd = both[0][1]
    covariance = np.zeros((centre.size, centre.size))
    for j in range(sd.size):
        tie = 0.0 if j in FREE else TIED
        covariance[j :: sd.size, j :: sd.size] = sd[j] ** 2 * (tie + (1.0 - tie) * np.eye(len(used)))
    return Prior(centre=centre, root=np.linalg.inv(np.linalg.cholesky(covariance)))


def _related(same: BoolArray, rho: float) -> FloatArray | float:
    """One within a recipe, rho between two."""
    return 1.0 if same.all() else np.where(same, 1.0, rho)


def _away(value: float, prior: tuple[float, float]) -> float:
    return float((np.log(value / prior[0]) / prior[1]) ** 2)
