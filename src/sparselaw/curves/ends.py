"""How curves end: runs at the end of their plan, and schedules asked for beside the present one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from sparselaw.curves.logs import Log
from sparselaw.curves.model import DEGREES, FINISHED, Asked, Model, fit_model, loss_interval, student
from sparselaw.curves.schedules import Schedule, make_schedule, spliced, written_schedule
from sparselaw.errors import InputError
from sparselaw.interval import Interval

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
        told = _plain(self) | {"inside": self.inside}
        reason = told.pop("reason")
        return told | ({"loss_reason": reason} if reason else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveEnd:
    """A run at the last step of its plan; ``seen`` is the share of these steps that is measured."""

    run: str
    N: float
    D: float
    steps: float
    seen: float
    loss: float  # the last one measured
    final: Interval
    sd: float  # standard error of the logarithm of the final loss

    def as_dict(self) -> dict[str, Any]:
        return {k: v for k, v in _plain(self).items() if k not in ("N", "D") or np.isfinite(v)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleEnd:
    """A schedule asked for; ``difference`` is its final loss minus that of the run ``against``."""

    schedule: str
    steps: float
    N: float
    final: Interval
    sd: float
    continues: str  # the run whose measured rates this schedule goes on from, if any
    against: str
    difference: Interval
    probability: float  # that it ends lower

    def as_dict(self) -> dict[str, Any]:
        return _with_size(_plain(self) | {"continues": self.continues or None})


def _plain(record: Any) -> dict[str, Any]:
    """The fields of a record by name, intervals as plain values."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return {name: v.as_dict() if isinstance(v, Interval) else v for name, v in values.items()}


def _with_size(told: dict[str, Any]) -> dict[str, Any]:
    """N is 1 where sizes are not known, and not told."""
    return {name: v for name, v in told.items() if name != "N" or v != 1.0}


def size_of(log: Log) -> float:
    """1 where sizes are not known."""
    return log.N if np.isfinite(log.N) else 1.0


def end_of(model: Model, run: int) -> Asked:
    """The end of a run as a question to the model."""
    fitted = run in _fitted(model)
    return Asked(schedule=model.plan(run), N=size_of(model.logs[run]), run=run if fitted else None)


def end_at(model: Model, run: int, N: float) -> Asked:
    """The end of a run; for another size, that of its schedule there: sizes are not what is compared."""
    if size_of(model.logs[run]) == N:
        return end_of(model, run)
    return Asked(schedule=model.plan(run), N=N)


def curve_ends(model: Model) -> tuple[CurveEnd, ...]:
    mean, cov = model.predict([end_of(model, i) for i in range(len(model.logs))])
    sd = np.sqrt(np.diag(cov))
    return tuple(
        CurveEnd(
            run=log.name, N=log.N, D=log.D * model.plan(i).last / log.schedule.last, steps=model.plan(i).last,
            seen=model.seen(i), loss=float(log.loss[-1]),
            final=loss_interval(mean[i], sd[i]), sd=float(sd[i]),
        )
        for i, log in enumerate(model.logs)
    )  # fmt: skip


