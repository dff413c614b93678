"""Pictures of loss curves under schedules. Every function draws on the ``ax`` it is given and returns it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.curves.ends import continued, going_on, size_of
from sparselaw.curves.law import track
from sparselaw.curves.model import Asked, student
from sparselaw.plotting.style import GREY, axes_of, legend_above, sequence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sparselaw.curves import CurveFit, Schedule

ALONG = 60  # points of a fan
MOST = 12  # runs that are drawn with a name


def curve_fan(found: CurveFit, *, ax: Axes | None = None) -> Axes:
    """Loss against steps: what is measured, the law, and the fan to the end of runs and schedules.

    The losses start where the fit does.
    """
    ax = axes_of(ax)
    model = found.model
    colours = _colours(found)
    for i, log in enumerate(model.logs):
        late = log.step >= _start(found)
        ax.plot(log.step[late], log.loss[late], ".", ms=2, color=colours[i], alpha=0.5)
        own = [t for t in model.points.tracks if t.run == i]
        if own:
            points = track(log.schedule, np.linspace(own[0].step[0], log.last, ALONG), i, size_of(log))
            name = log.name if i < MOST else None
            ax.plot(points.step, model.estimate.losses([points]), color=colours[i], lw=1.2, label=name)
        if model.running(i):
            _fan(found, model.plan(i), size_of(log), i, log.last, colours[i], None, ax)
    for j, (schedule, end) in enumerate(zip(found.asked, found.schedules, strict=False)):
        run = continued(model, schedule, end.N)
        if run is not None and run in model.plans:
            continue
        start = _start(found) if run is None else model.logs[run].last
        whole = schedule if run is None else going_on(model, run, schedule)
        _fan(found, whole, end.N, run, start, colours[len(model.logs) + j], schedule.name, ax)
    ax.set_xlabel(found.clock)
    ax.set_ylabel("loss")
    ax.set_title("Loss curves, fit and 95 % to the end", fontsize="medium")
    legend_above(ax, fontsize="x-small")
    return ax


def rates(found: CurveFit, *, ax: Axes | None = None) -> Axes:
    """The learning rates of the runs and of the schedules asked for."""
    ax = axes_of(ax)
    colours = _colours(found)
    shown = [found.model.plan(i) for i in range(len(found.model.logs))]
    for schedule, colour in zip([*shown, *found.asked], colours, strict=True):
        ax.plot(schedule.steps, schedule.rates, color=colour, lw=1.2)
    for i, log in enumerate(found.model.logs):
        if found.model.running(i):
            ax.axvline(log.last, color=GREY, lw=0.8, ls="--")
    ax.set_xlabel(found.clock)
    ax.set_ylabel("learning rate")
    ax.set_title("Schedules", fontsize="medium")
    return ax


def curve_residuals(found: CurveFit, *, ax: Axes | None = None) -> Axes:
    """What the law misses of every point that was fitted, in per cent of the loss."""
    ax = axes_of(ax)
    colours = _colours(found)
    first = 0
    for points in found.model.points.tracks:
        rows = slice(first, first + points.step.size)
        first = rows.stop
        ax.plot(points.step, 100.0 * found.model.estimate.residual[rows], lw=1.0, color=colours[points.run])
    ax.axhline(0.0, color=GREY, lw=0.8)
    ax.set_xlabel(found.clock)
    ax.set_ylabel("measured above the law (%)")
    ax.set_title("Residuals", fontsize="medium")
    return ax


def _fan(
    found: CurveFit,
    schedule: Schedule,
    N: float,
    run: int | None,
    start: float,
    colour: Any,
    name: str | None,
    ax: Axes,
) -> None:
    steps = np.linspace(start, schedule.last, ALONG)
    asked = [Asked(schedule=schedule, N=N, run=run, step=float(s)) for s in steps]
    mean, cov = found.model.predict(asked)
    half = student() * np.sqrt(np.diag(cov))
    ax.fill_between(steps, np.exp(mean - half), np.exp(mean + half), color=colour, alpha=0.2, lw=0)
    ax.plot(steps, np.exp(mean), color=colour, lw=1.4, ls="--", label=name)


def _colours(found: CurveFit) -> list[Any]:
    return sequence(len(found.model.logs) + len(found.asked))


def _start(found: CurveFit) -> float:
    return float(min(t.step[0] for t in found.model.points.tracks))
