"""How curves end: runs at the end of their plan, and schedules asked for beside the present one."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sparselaw.curves.logs import Log
from sparselaw.curves.model import DEGREES, FINISHED, Asked, Model, fit_model, loss_interval, student
from sparselaw.curves.schedules import Schedule, make_schedule, written_schedule
from sparselaw.errors import InputError
from sparselaw.interval import Interval
from sparselaw.records import Record, finite, to_dict

CUTS = (0.3, 0.5, 0.7)  # of what is measured, for the back-test
ANNEALED = 0.2  # of the peak: a run that ends below is annealed
DECAY, TO = 0.2, 0.1  # share of the steps, and of the peak: how a run that is not would be annealed
BESIDE = 12  # other curves in a back-test, those of the same size first: it is fitted three times
ALIKE = 0.05  # relative difference in steps of runs that may be compared
DECAYS = (0.05, 0.1, 0.2, 0.3, 0.5)  # share of the steps for the decay of a wsd
ENDS = (0.0, 0.1)  # of the peak


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """The last measured loss as it would have been predicted from the first ``cutoff`` of the steps."""

    cutoff: float
    loss: Interval | None
    measured: float
    reason: str = ""

    @property
    def inside(self) -> bool | None:
        return None if self.loss is None else self.loss.contains(self.measured)

    def as_dict(self) -> dict[str, Any]:
        reasons = {"loss": self.reason} if self.reason else {}
        return to_dict(self, "cutoff", "loss", "measured", **reasons) | {"inside": self.inside}


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveEnd(Record):
    """A run at the last step of its plan; ``seen`` is the share of these steps that is measured."""

    run: str
    N: float | None
    D: float | None
    steps: float
    seen: float
    loss: float  # the last one measured
    final: Interval
    sd: float  # standard error of the logarithm of the final loss


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleEnd(Record):
    """A schedule asked for; ``difference`` is its final loss minus that of the run ``against``."""

    reasons: ClassVar[Mapping[str, str]] = {"continues": "no run begins with these rates"}

    schedule: str
    steps: float
    N: float | None
    final: Interval
    sd: float
    continues: str | None  # the run whose measured rates this schedule goes on from, if any
    against: str
    difference: Interval
    probability: float  # that it ends lower


def known_size(N: float) -> float | None:
    """In models a size that is not known is 1."""
    return None if N == 1.0 else N


def curve_ends(model: Model) -> tuple[CurveEnd, ...]:
    mean, cov = model.predict([model.end(i) for i in range(len(model.logs))])
    sd = np.sqrt(np.diag(cov))
    return tuple(
        CurveEnd(
            run=log.name, N=finite(log.N), D=finite(log.D * model.plan(i).last / log.schedule.last),
            steps=model.plan(i).last, seen=model.seen(i), loss=float(log.loss[-1]),
            final=loss_interval(mean[i], sd[i]), sd=float(sd[i]),
        )
        for i, log in enumerate(model.logs)
    )  # fmt: skip


def schedule_ends(
    model: Model, schedules: Sequence[Schedule], sizes: Sequence[float], present: str | None = None
) -> tuple[ScheduleEnd, ...]:
    """Each schedule for each size. See ``present_run`` for what it is compared with."""
    found = []
    for schedule, N in itertools.product(schedules, sizes):
        asked, against = model.under(schedule, N), present_run(model, schedule, N, present)
        mean, cov = model.predict([asked, model.end(against, N)])
        difference, probability = compared(mean, cov)
        sd = float(np.sqrt(cov[0, 0]))
        found.append(
            ScheduleEnd(
                schedule=schedule.name, steps=schedule.last, N=known_size(N),
                final=loss_interval(mean[0], sd), sd=sd,
                continues=None if asked.run is None else model.logs[asked.run].name,
                against=model.logs[against].name, difference=difference, probability=probability,
            )
        )  # fmt: skip
    return tuple(found)


def compared(mean: Any, cov: Any) -> tuple[Interval, float]:
    """The first of two losses minus the second, and the probability that it is lower."""
    from scipy.special import stdtr

    gap = float(mean[0] - mean[1])
    sd = float(np.sqrt(max(cov[0, 0] + cov[1, 1] - 2.0 * cov[0, 1], 1e-16)))
    base = float(np.exp(mean[1]))
    low, best, high = (base * np.expm1(gap + student() * sd * np.array([-1.0, 0.0, 1.0]))).tolist()
    return Interval(low, best, high), float(stdtr(DEGREES, -gap / sd))


def with_plans(model: Model, asked: Sequence[Schedule]) -> Model:
    """A run that one schedule alone goes on from, and whose log has no plan, is on that schedule."""
    going: dict[int, list[Schedule]] = {}
    for schedule, N in itertools.product(asked, model.sizes):
        end = model.under(schedule, N)
        run = end.run
        if run is not None and schedule.last > 1.01 * model.logs[run].last and not model.running(run):
            going.setdefault(run, []).append(end.schedule)
    return replace(model, plans={run: found[0] for run, found in going.items() if len(found) == 1})


def present_run(model: Model, schedule: Schedule, N: float, name: str | None = None) -> int:
    """What a schedule is compared with: the run named; else the one still running; else the lowest end.

    The lowest among runs of about as many steps, where there are some, of the nearest size.
    """
    if name is not None:
        return model.number(name, "present")
    apart = [abs(np.log(log.size / N)) for log in model.logs]
    near = [i for i, d in enumerate(apart) if d <= min(apart) + 1e-9]
    running = [i for i in near if model.running(i)]
    if running:
        return running[-1]
    alike = [i for i in near if abs(model.plan(i).last / schedule.last - 1.0) < ALIKE]
    return min(alike or near, key=lambda i: float(model.logs[i].loss[-1]))


def annealed(model: Model) -> list[dict[str, Any]]:
    """Every run as it ends by its log, annealed: a row of a table of runs for each.

    A run that ends at more than a fifth of its peak rate is taken as it would have ended, in as many steps,
    with the last fifth of them spent on a straight decay to a tenth of the peak.
    """
    asked, annealed_by = [], []
    for i, log in enumerate(model.logs):
        high = log.schedule.rates[-1] > ANNEALED * log.schedule.peak
        schedule = with_decay(log.schedule) if high else log.schedule
        asked.append(Asked(schedule=schedule, N=log.size, run=i if i in model.fitted else None))
        unmeasured = high or log.last < FINISHED * log.schedule.last
        annealed_by.append("predicted" if unmeasured else "measured")
    mean, cov = model.predict(asked)
    # the standard deviation of Student's t, over its scale
    sd = np.sqrt(np.diag(cov) * DEGREES / (DEGREES - 2.0))
    return [
        {
            "run": log.name, "N": log.N, "D": log.D if np.isfinite(log.D) else log.schedule.last,
            "loss": best, "stderr": error * best, "steps": log.schedule.last, "annealed": by,
        }
        for log, by, best, error in zip(
            model.logs, annealed_by, np.exp(mean).tolist(), sd.tolist(), strict=True
        )
    ]  # fmt: skip


def with_decay(schedule: Schedule) -> Schedule:
    """The same steps, with the last fifth on a straight line to a tenth of the peak."""
    start = max((1.0 - DECAY) * schedule.last, schedule.warmup)
    before = schedule.steps < start
    steps = [*schedule.steps[before], start, schedule.last]
    low = min(TO * schedule.peak, float(schedule.rates[-1]))
    rates = [*schedule.rates[before], float(schedule.rate(start)), low]
    return make_schedule(steps, rates, schedule.warmup, schedule.name)


def back_test(logs: Sequence[Log], run: int, cuts: Sequence[float] = CUTS) -> tuple[Earlier, ...]:
    """How the last measured loss of a run would have been predicted earlier: fitted anew to what there was.

    Runs that share a trunk with it are left out, for they know what came after.
    """
    log = logs[run]
    family = {log.name, log.trunk} - {""}
    others = [o for i, o in enumerate(logs) if i != run and o.name not in family and o.trunk not in family]
    others = sorted(others, key=lambda o: (o.size != log.size, -o.schedule.peak))[:BESIDE]
    measured = float(np.exp(np.mean(np.log(log.loss[-3:])))) if log.loss.size > 30 else float(log.loss[-1])
    found = []
    for cut in cuts:
        try:
            model = fit_model([log.until(cut * log.last), *others])
            loss = model.loss(replace(model.end(0), step=log.last))
            found.append(Earlier(cutoff=cut, loss=loss, measured=measured))
        except InputError as error:
            found.append(Earlier(cutoff=cut, loss=None, measured=measured, reason=error.condition))
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class BestSchedule(Record):
    """``gain`` is the loss saved against ``against``; every member of the family is in ``tried``."""

    steps: float
    N: float | None
    schedule: str
    final: Interval
    against: str
    gain: Interval
    probability: float
    worth_it: bool  # is the gain above its error?
    tried: tuple[Mapping[str, Any], ...]  # schedule and final loss of each

    def words(self) -> str:
        sure = "" if self.worth_it else ": not worth it, the gain is below its error"
        return (
            f"best of {len(self.tried)} for {self.steps:.0f} steps: {self.schedule}, {self.final}; "
            f"gain over {self.against} {self.gain}{sure}"
        )


def best_schedule(
    model: Model, steps: int, N: float, warmup: float, present: str | None = None
) -> BestSchedule:
    """The lowest mean of cosine, linear and wsd of several decays, to nothing and to a tenth of the peak.

    Their peak rate is that of the run they are compared with: the present one where it has as many steps and
    that size, otherwise the cosine to a tenth.
    """
    own = present_run(model, written_schedule(f"constant:{steps}", peak=1.0, warmup=0.0), N, present)
    log = model.logs[own]
    peak = log.schedule.peak
    names = []
    for end in ENDS:
        tail = f",end={end * peak:.6g}"
        starts = [round((1.0 - share) * steps) for share in DECAYS]
        names += [f"cosine:{steps}{tail}", f"linear:{steps}{tail}"]
        names += [f"wsd:{start},{steps}{tail}" for start in starts if start >= warmup]
    asked = [Asked(schedule=written_schedule(n, peak=peak, warmup=warmup), N=N) for n in names]
    same = abs(log.schedule.last / steps - 1.0) < 0.01 and log.size == N
    usual = f"cosine:{steps},end={0.1 * peak:.6g}"
    mean, cov = model.predict([*asked, model.end(own) if same else asked[names.index(usual)]])
    best = int(np.argmin(mean[:-1]))
    pair = [len(names), best]
    gain, probability = compared(mean[pair], cov[np.ix_(pair, pair)])
    return BestSchedule(
        steps=steps, N=known_size(N), schedule=names[best],
        final=loss_interval(mean[best], float(np.sqrt(cov[best, best]))),
        against=log.name if same else usual, gain=gain, probability=1.0 - probability,
        worth_it=gain.low > 0.0,
        tried=tuple({"schedule": n, "final": float(np.exp(m))} for n, m in zip(names, mean, strict=False)),
    )  # fmt: skip
