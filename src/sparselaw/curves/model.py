"""Logs in, a fitted law out that says how any schedule ends: means and covariances of final log losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.curves.estimate import Estimate, estimate
from sparselaw.curves.law import FeatureForm, Form, SizesForm, Track, Units, track
from sparselaw.curves.logs import FLOOR, Log
from sparselaw.curves.schedules import Schedule
from sparselaw.errors import InputError
from sparselaw.interval import Interval
from sparselaw.numbers import short_size

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
FEWEST_POINTS = 8  # of a run, however many runs
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

    @property
    def fitted(self) -> set[int]:
        """Runs of which points were fitted."""
        return {t.run for t in self.points.tracks}

    @property
    def sizes(self) -> list[float]:
        """Of the runs, each once; 1 where sizes are not known."""
        return sorted({log.size for log in self.logs})

    def kinds(self) -> list[str]:
        """For each run how many there are of its size: where there are too many to be named one by one."""
        sizes = [log.size for log in self.logs]
        of = [f" of {short_size(N)}" * (len(set(sizes)) > 1) for N in sizes]
        return [f"{sizes.count(N)} runs{words}" for N, words in zip(sizes, of, strict=True)]

    @property
    def start(self) -> float:
        """The first step that was fitted."""
        return float(min(t.step[0] for t in self.points.tracks))

    def plan(self, run: int) -> Schedule:
        """The schedule of a run to its end."""
        return self.plans.get(run, self.logs[run].schedule)

    def seen(self, run: int) -> float:
        """Share of the planned steps that is measured."""
        return min(1.0, self.logs[run].last / self.plan(run).last)

    def running(self, run: int) -> bool:
        return self.seen(run) < FINISHED

    def end(self, run: int, N: float | None = None) -> Asked:
        """The end of a run; for another size, that of its schedule there: sizes are not what is compared."""
        log = self.logs[run]
        own = run in self.fitted and N in (None, log.size)
        return Asked(schedule=self.plan(run), N=log.size if N is None else N, run=run if own else None)

    def number(self, name: str, role: str = "run") -> int:
        """Of the run with this name."""
        names = [log.name for log in self.logs]
        if name not in names:
            raise InputError(role, name, "is no run of the curves", f"name one of {', '.join(names[:5])}")
        return names.index(name)

    def under(self, schedule: Schedule, N: float, run: int | None = None) -> Asked:
        """The end of a schedule, after the logged rates of the run that it goes on from.

        Unless given, that is the longest run whose rates, as far as they are measured, are the schedule's.
        """
        if run is None:
            alike = [
                i
                for i in self.fitted
                if self.logs[i].size == N and self.logs[i].schedule.begins_like(schedule, self.logs[i].last)
            ]
            if not alike:
                return Asked(schedule=schedule, N=N)
            run = max(alike, key=lambda i: self.logs[i].last)
        log = self.logs[run]
        whole = log.schedule.then(schedule, log.last) if log.last < schedule.last else schedule
        return Asked(schedule=whole, N=N, run=run)

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

    def loss(self, asked: Asked) -> Interval:
        """With its 95 % interval."""
        mean, cov = self.predict([asked])
        return loss_interval(mean[0], float(np.sqrt(cov[0, 0])))

    def along(self, asked: Asked, steps: FloatArray) -> FloatArray:
        """(3, steps): low end, best value and high end of the loss on the way to an end."""
        mean, cov = self.predict([replace(asked, step=float(s)) for s in steps])
        return np.asarray(np.exp(mean + student() * np.sqrt(np.diag(cov)) * np.array([[-1.0], [0.0], [1.0]])))


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
    """95 % of a loss, from the mean and the error of its logarithm."""
    low, best, high = np.exp(mean + student() * sd * np.array([-1.0, 0.0, 1.0])).tolist()
    return Interval(low, best, high)


def make_points(logs: Sequence[Log]) -> Points:
    """Track ``i`` has the run number of its log. Raises where too little is left."""
    ends = [float(log.schedule.tau(log.last)) for log in logs]
    warm = max(float(log.schedule.tau(log.schedule.warmup)) for log in logs)
    start = max(WARM * warm, EARLY * max(ends))
    each = EACH if len(logs) * EACH <= ALL else max(FEWEST_POINTS, ALL // len(logs))
    tracks, values, noise, short = [], [], [], []
    for run, log in enumerate(logs):
        late = np.flatnonzero(log.schedule.tau(log.step) >= start)
        step, value, white = _few(log, late[late >= log.own], each)
        if step.size == 0:
            short.append(log.name)
            continue
        tracks.append(track(log.schedule, step, run, log.size))
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
    jumps = log.schedule.steps[1:][np.diff(log.schedule.steps) == 0.0]
    edges = np.unique(np.concatenate([wanted, jumps]))  # no mean across a jump of the rate
    bins = np.searchsorted(edges[1:-1], step, side="right")
    _, place, count = np.unique(bins, return_inverse=True, return_counts=True)
    means = [np.bincount(place, v) / count for v in (step, value)]
    # Smoothed neighbours share their noise: a mean of them is no better.
    left = log.white / np.sqrt(np.ones_like(count) if log.smoothed else count)
    return means[0], means[1], np.maximum(left, FLOOR)
