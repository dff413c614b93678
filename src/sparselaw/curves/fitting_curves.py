"""`sl.fit_curves`: loss curves in, a law and the ends of runs and schedules out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sparselaw.curves.ends import ScheduleEnd, best_schedule, curve_ends, schedule_ends, with_plans
from sparselaw.curves.log_tables import rates_of
from sparselaw.curves.logs import Log, make_logs
from sparselaw.curves.model import ONE_PEAK, Model, fit_model, student
from sparselaw.curves.result import CurveFit
from sparselaw.curves.schedules import REMEDY, SHAPES, Schedule, logged_schedule, written_schedule
from sparselaw.errors import InputError, check_not_negative, check_positive, check_size
from sparselaw.interval import Interval
from sparselaw.numbers import short_size

FARTHEST_TAU = 4.0  # times the last tau of the fit
BAD = 0.01  # standard deviation of residuals beyond the noise, relative
LOWERED = 0.8  # of the peak: a curve whose rate never falls below shows nothing of annealing


def fit_curves(
    curves: Any,
    *,
    schedules: Any = (),
    warmup: float | None = None,
    lr: float | None = None,
    shape: str | None = None,
    steps: float | None = None,
    columns: Mapping[str, str] | None = None,
    N: float | Sequence[float] | None = None,
    best: float | None = None,
    present: str | None = None,
) -> CurveFit:
    """A law of loss curves under learning-rate schedules: how runs end, and how they would end otherwise.

    Parameters
    ----------
    curves : path, data frame, (step, lr, loss), or a list or mapping of these
        Long tables with columns run, step, lr, loss and, where known, N, tokens, batch (common other names
        are recognised); a folder of such files, of TensorBoard or wandb runs. Rows with a rate and no loss at
        the end of a run are its plan.
    schedules : str, path, (step, lr), or a list of these
        Asked for: ``cosine:24000``, ``wsd:20000,24000``, ``constant:72000``, ``linear:n``, ``step:n,m``, each
        with ``lr=``, ``end=``, ``warmup=`` behind it; or a table with columns step and lr. One that begins
        like a run goes on from it.
    warmup : float, optional
        Steps of linear warm-up. Found in the logs unless given.
    lr, shape, steps : float, str, float, optional
        Peak rate, name of the schedule and its number of steps, where the logs have no rates.
    columns : mapping, optional
        Role (run, step, lr, loss, N, D, batch) to the column that has it.
    N : float or list, optional
        Sizes for which schedules are wanted; all that were fitted unless given. For curves without a size,
        one number is the size of all of them.
    best : float, optional
        Number of steps for which a schedule to try is wanted.
    present : str, optional
        The run with which schedules are compared.

    Returns
    -------
    CurveFit
        Parameters, ends of curves and schedules with 95 % intervals, status and warnings.

    Raises
    ------
    InputError
        Where no schedule is known, every curve diverged, or too few points are left.

    Examples
    --------
    >>> import numpy as np
    >>> step = np.arange(100.0, 10_001, 100)
    >>> loss = 3 + 0.3 * (step / 5000) ** -0.5
    >>> found = fit_curves((step, np.full(100, 3e-4), loss), schedules="wsd:10000,12000", warmup=0)
    >>> found.status, [end.schedule for end in found.schedules]
    ('one-curve', ['wsd:10000,12000'])
    """
    if warmup is not None:
        check_not_negative("warmup", warmup)
    for name, value in {"lr": lr, "steps": steps}.items():
        if value is not None:
            check_positive(name, value)
    sizes = None if N is None else [check_positive("N", n) for n in np.atleast_1d(np.asarray(N, object))]
    one_size = sizes[0] if sizes is not None and len(sizes) == 1 else None
    logs, said, clock = make_logs(
        curves, warmup=warmup, lr=lr, shape=shape, steps=steps, columns=columns, N=one_size
    )
    good = [log for log in logs if not log.diverged]
    if not good:
        raise InputError("curves", logs[0].name, "diverged", "give a run whose loss falls")
    pair = (
        isinstance(schedules, tuple)
        and len(schedules) == 2
        and all(np.ndim(v) == 1 and not isinstance(v, str) for v in schedules)
    )
    listed = schedules if isinstance(schedules, (list, tuple)) and not pair else [schedules]
    asked = tuple(read_schedule(s, good) for s in listed)
    model = with_plans(fit_model(good), asked)
    wanted = sizes_asked(model, sizes)
    ends = schedule_ends(model, asked, wanted, present)
    tried = None
    if best is not None:
        tried = best_schedule(model, check_size("best", best), wanted[-1], usual_warmup(good), present)
    status, limits = _limits(model, logs, asked, ends)
    form, theta, units = model.estimate.form, model.estimate.theta, model.estimate.units
    half = student() * np.sqrt(np.diag(model.estimate.covariance))
    low, middle, high = (form.values(theta + sign * half, units) for sign in (-1.0, 0.0, 1.0))
    return CurveFit(
        model=model, params={name: Interval(low[name], middle[name], high[name]) for name in middle},
        curves=curve_ends(model), schedules=ends, asked=asked, best=tried, status=status,
        warnings=(*said, *limits), clock=clock,
    )  # fmt: skip


def read_schedule(schedule: Any, logs: Sequence[Log]) -> Schedule:
    """By its name, from a file or frame with columns step and lr, or from two arrays."""
    if isinstance(schedule, Schedule):
        return schedule
    warmup, name = usual_warmup(logs), "schedule"
    if isinstance(schedule, str | Path):
        text, name = str(schedule), Path(schedule).name
        if text.partition(":")[0].strip() in SHAPES:
            peaks = [log.schedule.peak for log in logs]
            return written_schedule(text, peak=max(set(peaks), key=peaks.count), warmup=warmup)
        if ":" in text and not Path(text).exists():
            raise InputError("schedule", text, "is neither a shape nor a file", REMEDY)
        step, rate = rates_of(schedule)
    elif isinstance(schedule, Mapping) or hasattr(schedule, "columns"):
        step, rate = rates_of(schedule)
    elif len(tuple(schedule)) != 2:
        raise InputError("schedule", type(schedule).__name__, "is not a pair (step, lr)", REMEDY)
    else:
        step, rate = (np.asarray(part, np.float64) for part in schedule)
    good = np.isfinite(step) & np.isfinite(rate)
    step, rate = step[good], rate[good]
    if step.size < 2 or np.any(np.diff(step) < 0.0) or np.any(rate < 0.0) or not rate.max() > 0.0:
        condition = "is not a list of growing steps with rates that are positive"
        raise InputError("schedule", name, condition, REMEDY)
    in_it = rate[0] < 0.9 * rate.max() and step[0] < warmup  # the warm-up
    return logged_schedule(step, rate, 0.0 if in_it else warmup, name)


def usual_warmup(logs: Sequence[Log]) -> float:
    """The one that most runs have."""
    found = [log.schedule.warmup for log in logs]
    return max(set(found), key=found.count)


def sizes_asked(model: Model, sizes: Sequence[float] | None) -> list[float]:
    """Those given; otherwise all that were fitted, or 1 where sizes are not known."""
    known = model.sizes
    if sizes is None or known == [1.0]:
        return known
    if len(known) == 1 and any(abs(N / known[0] - 1.0) > 1e-6 for N in sizes):
        condition = f"is not the size of the curves, {short_size(known[0])}"
        raise InputError("N", f"{sizes[0]:g}", condition, "give curves of two sizes or more")
    return list(sizes)


def _limits(
    model: Model, logs: Sequence[Log], asked: Sequence[Schedule], ends: Sequence[ScheduleEnd]
) -> tuple[str, list[str]]:
    """Status and warnings of a fitted model and of the schedules it was asked for."""
    logs_fitted, found = model.logs, []
    if not model.estimate.converged:
        found.append(("not-converged", "the fit did not converge"))
    # beyond the noise of the points, which is no fault of the law
    beyond = float(np.var(model.estimate.residual)) - float(np.mean(model.points.white**2))
    if (misfit := max(0.0, beyond) ** 0.5) > BAD:
        several = "" if model.estimate.several_sizes else ": are they of one model, and is N known?"
        found.append(("misfit", f"the law misses the curves by {100 * misfit:.2g} %{several}"))
    found += [("diverged", f"{log.name}: diverged, and is left out") for log in logs if log.diverged]
    within = "ends within the start of training, which is left out: only its schedule is used"
    found += [("short", f"{name}: {within}") for name in model.points.short]
    if len(logs_fitted) == 1:
        second = "a second schedule would tell noise from what is not learnt yet"
        found.append(("one-curve", f"one curve alone: {second}"))
    if all(_lowest(log) > LOWERED * log.schedule.peak for log in logs_fitted):
        prior = "what annealing brings is taken from the prior"
        found.append(("no-annealing", f"no curve lowers its rate: {prior}"))
    peaks = sorted({float(f"{log.schedule.peak:.9g}") for log in logs_fitted})
    if peaks[-1] > ONE_PEAK * peaks[0]:
        fixed = f"peak rates from {peaks[0]:.3g} to {peaks[-1]:.3g}: p, m and r are fixed"
        found.append(("peaks", fixed))
    for schedule in asked:
        ratio = min((schedule.peak / p for p in peaks), key=lambda r: abs(np.log(r)))
        if abs(np.log(ratio)) > np.log(ONE_PEAK):
            times = f"peak rate {ratio:.3g} times that of the curves: 1 % for each factor 2"
            found.append(("other-peak", f"{schedule.name}: {times}"))
        if schedule.rewarmed():
            again = "the rate rises again, where the law is not tested"
            found.append(("re-warmed", f"{schedule.name}: {again}"))
        ahead = float(schedule.taus[-1]) / model.estimate.units.last
        if ahead > FARTHEST_TAU:
            found.append(("far", f"{schedule.name}: {ahead:.2g} times as far in tau as the curves go"))
    known = set(model.sizes)
    carried = f"no curve of this size; the law over {len(known)} sizes is carried there"
    others = {end.N for end in ends if end.N is not None} - known
    found += [("other-size", f"N = {short_size(N)}: {carried}") for N in sorted(others)]
    if any(log.smoothed for log in logs_fitted):
        found.append(("smoothed", "some logs look smoothed: intervals are half as wide again"))
    return (found[0][0] if found else "ok"), list(dict.fromkeys(text for _, text in found))


def _lowest(log: Log) -> float:
    """The lowest rate after the warm-up at a measured step."""
    after = log.step[log.step >= log.schedule.warmup]
    return float(np.min(log.schedule.rate(after))) if after.size else log.schedule.peak
