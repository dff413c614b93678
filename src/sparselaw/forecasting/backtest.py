r"""What the forecast would have said, had one stopped earlier; and what that teaches about its interval.

The cheapest 50 and 70 % of the runs are known, the more expensive ones are forecast; z = (truth - mean) / sd.
With K back-tests, zbar the mean of their mean scores and q of their mean min(z^2, 9), the forecast is moved
by 0.3 zbar sd, and its scale is sqrt(v) sd with

    v = (4 * 0.30 + q K / 2) / (4 + K / 2),    v = 0.38 where no back-test can be made.

The log loss is then Student's t with three degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.forecasting.known_runs import KnownRuns, refusal
from sparselaw.forecasting.posterior import posterior
from sparselaw.forecasting.settings import SETTINGS, Settings
from sparselaw.records import put


@dataclass(frozen=True, slots=True, kw_only=True)
class BackTest:
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
        result: dict[str, Any] = {"cutoff": self.cutoff, "fitted": self.fitted, "runs": self.runs}
        for key in ("covered", "error", "bias", "width"):
            put(result, key, getattr(self, key), self.reason)
        return result

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

    @property
    def deviation(self) -> float:
        """Standard deviation of the log loss, in sd of the posterior."""
        degrees = self.settings.degrees
        return float(np.sqrt(self.v * degrees / (degrees - 2.0)))


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
    if refused is not None:
        none = np.full(len(later), np.nan)
        return _record(cutoff, count, later, none, none, settings, refused.sentence())
    mean, sd = posterior(known, settings).log_losses(later.N, later.D)
    return _record(cutoff, count, later, mean, sd, settings)


def _record(
    cutoff: float,
    fitted: int,
    later: KnownRuns,
    mean: FloatArray,
    sd: FloatArray,
    settings: Settings,
    reason: str = "",
) -> BackTest:
    error = np.log(later.loss) - mean
    half = Calibration(shift=0.0, v=settings.scale_alone, settings=settings).half_width(0.95) * sd
    return BackTest(
        cutoff=cutoff,
        fitted=fitted,
        runs=len(later),
        covered=float("nan") if reason else float(np.mean(np.abs(error) <= half)),
        error=float(np.sqrt(np.mean(error**2))),
        bias=float(np.mean(error)),
        width=float(np.median(2.0 * half)),
        reason=reason,
        later=later,
        mean=mean,
        half=half,
        scores=error / sd,
    )
