r"""The loss of a run not yet made: the posterior, corrected by its back-tests.

**Back-tests** are what the forecast would have said, had one stopped earlier: the cheapest 50 and 70 % of
the runs are known, the more expensive ones are forecast; z = (truth - mean) / sd. With K back-tests, zbar the
mean of their mean scores and q of their mean min(z^2, 9), the forecast is moved by 0.4 zbar sd, and its scale
is sqrt(v) sd with

    v = (4 * 0.55 + 0.5 q K) / (4 + 0.5 K).

The log loss is Student's t with six degrees of freedom about mean + shift sd, of scale sqrt(v) sd. Draws at
several points belong together: one Gaussian vector u over all points with the posterior's covariance, and one
scale t = sqrt(v) sqrt(6 / chi2_6) for the whole draw,

    ln L = mean + shift sd + t u,

so that every single point has exactly the quantiles of its interval. In component i, u is

    J dtheta + part [(G - J) dtheta + what the rows leave of the discrepancy + m_i - mean].

``part`` = 1 for losses and differences. For the place of a minimum 0.5: drawn in full, the drift makes the
argmins of draws three to six times too wide.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError, check_size
from sparselaw.forecasting.known_runs import KnownRuns, refusal, sentence
from sparselaw.forecasting.posterior import Posterior, posterior
from sparselaw.forecasting.settings import SETTINGS, Settings
from sparselaw.interval import Interval
from sparselaw.records import Record, to_dict


@dataclass(frozen=True, slots=True, kw_only=True)
class BackTest(Record):
    """Fitted on the cheapest ``cutoff`` of the runs: how the other ``runs`` turned out.

    ``covered`` is the share inside the 95 % interval that it would have given, ``error`` the root mean square
    of the log error and ``bias`` its mean (positive: the losses were higher than predicted), ``width`` the
    median of the interval's width in log loss. ``reason`` says why there is no such forecast.
    """

    cutoff: float
    fitted: int
    runs: int
    covered: float
    error: float
    bias: float
    width: float
    reason: str = ""
    later: KnownRuns = field(repr=False)  # the runs that were forecast
    mean: FloatArray = field(repr=False)  # of their log losses
    half: FloatArray = field(repr=False)  # half the width of their intervals, in log loss
    scores: FloatArray = field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        judged = dict.fromkeys(("covered", "error", "bias", "width"), self.reason)
        return to_dict(self, "cutoff", "fitted", "runs", *judged, **judged)

    def words(self) -> str:
        """In a line."""
        stopped = f"stopped at the cheapest {100 * self.cutoff:.0f} % of the runs"
        if self.reason:
            return f"{stopped}: no forecast, {self.reason}"
        return (
            f"{stopped}: {100 * self.covered:.0f} % of the {self.runs} more expensive ones inside, "
            f"rms error {100 * self.error:.2g} %"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How back-tests inform a forecast: its mean is moved by ``shift`` sd, its scale is sqrt(``v``) sd."""

    shift: float
    v: float
    settings: Settings

    @property
    def widening(self) -> float:
        """Width of the interval over that without any back-test."""
        return float(np.sqrt(self.v / self.settings.scale_alone))

    def half_width(self, level: float) -> float:
        """Of the interval at this level, in sd of the posterior."""
        return float(np.sqrt(self.v)) * student_quantile(0.5 * (1.0 + level), self.settings.degrees)


def calibration(tests: tuple[BackTest, ...], settings: Settings = SETTINGS) -> Calibration:
    """From the back-tests that could be made."""
    made = [test.scores for test in tests if not test.reason]
    if not made:
        return Calibration(shift=0.0, v=settings.scale_alone, settings=settings)
    worth, value = settings.scale_prior
    squares = np.mean([np.minimum(z**2, settings.largest_square).mean() for z in made])
    told = settings.scale_per_cut * len(made)
    return Calibration(
        shift=settings.shift * float(np.mean([z.mean() for z in made])),
        v=float((worth * value + told * squares) / (worth + told)),
        settings=settings,
    )


def student_quantile(probability: float, degrees: int) -> float:
    """Of Student's t."""
    from scipy.special import stdtrit  # a quarter of the import time of scipy.stats

    return float(stdtrit(degrees, probability))


def backtest(runs: KnownRuns, settings: Settings = SETTINGS) -> tuple[BackTest, ...]:
    """One for each cut of the settings."""
    return tuple(back_test_at(runs, cutoff, settings) for cutoff in settings.cuts)


def back_test_at(runs: KnownRuns, cutoff: float, settings: Settings = SETTINGS) -> BackTest:
    """Of the rows a forecast uses: above 400, 400 of them."""
    used = runs.in_order().thinned(settings.most_rows)
    count = round(cutoff * len(used))
    known, later = used.take(np.arange(count)), used.take(np.arange(count, len(used)))
    refused = refusal(known)
    if refused is None:
        mean, sd = posterior(known, settings).log_losses(later.N, later.D)
    else:
        mean = sd = np.full(len(later), np.nan)
    error = np.log(later.loss) - mean
    half = Calibration(shift=0.0, v=settings.scale_alone, settings=settings).half_width(0.95) * sd
    return BackTest(
        cutoff=cutoff,
        fitted=count,
        runs=len(later),
        covered=float("nan") if refused else float(np.mean(np.abs(error) <= half)),
        error=float(np.sqrt(np.mean(error**2))),
        bias=float(np.mean(error)),
        width=float(np.median(2.0 * half)),
        reason=sentence(refused) if refused else "",
        later=later,
        mean=mean,
        half=half,
        scores=error / sd,
    )


DRAWING = 3  # the stream of random numbers that forecasts use


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictive:
    """Losses at any (N, D), of the first recipe of the posterior where no other is named."""

    posterior: Posterior
    calibration: Calibration

    def centre_and_scale(self, N: Any, D: Any) -> tuple[FloatArray, FloatArray]:
        """Of Student's t, for the log loss of a new run at every (N, D)."""
        mean, sd = self.posterior.log_losses(N, D)
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
        recipe: IntArray | int = 0,
    ) -> FloatArray:
        """(draws, points) of the log loss, each of all points at once.

        ``noise`` adds a run's own; without it the loss is the expected one, as a plan wants it.
        """
        posterior, degrees = self.posterior, self.calibration.settings.degrees
        x = posterior.points(N, D)
        centre, covariance = posterior.mixture(x, recipe, part)
        own = np.broadcast_to(posterior.run_noise[np.asarray(recipe)], len(x))
        if noise:
            covariance[np.diag_indices_from(covariance)] += own**2
        generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(DRAWING,))))
        t = np.sqrt(self.calibration.v * degrees / generator.chisquare(degrees, check_size("draws", draws)))
        values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
        root = vectors * np.sqrt(np.maximum(values, 0.0))  # what rounding made negative is zero
        drawn = t[:, None] * (generator.standard_normal((draws, len(x))) @ root.T)
        if shift:
            _, whole = posterior.mixture(x, recipe)
            centre = centre + self.calibration.shift * np.sqrt(np.diag(whole) + own**2)
        return np.asarray(centre + drawn)


def check_probabilities(values: Any) -> FloatArray:
    """Each between 0 and 1, ends excluded."""
    found = np.atleast_1d(np.asarray(values, dtype=np.float64))
    for value in found:
        if not 0.0 < value < 1.0:
            remedy = "choose for example 0.1, 0.5, 0.9"
            raise InputError("probability", value, "is not between 0 and 1", remedy)
    return found
