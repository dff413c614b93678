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
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.forecasting.component import (
    PARAMETERS,
    Component,
    Moments,
    Rows,
    component,
    drift,
    drift_variance,
    matern,
)
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
from sparselaw.numbers import short_size

SHOWN_ROWS = 3  # of those that lie far from the law
NEGLIGIBLE = 1e-4  # a component of less weight is left out
STEP = 0.005  # of both log sizes, for the slope of the law
LEAST_SLOPE = 1e-4
FREE = (1, 2)  # a and b: nothing ties them between recipes
UNLIKELY = float(np.log(1e-3))  # what weighs so little at the first rho is not tried at the others
COMMON = np.array([0.0, 0.3, 0.6, 0.9])  # correlations of the noise of runs with one seed
FEWEST_PAIRED = 5  # rows for such a correlation
TIED = 0.995  # correlation of the other parameters of two recipes, where rho > 0: exponents within 5 %

BoolArray = npt.NDArray[np.bool_]
Correlations = Sequence[tuple[float, float]]  # rho of two recipes' discrepancies, and its prior weight
ALONE: Correlations = ((0.0, 1.0),)


class CommonNoise(NamedTuple):
    """Rows of the first recipe and rows of the second that have N, D and the seed in common, one by one, and
    the correlation of their own noise."""

    first: IntArray
    second: IntArray
    correlation: float


class Sizes(NamedTuple):
    """Of the drift, of the noise as a share of the residuals, of the wiggles."""

    k: float
    share: float
    tau: float


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
    log_evidence: float  # of all components together, with the priors of their sizes
    settings: Settings
    common: CommonNoise | None = None

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
        return _noise(self.runs, self.alone, one.noise, self.common)

    @property
    def wiggle(self) -> float:
        """The typical tau."""
        return float(np.exp(self.weights @ np.log([one.tau for one in self.components])))

    def odd_rows(self, recipe: int = 0) -> tuple[str, ...]:
        """Rows of a recipe so far from its law that they hardly count, in words."""
        alone, used = self.alone[recipe], self.runs[recipe]
        far = alone.far_off()
        if far.size == 0:
            return ()
        shown = []
        for i in far[:SHOWN_ROWS]:
            place = "" if used.row is None else f"row {int(used.row[i]) + 1}: "
            sizes = f"N = {short_size(used.N[i])}, D = {short_size(used.D[i])}"
            off = 100.0 * float(np.expm1(alone.residuals[i]))
            shown.append(f"{place}{sizes}, loss {used.loss[i]:.4g}, {off:+.3g} %")
        more = f"; and {far.size - SHOWN_ROWS} more" if far.size > SHOWN_ROWS else ""
        return (f"far from the law, and hardly counted ({'; '.join(shown)}{more})",)

    def points(self, N: FloatArray, D: FloatArray) -> FloatArray:
        """(points, 2): centred logarithms of sizes that broadcast."""
        N, D = np.broadcast_arrays(np.asarray(N, dtype=np.float64), np.asarray(D, dtype=np.float64))
        return np.column_stack([np.log(N.ravel()), np.log(D.ravel())]) - self.centre

    def moments(self, x: FloatArray, recipe: IntArray | int = 0) -> list[Moments]:
        """Of every component at centred x (points, 2)."""
        which = np.broadcast_to(recipe, len(x))
        wiggles = matern(self.rows.x, x, self.settings.wiggle_length)
        drifts = drift(self.rows.x - self.frontier, x - self.frontier, self.settings)
        same = self.rows.recipe[:, None] == which[None, :]
        return [
            one.moments(x, which, self._discrepancy(one, same, wiggles, drifts)) for one in self.components
        ]

    def means(self, x: FloatArray, recipe: int) -> FloatArray:
        """(points,): of the expected log loss of one recipe at centred x."""
        own = self.rows.recipe == recipe
        of_law, by_wiggles, by_drift = np.zeros(len(x)), np.zeros(len(own)), np.zeros(len(own))
        for weight, one in zip(self.weights, self.components, strict=True):
            pull = weight * np.where(own, 1.0, one.rho) * (one.whitening.T @ one.whitened)  # of K^-1 r
            by_wiggles += one.tau**2 * pull
            by_drift += (one.k * self.slope) ** 2 * pull
            of_law += weight * value_and_slopes(one.theta[PARAMETERS * recipe :][:PARAMETERS], x)[0]
        wiggles = by_wiggles @ matern(self.rows.x, x, self.settings.wiggle_length)
        drifts = by_drift @ drift(self.rows.x - self.frontier, x - self.frontier, self.settings)
        return np.asarray(of_law + wiggles + drifts)

    def covariances(
        self, x: FloatArray, recipe: IntArray | int = 0, part: float = 1.0
    ) -> tuple[FloatArray, FloatArray]:
        """Of every component: means (components, points) and covariances (components, points, points) of the
        expected log loss, without a run's own noise. ``part`` is the share of the discrepancy in them."""
        which = np.broadcast_to(recipe, len(x))
        found = self.moments(x, recipe)
        wiggles = matern(x, x, self.settings.wiggle_length)
        drifts = drift(x - self.frontier, x - self.frontier, self.settings)
        same = which[:, None] == which[None, :]
        each = []
        for one, at in zip(self.components, found, strict=True):
            prior = self._discrepancy(one, same, wiggles, drifts)
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
        own = slice(PARAMETERS * recipe, PARAMETERS * (recipe + 1))
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
        values = np.exp(log_parameters(theta[PARAMETERS * recipe :][:PARAMETERS], self.centre)[0])
        return CoupledLaw(**dict(zip(NAMES, map(float, values), strict=True)))

    def pulls(self, N: FloatArray, D: FloatArray) -> FloatArray:
        """(points, rows): by how much a run moves the log loss at (N, D), against one without it."""
        found = self.moments(self.points(N, D))
        each = [one.pulls(at) for one, at in zip(self.components, found, strict=True)]
        return np.asarray(np.tensordot(self.weights, each, axes=1))

    def _discrepancy(
        self, one: Component, same: BoolArray, wiggles: FloatArray, drifts: FloatArray
    ) -> FloatArray:
        return _related(same, one.rho) * (one.tau**2 * wiggles + (one.k * self.slope) ** 2 * drifts)

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
    """Of several recipes whose discrepancies are correlated by one of ``correlations``, the likeliest first;
    it is found by evidence, and so is the correlation of the noise of runs with a common seed."""
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
    separate = np.concatenate([one.theta for one in alone])

    def made(at: Sizes, rho: float, prior: Prior, start: FloatArray, common: CommonNoise | None) -> Component:
        own = np.array([one.noise(at.share) for one in alone])
        discrepancy = _related(same, rho) * (at.tau**2 * wiggles + (at.k * slope) ** 2 * drifts)
        K = _noise(used, alone, own, common) + discrepancy
        return component(rows, prior, K, start, tau=at.tau, k=at.k, rho=rho, noise=own)

    common = _paired(used)
    if common is not None:
        usual = Sizes(settings.drift_prior[0], 1.0, settings.wiggle_prior[0])
        alike = correlations[0][0]
        prior = _joint_prior(used, alike, settings)
        each = [common._replace(correlation=c) for c in COMMON]
        evidence = np.array([made(usual, alike, prior, separate, one).log_evidence for one in each])
        likely = np.exp(evidence - evidence.max())
        common = common._replace(correlation=float(likely @ COMMON / likely.sum()))

    grid = itertools.product(settings.drift_sizes, settings.noise_shares, settings.wiggle_sizes)
    tried = [Sizes(*sizes) for sizes in grid]
    found: list[Component] = []
    logs: list[float] = []
    before: dict[Sizes, FloatArray] = {}  # theta at another rho
    for rho, weight in correlations:
        prior, theta, heights = _joint_prior(used, rho, settings), separate, []
        for at in tried:
            theta = separate if at.tau == settings.wiggle_sizes[0] else theta
            one = made(at, rho, prior, before.get(at, theta), common)
            height = one.log_evidence + float(np.log(weight))
            height += log_prior(at.k, settings.drift_prior, settings.drift_tails)
            height += log_prior(at.tau, settings.wiggle_prior) + log_prior(at.share, settings.noise_prior)
            found.append(one)
            heights.append(height)
            before[at] = theta = one.theta
        logs += heights
        tried = [at for at, log in zip(tried, heights, strict=True) if log > max(heights) + UNLIKELY]
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
        log_evidence=max(logs) + float(np.log(weights.sum())),
        settings=settings,
        common=common,
    )


