"""Logs in, a fitted law out that says how any schedule ends: means and covariances of final log losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.curves.estimate import Estimate, estimate
from sparselaw.curves.law import FeatureForm, Form, track
from sparselaw.curves.learning_rate import Schedule
from sparselaw.curves.logs import FLOOR, Log
from sparselaw.curves.points import Points, make_points
from sparselaw.curves.sizes import SizesForm
from sparselaw.interval import Interval

DEGREES = 6  # of Student's t: the scales rest on a handful of independent runs
RUNNING = 1.6  # error of the rest of a running curve over what the model says of it
OTHER_PEAK = 0.012  # relative, for each factor of two between peak rates
OTHER_SIZE = 0.004  # relative, for each factor of two to the nearest size that was fitted
REWARMED = 0.01  # relative, where the rate rises again
SMOOTHED = 1.5  # error after a fit to smoothed logs, over that without
FINISHED = 0.995  # of the planned steps
ONE_PEAK = 1.1  # ratio of peak rates up to which p and m may be free


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The loss at a step of a schedule (its last, unless given) for a size; ``run`` that it continues."""

    schedule: Schedule
    N: float
    run: int | None = None
    step: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A law fitted to logs; ``plans`` has schedules that runs are on, beyond what their logs say."""

    logs: tuple[Log, ...]
    points: Points
    estimate: Estimate
    plans: Mapping[int, Schedule] = field(default_factory=dict)

    def plan(self, run: int) -> Schedule:
        """The schedule of a run to its end."""
        return self.plans.get(run, self.logs[run].schedule)

    def seen(self, run: int) -> float:
        """Share of the planned steps that is measured."""
        return min(1.0, self.logs[run].last / self.plan(run).last)

    def running(self, run: int) -> bool:
        return self.seen(run) < FINISHED

    def predict(self, asked: Sequence[Asked]) -> tuple[FloatArray, FloatArray]:
        """Means and covariances of the log losses asked for. Different runs have residuals of their own."""
        tracks = [
            track(a.schedule, np.array([a.schedule.last if a.step is None else a.step]),
                  -1 - i if a.run is None else a.run, a.N)
            for i, a in enumerate(asked)
        ]  # fmt: skip
        mean, cov = self.estimate.predict(tracks, [a.run is not None for a in asked])
        smoothed = SMOOTHED if any(log.smoothed for log in self.logs) else 1.0
        wider = np.array([smoothed * (RUNNING if a.run is not None else 1.0) for a in asked])
        cov = cov * np.outer(wider, wider)
        cov[np.diag_indices_from(cov)] += [self._unlike(a) + FLOOR**2 for a in asked]
        return mean, cov

    def _unlike(self, asked: Asked) -> float:
        """Variance for what no curve of the fit has shown: another peak, another size, a rate that rises."""
        peak = min(abs(np.log2(asked.schedule.peak / log.schedule.peak)) for log in self.logs)
        size = min(abs(np.log2(asked.N / t.N)) for t in self.points.tracks)
        again = asked.schedule.rewarmed() and not any(log.schedule.rewarmed() for log in self.logs)
        return float((OTHER_PEAK * peak) ** 2 + (OTHER_SIZE * size) ** 2 + (REWARMED * again) ** 2)

    def losses(self, asked: Sequence[Asked]) -> list[Interval]:
        """Final losses with their 95 % intervals."""
        mean, cov = self.predict(asked)
        return [loss_interval(m, v) for m, v in zip(mean, np.sqrt(np.diag(cov)), strict=True)]


def fit_model(logs: Sequence[Log], form: Form | None = None) -> Model:
    """Fit a form to logs; by default the law of features, over sizes where there are several."""
    points = make_points(logs)
    if form is None:
        peaks = [log.schedule.peak for log in logs]
        form = FeatureForm(free=max(peaks) < ONE_PEAK * min(peaks))
        if len({t.N for t in points.tracks}) > 1:
            form = SizesForm(form)
    fitted = estimate(form, points.tracks, points.log_loss, points.white, points.units)
    return Model(logs=tuple(logs), points=points, estimate=fitted)


def student(level: float = 0.95) -> float:
    """Half the width of an interval, over its standard error."""
    from scipy.special import stdtrit

    return float(stdtrit(DEGREES, 0.5 + 0.5 * level))


def loss_interval(mean: float, sd: float) -> Interval:
    """Of a loss, from the mean and the error of its logarithm."""
    low, best, high = np.exp(mean + student() * sd * np.array([-1.0, 0.0, 1.0])).tolist()
    return Interval(low, best, high)
