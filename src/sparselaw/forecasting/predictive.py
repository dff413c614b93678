r"""The loss of a run not yet made: the posterior, corrected by its back-tests.

The log loss is Student's t with three degrees of freedom about mean + shift sd, of scale sqrt(v) sd. Draws at
several points belong together: one Gaussian vector u over all points with the posterior's covariance, and one
scale t = sqrt(v) sqrt(3 / chi2_3) for the whole draw,

    ln L = mean + shift sd + t u,

so that every single point has exactly the quantiles of its interval. In component i, u is

    J dtheta + part [(G - J) dtheta + what the rows leave of the discrepancy + m_i - mean].

``part`` = 1 for losses and differences. For the place of a minimum 0.5: drawn in full, the drift makes the
argmins of draws three to six times too wide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError, check_size
from sparselaw.forecasting.backtest import Calibration, student_quantile
from sparselaw.forecasting.posterior import Posterior
from sparselaw.interval import Interval

DRAWING = 3  # the stream of random numbers that forecasts use


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictive:
    """Losses at any (N, D), of one recipe of the posterior."""

    posterior: Posterior
    calibration: Calibration
    recipe: int = 0

    def centre_and_scale(self, N: Any, D: Any) -> tuple[FloatArray, FloatArray]:
        """Of Student's t, for the log loss of a new run at every (N, D)."""
        mean, sd = self.posterior.log_losses(N, D, self.recipe)
        return mean + self.calibration.shift * sd, float(np.sqrt(self.calibration.v)) * sd

    def quantiles(self, N: Any, D: Any, probabilities: Any) -> FloatArray:
        """(points, probabilities): losses."""
        centre, scale = self.centre_and_scale(N, D)
        degrees = self.calibration.settings.degrees
        t = np.array([student_quantile(p, degrees) for p in check_probabilities(probabilities)])
        return np.asarray(np.exp(centre[:, None] + scale[:, None] * t))

    def intervals(self, N: Any, D: Any, level: float = 0.95) -> list[Interval]:
        """The middle ``level`` of the loss at every (N, D), about its median."""
        low, high = 0.5 * (1.0 - level), 0.5 * (1.0 + level)
        return [Interval(*map(float, ends)) for ends in self.quantiles(N, D, [low, 0.5, high])]

    def sd(self, N: Any, D: Any) -> FloatArray:
        """(points,): standard deviation of the loss, that of its logarithm times the median."""
        centre, scale = self.centre_and_scale(N, D)
        degrees = self.calibration.settings.degrees
        return np.asarray(np.exp(centre) * scale * np.sqrt(degrees / (degrees - 2.0)))

    def log_draws(
        self,
        N: Any,
        D: Any,
        draws: int,
        *,
        seed: int = 0,
        part: float = 1.0,
        noise: bool = True,
        shift: bool = True,
        recipe: IntArray | int | None = None,
    ) -> FloatArray:
        """(draws, points) of the log loss, each of all points at once.

        ``noise`` adds a run's own; without it the loss is the expected one, as a plan wants it.
        """
        at = self.recipe if recipe is None else recipe
        posterior, degrees = self.posterior, self.calibration.settings.degrees
        x = posterior.points(N, D)
        centre, covariance = posterior.mixture(x, at, part)
        own = np.broadcast_to(posterior.run_noise[np.asarray(at)], len(x))
        if noise:
            covariance[np.diag_indices_from(covariance)] += own**2
        generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(DRAWING,))))
        t = np.sqrt(self.calibration.v * degrees / generator.chisquare(degrees, check_size("draws", draws)))
        drawn = t[:, None] * (generator.standard_normal((draws, len(x))) @ _root(covariance).T)
        if shift:
            _, whole = posterior.mixture(x, at)
            centre = centre + self.calibration.shift * np.sqrt(np.diag(whole) + own**2)
        return np.asarray(centre + drawn)


def check_probabilities(values: Any) -> FloatArray:
    """Each between 0 and 1, ends excluded."""
    found = np.atleast_1d(np.asarray(values, dtype=np.float64))
    for value in found:
        if not 0.0 < value < 1.0:
            raise InputError(
                "probability", value, "is not between 0 and 1", "choose for example 0.1, 0.5, 0.9"
            )
    return found


def _root(covariance: FloatArray) -> FloatArray:
    """R with R R^T = covariance; what rounding made negative is zero."""
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
