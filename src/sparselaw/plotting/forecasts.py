"""Pictures of what is to come: forecasts, ends of loss curves, comparisons of recipes, next runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.curves.law import track
from sparselaw.planning.forecast_budgets import best_sizes
from sparselaw.plotting.style import (
    COLOURS,
    COMPUTE,
    GREY,
    SIZES,
    THEORY,
    axes_of,
    band,
    bars,
    ends_here,
    finish,
    sequence,
    size_ticks,
    unit_of,
    units_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sparselaw.curves import CurveFit
    from sparselaw.curves.model import Asked
    from sparselaw.deciding import Contest, NextRuns
    from sparselaw.forecasting import BackTest, Forecast

LINE, ACCENT = COLOURS[:2]
ALONG = 60  # points of a fan
NAMED = 6  # curves that are drawn with a name each


def forecast_fan(forecast: Forecast, *, ax: Axes | None = None, cost: str = "6nd") -> Axes:
    """Loss against compute: the runs, the best loss at each budget with its band, the points asked for.

    The band opens where the runs end.
    """
    ax = axes_of(ax)
    runs, points = forecast.runs, forecast.points
    spent = 6.0 * runs.N * runs.D
    asked = np.array([6.0 * p.N * p.D for p in points])
    budgets = np.geomspace(spent.min(), 1.5 * max(spent.max(), asked.max()), ALONG)
    sizes = np.array(best_sizes(forecast.prepared, budgets.tolist(), cost))
    half = 0.5 * forecast.level
    ends = forecast.predictive.quantiles(sizes[:, 0], sizes[:, 1], [0.5 - half, 0.5, 0.5 + half]).T
    compute = 6.0 * sizes[:, 0] * sizes[:, 1]
    ax.scatter(spent, runs.loss, s=9, color=GREY, linewidths=0, alpha=0.7, label=f"{len(runs)} runs")
    band(ax, compute, ends, LINE, f"best at each budget, {100 * forecast.level:g} %")
    ax.axhline(forecast.law.E, color=THEORY, lw=0.8, ls=":", label=f"floor E = {forecast.law.E:.3g}")
    bars(ax, asked, [p.loss for p in points], fmt="D", ms=5, color=ACCENT, lw=1.4, label="forecast")
    ends_here(ax, spent.max(), "runs end")
    return finish(ax, COMPUTE, unit_of(runs.loss), "Forecast", log="x")


def back_test(test: BackTest, *, ax: Axes | None = None) -> Axes:
    """What was predicted of the more expensive runs, and what came: errors in per cent, with intervals."""
    ax = axes_of(ax)
    if test.reason:
        ax.text(0.5, 0.5, f"no forecast:\n{test.reason}", ha="center", va="center", transform=ax.transAxes)
        ax.set_axis_off()
        return ax
    later = test.later
    spent = _apart(6.0 * later.N * later.D, later.N)
    error = 100.0 * np.expm1(np.log(later.loss) - test.mean)
    low, high = (100.0 * np.expm1(sign * test.half) for sign in (-1.0, 1.0))
    inside = (low <= error) & (error <= high)
    ax.vlines(spent, low, high, color=LINE, alpha=0.25, lw=3, label="95 % interval")
    ax.axhline(0.0, color=THEORY, lw=0.8)
    ax.plot(spent[inside], error[inside], "o", ms=4, color=LINE, label="inside")
    if not inside.all():
        ax.plot(spent[~inside], error[~inside], "s", ms=4, color=ACCENT, label="outside")
    shares = f"{100 * test.covered:.0f} % of {test.runs} inside"
    title = f"Fitted on the cheapest {100 * test.cutoff:.0f} %: {shares}"
    return finish(ax, COMPUTE, "loss above the forecast (%)", title, log="x", columns=3)


def _apart(spent: FloatArray, N: FloatArray) -> FloatArray:
    """Runs of one budget side by side, by N, within a tenth of it: on top of each other none is seen."""
    shown = spent.copy()
    budgets = np.log(spent).round(1)
    for budget in np.unique(budgets):
        rows = np.flatnonzero(budgets == budget)
        if np.ptp(np.log(spent[rows])) < 0.01:
            shown[rows[np.argsort(N[rows])]] *= np.exp(np.linspace(-0.1, 0.1, rows.size))
    return shown


def curve_fan(found: CurveFit, *, ax: Axes | None = None) -> Axes:
    """Loss against steps: what is measured, the law, and the fan to the end of runs and schedules.

    The losses start where the fit does. A few runs have a name each; more of them a colour for each size.
    """
    ax = axes_of(ax)
    model = found.model
    looks = _curve_looks(found)
    for i, log in enumerate(model.logs):
        colour, name = looks[i]
        late = log.step >= model.start
        ax.plot(log.step[late], log.loss[late], ".", ms=2, color=colour, alpha=0.4)
        own = [t for t in model.points.tracks if t.run == i]
        if own:
            points = track(log.schedule, np.linspace(own[0].step[0], log.last, ALONG), i, log.size)
            ax.plot(points.step, model.estimate.at([points])[0], color=colour, lw=1.2, label=name)
        if model.running(i):
            _fan(found, model.end(i), log.last, colour, f"{log.name}, to its end", ax)
    for schedule, (colour, name) in zip(found.asked, looks[len(model.logs) :], strict=True):
        for N in sorted({end.N or 1.0 for end in found.schedules if end.schedule == schedule.name}):
            asked = model.under(schedule, N)
            if asked.run is None or asked.run not in model.plans:
                last = np.inf if asked.run is None else model.logs[asked.run].last
                _fan(found, asked, last if last < 0.9 * schedule.last else model.start, colour, name, ax)
                name = None  # one line of the legend for all sizes
    size_ticks(ax.xaxis)
    title, unit = "Loss curves, fit and 95 % to the end", unit_of([log.loss.max() for log in model.logs])
    return finish(ax, found.clock, unit, title, log="", fontsize="x-small")


def rates(found: CurveFit, *, ax: Axes | None = None) -> Axes:
    """The learning rates of the runs and of the schedules asked for."""
    ax = axes_of(ax)
    runs = [found.model.plan(i) for i in range(len(found.model.logs))]
    for i, (schedule, (colour, _)) in enumerate(zip([*runs, *found.asked], _curve_looks(found), strict=True)):
        line = "-" if i < len(runs) else "--"
        ax.plot(schedule.steps, schedule.rates, color=colour, lw=1.2, ls=line)
    for i, log in enumerate(found.model.logs):
        if found.model.running(i):
            ax.axvline(log.last, color=GREY, lw=0.8, ls="--")
    size_ticks(ax.xaxis)
    ax.ticklabel_format(axis="y", scilimits=(-2, 3), useMathText=True)
    return finish(ax, found.clock, "learning rate", "Schedules", log="")


def curve_residuals(found: CurveFit, *, ax: Axes | None = None) -> Axes:
    """What the law misses of every point that was fitted, in per cent of the loss."""
    ax = axes_of(ax)
    looks = _curve_looks(found)
    first = 0
    for points in found.model.points.tracks:
        rows = slice(first, first + points.step.size)
        first = rows.stop
        missed = 100.0 * found.model.estimate.residual[rows]
        ax.plot(points.step, missed, lw=1.0, color=looks[points.run][0], label=looks[points.run][1])
    ax.axhline(0.0, color=THEORY, lw=0.8)
    size_ticks(ax.xaxis)
    return finish(ax, found.clock, "measured above the law (%)", "Residuals", log="", fontsize="x-small")


def _fan(found: CurveFit, asked: Asked, start: float, colour: Any, name: str | None, ax: Axes) -> None:
    steps = np.linspace(start, asked.schedule.last, ALONG)
    band(ax, steps, found.model.along(asked, steps), colour, name, ls="--")


def _curve_looks(found: CurveFit) -> list[tuple[Any, str | None]]:
    """Colour and line of the legend of each run, then of each schedule asked for."""
    logs, asked = found.model.logs, found.asked
    if len(logs) <= NAMED:
        looks: list[tuple[Any, str | None]] = [(COLOURS[i], log.name) for i, log in enumerate(logs)]
        return looks + [(COLOURS[(NAMED - j) % len(COLOURS)], s.name) for j, s in enumerate(asked)]
    sizes = found.model.sizes
    shades = dict(zip(sizes, sequence(len(sizes)), strict=True)) if len(sizes) > 1 else {sizes[0]: GREY}
    looks, names = [], found.model.kinds()
    for i, log in enumerate(logs):
        looks.append((shades[log.size], names[i] if names[i] not in names[:i] else None))
    return looks + [(COLOURS[(1 + 2 * j) % len(COLOURS)], s.name) for j, s in enumerate(asked)]


def recipe_frontiers(*contests: Contest, ax: Axes | None = None) -> Axes:
    """The best loss of each recipe against compute, with bands; their runs behind, what was asked before.

    Contests have the first recipe in common.
    """
    ax = axes_of(ax)
    sides = [(contests[0], 0), *((contest, 1) for contest in contests)]
    for i, (contest, side) in enumerate(sides):
        curve, runs, colour = contest.curve, contest.recipes.runs[side], COLOURS[i % len(COLOURS)]
        ax.scatter(6.0 * runs.N * runs.D, runs.loss, s=8, color=colour, linewidths=0, alpha=0.35)
        band(ax, curve["budget"], curve["AB"[side]], colour, contest.names[side])
        asked = [point.losses[side] for point in contest.points]
        x = [point.budget * (0.96 + 0.08 * i / len(contests)) for point in contest.points]  # side by side
        bars(ax, x, asked, fmt="D", ms=4, lw=1.2, color=colour)
    unit = unit_of(contests[0].recipes.runs[0].loss)
    return finish(ax, COMPUTE, unit, "Best loss of each recipe", log="x")


def compute_multiplier(contest: Contest, *, ax: Axes | None = None) -> Axes:
    """Compute that the second recipe needs for the loss of the first, over that of the first."""
    ax = axes_of(ax)
    curve = contest.curve
    band(ax, curve["budget"], curve["multiplier"], COLOURS[2], f"best, with {100 * contest.level:g} %")
    ax.axhline(1.0, color=THEORY, lw=0.8)
    for point in contest.points:
        ax.axvline(point.budget, ymax=0.85, color=THEORY, lw=0.8, ls=":")  # not through the legend
    a, b = contest.names
    title = f"Compute for the same loss\nfirst {a}, second {b}"
    return finish(ax, "compute of the first (FLOP)", "second over first", title)


def next_on_plane(found: NextRuns, *, ax: Axes | None = None) -> Axes:
    """The known runs, those to make next in their order, and the target, by parameters and tokens."""
    ax = axes_of(ax)
    known = found.known
    ax.scatter(known.N, known.D, s=9, color=GREY, linewidths=0, label=f"{len(known)} runs")
    N, D = np.array([run.N for run in found.runs]), np.array([run.D for run in found.runs])
    ax.plot(N, D, "o", ms=7, color=COLOURS[1], label="to make next", zorder=3)
    for i, (n, d) in enumerate(zip(N, D, strict=True), start=1):
        ax.annotate(str(i), (n, d), xytext=(5, 4), textcoords="offset points", fontsize="small")
    targets = np.array(found.targets)
    ax.plot(targets[:, 0], targets[:, 1], "*", ms=12, color=COLOURS[0], label="target", zorder=3)
    return finish(ax, SIZES, units_of(known.D, known.loss)[0], "Runs to make next", columns=3)


def width_by_run(found: NextRuns, *, ax: Axes | None = None) -> Axes:
    """Width of the interval as the runs are made, beside the best single run and present runs repeated."""
    ax = axes_of(ax)
    widths = [found.width_before, *(run.width_after for run in found.runs)]
    spent = np.concatenate([[0.0], np.cumsum([run.cost for run in found.runs])])
    ax.plot(spent, 100.0 * np.array(widths), "o-", color=COLOURS[1], label="these runs")
    for width, name, line in (
        (found.width_single, "best single run", "--"),
        (found.width_repeated, "present runs repeated", ":"),
    ):
        ax.axhline(100.0 * width, color=THEORY, lw=0.9, ls=line, label=name)
    ax.ticklabel_format(axis="x", useMathText=True)
    ax.set_ylim(bottom=0.0)
    return finish(ax, "spent (FLOP)", "width of the 95 % interval (%)", "What they bring", log="")
