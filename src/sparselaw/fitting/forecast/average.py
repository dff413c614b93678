"""The posterior averaged over the size tau of the discrepancy.

Weights are exp(-1/2 [F + ln|K| + ln|H| + ln^2(tau / 0.008)]), Laplace's evidence of each tau times a prior
around 0.8 %. With mean m and variance v at each tau, mu = sum w m and sd^2 = sum w (v + (m - mu)^2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.fitting.fitted_runs import Runs
from sparselaw.fitting.forecast.coupled_model import NAMES, Prior, log_parameters, prior_of
from sparselaw.fitting.forecast.process import Posterior, Rows, matern, posterior
from sparselaw.fitting.forecast.refusals import log_compute
from sparselaw.fitting.forecast.robust import law_alone
from sparselaw.interval import Z95, Interval
from sparselaw.laws import CoupledLaw

TAUS = (0.004, 0.008, 0.016, 0.032, 0.064)
TYPICAL = 0.008
MOST_ROWS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Average:
    """What the runs say of every loss: one posterior for each tau, and their weights."""

    centre: FloatArray  # (2,): mean ln N, mean ln D
    posteriors: tuple[Posterior, ...]
    weights: FloatArray
    used: IntArray  # row numbers in the runs: all, or every so many along compute
    noise: float
    converged: bool

    @property
    def tau(self) -> float:
        """The typical size of the discrepancy."""
        return float(np.exp(self.weights @ np.log([p.tau for p in self.posteriors])))

    def log_losses(self, N: FloatArray, D: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the log loss of a new run at every (N, D)."""
        x = np.column_stack([np.log(N), np.log(D)]) - self.centre
        return self._mixture([p.predict(x) for p in self.posteriors])

    def losses(self, N: FloatArray, D: FloatArray) -> list[Interval]:
        return [interval(m, s) for m, s in zip(*self.log_losses(N, D), strict=True)]

    def parameters(self) -> dict[str, Interval]:
        """E, A, B, alpha, beta, g, each with its interval."""
        each = []
        for p in self.posteriors:
            logs, slopes = log_parameters(p.theta, self.centre)
            each.append((logs, np.einsum("ij,jk,ik->i", slopes, p.covariance, slopes)))
        mean, sd = self._mixture(each)
        best = self.law()
        return {
            name: Interval(float(np.exp(m - Z95 * s)), getattr(best, name), float(np.exp(m + Z95 * s)))
            for name, m, s in zip(NAMES, mean, sd, strict=True)
        }

    def law(self) -> CoupledLaw:
        """The law at the mean of theta."""
        theta = self.weights @ np.array([p.theta for p in self.posteriors])
        values = np.exp(log_parameters(theta, self.centre)[0])
        return CoupledLaw(**dict(zip(NAMES, map(float, values), strict=True)))

    def pulls(self, N: FloatArray, D: FloatArray) -> FloatArray:
        """(points, used rows): by how much a run moves the log loss at (N, D), against one without it."""
        x = np.column_stack([np.log(N), np.log(D)]) - self.centre
        return np.asarray(np.tensordot(self.weights, [p.pulls(x) for p in self.posteriors], axes=1))

    def _mixture(self, each: Sequence[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray]:
        means, variances = (np.array(values) for values in zip(*each, strict=True))
        mean = self.weights @ means
        return mean, np.sqrt(self.weights @ (variances + (means - mean) ** 2))


def average(runs: Runs, prior: Prior | None = None) -> Average:
    """The posterior of the runs. Above 400 rows, 400 of them evenly along compute."""
    used = thinned(runs)
    few = runs.take(used)
    x = np.column_stack([np.log(few.N), np.log(few.D)])
    centre = x.mean(axis=0)
    x, y = x - centre, np.log(few.loss)
    prior = prior_of(few.loss) if prior is None else prior
    alone = law_alone(x, y, few.scale, prior)
    rows = Rows(x, y, alone.row_noise, alone.noise, few.group)
    kernel = matern(x, x)
    found: list[Posterior] = []
    for tau in TAUS:
        found.append(posterior(rows, prior, tau, found[-1].theta if found else alone.theta, kernel))
    return Average(
        centre=centre,
        posteriors=tuple(found),
        weights=tau_weights([p.tau for p in found], [p.evidence for p in found]),
        used=used,
        noise=alone.noise,
        converged=all(p.converged for p in found),
    )


def tau_weights(taus: Sequence[float], evidence: Sequence[float]) -> FloatArray:
    """(taus,): they sum to one.

    >>> tau_weights([0.008, 0.008], [4.0, 4.0])
    array([0.5, 0.5])
    """
    log_weights = -0.5 * (np.array(evidence) + np.log(np.array(taus) / TYPICAL) ** 2)
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())


def thinned(runs: Runs) -> IntArray:
    """Row numbers, in the order of the table."""
    if len(runs) <= MOST_ROWS:
        return np.arange(len(runs))
    order = np.argsort(log_compute(runs), kind="stable")
    places = np.linspace(0, len(runs) - 1, MOST_ROWS).round().astype(int)
    return np.sort(order[places])


def interval(mean: float, sd: float) -> Interval:
    low, best, high = np.exp([mean - Z95 * sd, mean, mean + Z95 * sd])
    return Interval(float(low), float(best), float(high))
