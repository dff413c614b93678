"""Logs in, a fitted law out that says how any schedule ends: means and covariances of final log losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.curves.estimate import Estimate, estimate
from sparselaw.curves.law import FeatureForm, Form, SizesForm, Track, Units, track
from sparselaw.curves.logs import FLOOR, Log
from sparselaw.curves.schedules import Schedule
from sparselaw.errors import InputError
from sparselaw.interval import Interval

DEGREES = 8  # of Student's t: the scales rest on a handful of independent runs
RUNNING = 1.5  # error of the rest of a running curve over what the model says of its residuals
OTHER_PEAK = 0.012  # relative, for each factor of two between peak rates
OTHER_SIZE = 0.004  # relative, for each factor of two to the nearest size that was fitted
REWARMED = 0.01  # relative, where the rate rises again
SMOOTHED = 1.5  # error after a fit to smoothed logs, over that without
FINISHED = 0.995  # of the planned steps
ONE_PEAK = 1.1  # ratio of peak rates up to which p, m and r may be free
WARM, EARLY = 2.0, 0.06  # left out: up to twice the tau of the warm-up, or 6 % of the last tau
EACH, ALL = 60, 600  # points of a run, and about as many of all of them
LEAST = 8  # of a run, however many runs
NOISY = 1e-3  # scatter above which neighbours are averaged rather than passed over
FEWEST = 8  # points of all runs together that a fit needs: it has five to eight parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """What is fitted: tracks, log losses, the noise of each point; ``short`` names runs without any."""

    tracks: tuple[Track, ...]
    log_loss: FloatArray
    white: FloatArray
    units: Units
    short: tuple[str, ...]


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
        mean, cov = self.estimate.predict(tracks, [a.run is not None for a in asked], RUNNING)
        if any(log.smoothed for log in self.logs):
            cov = cov * SMOOTHED**2
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


def make_points(logs: Sequence[Log]) -> Points:
    """Track ``i`` has the run number of its log. Raises where too little is left."""
    ends = [float(log.schedule.tau(log.last)) for log in logs]
    warm = max(float(log.schedule.tau(log.schedule.warmup)) for log in logs)
    start = max(WARM * warm, EARLY * max(ends))
    each = EACH if len(logs) * EACH <= ALL else max(LEAST, ALL // len(logs))
    tracks, values, noise, short = [], [], [], []
    for run, log in enumerate(logs):
        late = np.flatnonzero(log.schedule.tau(log.step) >= start)
        step, value, white = _few(log, late[late >= log.own], each)
        if step.size == 0:
            short.append(log.name)
            continue
        tracks.append(track(log.schedule, step, run, log.N if np.isfinite(log.N) else 1.0))
        values.append(value)
        noise.append(white)
    count = sum(v.size for v in values)
    if count < FEWEST:
        raise InputError(
            "curves", f"{count} points",
            f"are left after the start of training, fewer than the {FEWEST} that a fit needs",
            "log more often, or train longer than the warm-up",
        )  # fmt: skip
    tau = np.concatenate([t.tau for t in tracks])
    log_loss = np.concatenate(values)
    sizes = np.unique([t.N for t in tracks])
    units = Units(
        loss=float(np.exp(np.median(log_loss))),
        rate=max(log.schedule.peak for log in logs),
        tau=float(np.exp(np.mean(np.log(tau)))),
        last=float(tau.max()),
        N=float(np.exp(np.mean(np.log(sizes)))),
    )
    return Points(
        tracks=tuple(tracks), log_loss=log_loss, white=np.concatenate(noise), units=units, short=tuple(short)
    )


def _few(log: Log, rows: IntArray, most: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Half evenly in log step, half evenly in step; where noisy, means of all that lies between."""
    step, value = log.step[rows], np.log(log.loss[rows])
    if rows.size <= most:
        return step, value, np.full(rows.size, log.white)
    half = most // 2
    wanted = np.concatenate(
        [np.linspace(step[0], step[-1], half), np.geomspace(step[0], step[-1], most - half)]
    )
    if log.white <= NOISY:
        picked = np.unique(np.clip(np.searchsorted(step, wanted), 0, step.size - 1))
        return step[picked], value[picked], np.full(picked.size, log.white)
    edges = np.unique(np.concatenate([wanted, log.schedule.jumps()]))  # no mean across a jump of the rate
    bins = np.searchsorted(edges[1:-1], step, side="right")
    _, place, count = np.unique(bins, return_inverse=True, return_counts=True)
    means = [np.bincount(place, v) / count for v in (step, value)]
    # Smoothed neighbours share their noise: a mean of them is no better.
    left = log.white / np.sqrt(np.ones_like(count) if log.smoothed else count)
    return means[0], means[1], np.maximum(left, FLOOR)