def _paired(used: Sequence[KnownRuns]) -> CommonNoise | None:
    """Rows of two recipes with N, D and seed in common; None where they are too few to tell a correlation."""
    if len(used) != 2 or any(runs.seed is None or runs.group is not None for runs in used):
        return None
    first, second = (
        {key: i for i, key in enumerate(zip(*np.array([runs.N, runs.D, runs.seed]).tolist(), strict=True))}
        for runs in used
    )
    both = [(i, len(used[0]) + second[key]) for key, i in first.items() if key in second]
    if len(both) < FEWEST_PAIRED:
        return None
    pairs = np.array(both)
    return CommonNoise(pairs[:, 0], pairs[:, 1], 0.0)


def _noise(
    used: Sequence[KnownRuns], alone: Sequence[LawAlone], own: FloatArray, common: CommonNoise | None
) -> FloatArray:
    """(n, n): covariance of what is a run's own; rows of one run share a part of it, and so do rows of two
    recipes with one seed."""
    each = np.concatenate([sd * one.relative for sd, one in zip(own, alone, strict=True)])
    noise = np.diag(each**2)
    if common is not None:
        i, j = common.first, common.second
        noise[i, j] = noise[j, i] = common.correlation * each[i] * each[j]
    first = 0
    for runs, sd in zip(used, own, strict=True):
        rows = slice(first, first + len(runs))
        if runs.group is not None:
            noise[rows, rows] += sd**2 * (runs.group[:, None] == runs.group[None, :])
        first += len(runs)
    return noise


def frontier_of(x: FloatArray, known: int | None = None) -> FloatArray:
    """Mean place of the most expensive tenth of the rows x (rows, 2), or of as many of them as a tenth of
    ``known`` rows."""
    count = max(1, (len(x) if known is None else known) // 10)
    most_expensive = np.argsort(x.sum(axis=1), kind="stable")[-count:]
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


def log_prior(value: float, prior: tuple[float, float], degrees: float = np.inf) -> float:
    """Of ln value, but for a constant: normal, or Student's t.

    >>> log_prior(2.0, (1.0, np.log(2.0))), round(log_prior(2.0, (1.0, np.log(2.0)), 1.0), 3)
    (-0.5, -0.693)
    """
    square = float((np.log(value / prior[0]) / prior[1]) ** 2)
    return -0.5 * (square if np.isinf(degrees) else float((degrees + 1.0) * np.log1p(square / degrees)))