def schedule_ends(
    model: Model, schedules: Sequence[Schedule], sizes: Sequence[float], present: str | None = None
) -> tuple[ScheduleEnd, ...]:
    """Each schedule for each size. See ``present_run`` for what it is compared with."""
    found = []
    for schedule in schedules:
        for N in sizes:
            run = continued(model, schedule, N)
            against = present_run(model, schedule, N, present)
            whole = schedule if run is None else going_on(model, run, schedule)
            mean, cov = model.predict([Asked(schedule=whole, N=N, run=run), end_at(model, against, N)])
            difference, probability = compared(mean, cov)
            sd = float(np.sqrt(cov[0, 0]))
            found.append(
                ScheduleEnd(
                    schedule=schedule.name, steps=schedule.last, N=N,
                    final=loss_interval(mean[0], sd), sd=sd,
                    continues="" if run is None else model.logs[run].name, against=model.logs[against].name,
                    difference=difference, probability=probability,
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


def continued(model: Model, schedule: Schedule, N: float) -> int | None:
    """The longest run whose rates, as far as they are measured, are those of the schedule."""
    alike = [
        i
        for i in sorted(_fitted(model), key=lambda i: -model.logs[i].last)
        if size_of(model.logs[i]) == N and model.logs[i].schedule.begins_like(schedule, model.logs[i].last)
    ]
    return alike[0] if alike else None


def going_on(model: Model, run: int, schedule: Schedule) -> Schedule:
    """The rates of a run as they were logged, then those of a schedule."""
    log = model.logs[run]
    return spliced(log.schedule, schedule, log.last) if log.last < schedule.last else schedule


def with_plans(model: Model, asked: Sequence[Schedule]) -> Model:
    """A run that one schedule alone goes on from, and whose log has no plan, is on that schedule."""
    going: dict[int, list[Schedule]] = {}
    for schedule in asked:
        for N in {size_of(log) for log in model.logs}:
            run = continued(model, schedule, N)
            if run is not None and schedule.last > 1.01 * model.logs[run].last and not model.running(run):
                going.setdefault(run, []).append(schedule)
    plans = {run: going_on(model, run, found[0]) for run, found in going.items() if len(found) == 1}
    return replace(model, plans=plans)


def present_run(model: Model, schedule: Schedule, N: float, name: str | None = None) -> int:
    """What a schedule is compared with: the run named; else the one still running; else the lowest end.

    The lowest among runs of about as many steps, where there are some, of the nearest size.
    """
    if name is not None:
        return run_named(model, name, "present")
    apart = [abs(np.log(size_of(log) / N)) for log in model.logs]
    near = [i for i, d in enumerate(apart) if d <= min(apart) + 1e-9]
    running = [i for i in near if model.running(i)]
    if running:
        return running[-1]
    alike = [i for i in near if abs(model.plan(i).last / schedule.last - 1.0) < ALIKE]
    return min(alike or near, key=lambda i: float(model.logs[i].loss[-1]))


def run_named(model: Model, name: str, role: str = "run") -> int:
    """The number of a run."""
    names = [log.name for log in model.logs]
    if name not in names:
        raise InputError(role, name, "is no run of the curves", f"name one of {', '.join(names[:5])}")
    return names.index(name)


def annealed(model: Model) -> list[dict[str, Any]]:
    """Every run as it ends by its log, annealed: a row of a table of runs for each.

    A run that ends at more than a fifth of its peak rate is taken as it would have ended, in as many steps,
    with the last fifth of them spent on a straight decay to a tenth of the peak.
    """
    fitted = _fitted(model)
    lowered = [log.schedule.rates[-1] > ANNEALED * log.schedule.peak for log in model.logs]
    asked = [
        Asked(
            schedule=with_decay(log.schedule) if low else log.schedule,
            N=size_of(log),
            run=i if i in fitted else None,
        )
        for i, (log, low) in enumerate(zip(model.logs, lowered, strict=True))
    ]
    mean, cov = model.predict(asked)
    # the standard deviation of Student's t, over its scale
    sd = np.sqrt(np.diag(cov) * DEGREES / (DEGREES - 2.0))
    rows = []
    for log, low, best, error in zip(model.logs, lowered, np.exp(mean).tolist(), sd.tolist(), strict=True):
        steps = log.schedule.last
        predicted = low or log.last < FINISHED * steps  # and not simply its last loss
        rows.append({
            "run": log.name, "N": log.N, "D": log.D if np.isfinite(log.D) else steps, "loss": best,
            "stderr": error * best, "steps": steps, "annealed": "predicted" if predicted else "measured",
        })  # fmt: skip
    return rows


def with_decay(schedule: Schedule) -> Schedule:
    """The same steps, with the last fifth on a straight line to a tenth of the peak."""
    start = max((1.0 - DECAY) * schedule.last, schedule.warmup)
    before = schedule.steps < start
    steps = np.concatenate([schedule.steps[before], [start, schedule.last]])
    low = min(TO * schedule.peak, float(schedule.rates[-1]))
    rates = np.concatenate([schedule.rates[before], [float(schedule.rate(start)), low]])
    return make_schedule(steps.tolist(), rates.tolist(), schedule.warmup, schedule.name)


def back_test(logs: Sequence[Log], run: int, cuts: Sequence[float] = CUTS) -> tuple[Earlier, ...]:
    """How the last measured loss of a run would have been predicted earlier: fitted anew to what there was.

    Runs that share a trunk with it are left out, for they know what came after.
    """
    log = logs[run]
    family = {log.name, log.trunk} - {""}
    others = [o for i, o in enumerate(logs) if i != run and o.name not in family and o.trunk not in family]
    others.sort(key=lambda o: (size_of(o) != size_of(log), -o.schedule.peak))
    others = others[:BESIDE]
    measured = float(np.exp(np.mean(np.log(log.loss[-3:])))) if log.loss.size > 30 else float(log.loss[-1])
    found = []
    for cut in cuts:
        try:
            model = fit_model([log.until(cut * log.last), *others])
            (loss,) = model.losses([replace(end_of(model, 0), step=log.last)])
            found.append(Earlier(cutoff=cut, loss=loss, measured=measured))
        except InputError as error:
            found.append(Earlier(cutoff=cut, loss=None, measured=measured, reason=error.condition))
    return tuple(found)


def _fitted(model: Model) -> set[int]:
    return {t.run for t in model.points.tracks}


@dataclass(frozen=True, slots=True, kw_only=True)
class BestSchedule:
    """``gain`` is the loss saved against ``against``; every member of the family is in ``tried``."""

    steps: float
    N: float
    schedule: str
    final: Interval
    against: str
    gain: Interval
    probability: float
    tried: tuple[tuple[str, float], ...]

    @property
    def worth_it(self) -> bool:
        """Is the gain above its error?"""
        return self.gain.low > 0.0

    def words(self) -> str:
        sure = "" if self.worth_it else ": not worth it, the gain is below its error"
        return (
            f"best of {len(self.tried)} for {self.steps:.0f} steps: {self.schedule}, {self.final}; "
            f"gain over {self.against} {self.gain}{sure}"
        )

    def as_dict(self) -> dict[str, Any]:
        tried = [{"schedule": schedule, "final": loss} for schedule, loss in self.tried]
        return _with_size(_plain(self) | {"worth_it": self.worth_it, "tried": tried})


def family(steps: int, peak: float, warmup: float) -> list[str]:
    """Names: cosine, linear and wsd of several decays, to nothing and to a tenth of the peak.

    >>> family(1000, 1.0, 0)[:3]
    ['cosine:1000,end=0', 'linear:1000,end=0', 'wsd:950,1000,end=0']
    """
    names = []
    for end in ENDS:
        tail = f",end={end * peak:.6g}"
        starts = [round((1.0 - share) * steps) for share in DECAYS]
        names += [f"cosine:{steps}{tail}", f"linear:{steps}{tail}"]
        names += [f"wsd:{start},{steps}{tail}" for start in starts if start >= warmup]
    return names


def best_schedule(
    model: Model, steps: int, N: float, warmup: float, present: str | None = None
) -> BestSchedule:
    """The lowest mean of the family, at the peak rate of the run it is compared with.

    That run is the present one where it has as many steps and that size, otherwise the cosine to a tenth.
    """
    own = present_run(model, written_schedule(f"constant:{steps}", peak=1.0, warmup=0.0), N, present)
    log = model.logs[own]
    peak = log.schedule.peak
    names = family(steps, peak, warmup)
    asked = [Asked(schedule=written_schedule(n, peak=peak, warmup=warmup), N=N) for n in names]
    same = abs(log.schedule.last / steps - 1.0) < 0.01 and size_of(log) == N
    usual = f"cosine:{steps},end={0.1 * peak:.6g}"
    against = end_of(model, own) if same else asked[names.index(usual)]
    mean, cov = model.predict([*asked, against])
    best = int(np.argmin(mean[:-1]))
    pair = np.ix_([len(names), best], [len(names), best])
    gain, probability = compared(mean[[len(names), best]], cov[pair])
    return BestSchedule(
        steps=steps, N=N, schedule=names[best],
        final=loss_interval(mean[best], float(np.sqrt(cov[best, best]))),
        against=log.name if same else usual, gain=gain, probability=1.0 - probability,
        tried=tuple((n, float(np.exp(m))) for n, m in zip(names, mean[:-1], strict=True)),
    )  # fmt: skip
