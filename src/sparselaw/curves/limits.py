"""What limits an answer, each in one line; the first of them is the status."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparselaw.curves.ends import ScheduleEnd, size_of
from sparselaw.curves.learning_rate import Schedule
from sparselaw.curves.logs import Log
from sparselaw.curves.model import Model

FAR = 4.0  # times the last tau of the fit
BAD = 0.01  # standard deviation of residuals beyond the noise, relative
LOWERED = 0.8  # of the peak: a curve whose rate never falls below shows nothing of annealing


def limits(
    model: Model, logs: Sequence[Log], asked: Sequence[Schedule], ends: Sequence[ScheduleEnd]
) -> tuple[str, list[str]]:
    """Status and warnings of a fitted model and of the schedules it was asked for."""
    found: list[tuple[str, str]] = []

    def say(status: str, text: str) -> None:
        found.append((status, text))

    if not model.estimate.converged:
        say("not-converged", "the fit did not converge")
    # beyond the noise of the points, which is no fault of the law
    beyond = float(np.var(model.estimate.residual)) - float(np.mean(model.points.white**2))
    misfit = max(0.0, beyond) ** 0.5
    if misfit > BAD:
        several = "" if model.estimate.several_sizes else ": are they of one model, and is N known?"
        say("misfit", f"the law misses the curves by {100 * misfit:.2g} %{several}")
    for log in logs:
        if log.diverged:
            say("diverged", f"{log.name}: diverged, and is left out")
    for name in model.points.short:
        say(
            "short",
            f"{name}: ends within the start of training, which is left out: only its schedule is used",
        )
    if len(model.logs) == 1:
        say("one-curve", "one curve alone: a second schedule would tell noise from what is not learnt yet")
    if all(_lowest(log) > LOWERED * log.schedule.peak for log in model.logs):
        say("no-annealing", "no curve lowers its rate: what annealing brings is taken from the prior")
    peaks = sorted({round(log.schedule.peak, 12) for log in model.logs})
    if peaks[-1] > 1.1 * peaks[0]:
        say("peaks", f"peak rates from {peaks[0]:.3g} to {peaks[-1]:.3g}: p and m are fixed")
    for schedule in asked:
        ratio = min((schedule.peak / p for p in peaks), key=lambda r: abs(np.log(r)))
        if abs(np.log(ratio)) > np.log(1.1):
            say(
                "other-peak",
                f"{schedule.name}: peak rate {ratio:.3g} times that of the curves: 1 % for each factor 2",
            )
        if schedule.rewarmed():
            say("re-warmed", f"{schedule.name}: the rate rises again, where the law is not tested")
        ahead = float(schedule.taus[-1]) / model.estimate.units.last
        if ahead > FAR:
            say("far", f"{schedule.name}: {ahead:.2g} times as far in tau as the curves go")
    known = {size_of(log) for log in model.logs}
    for N in sorted({end.N for end in ends} - known):
        say(
            "other-size",
            f"N = {N:.3g}: no curve of this size; the law over {len(known)} sizes is carried there",
        )
    if any(log.smoothed for log in model.logs):
        say("smoothed", "some logs look smoothed: intervals are half as wide again")
    return (found[0][0] if found else "ok"), list(dict.fromkeys(text for _, text in found))


def _lowest(log: Log) -> float:
    """The lowest rate after the warm-up at a measured step."""
    after = log.step[log.step >= log.schedule.warmup]
    return float(np.min(log.schedule.rate(after))) if after.size else log.schedule.peak
