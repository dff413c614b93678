"""Pictures of comparisons and of next runs. Every function draws on the ``ax`` it is given and returns it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparselaw.plotting.style import (
    COLOURS,
    DATA,
    GREY,
    SIZES,
    THEORY,
    axes_of,
    legend_above,
    plain_ticks,
    size_ticks,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sparselaw.deciding import Contest, NextRuns


def recipe_frontiers(contest: Contest, *, ax: Axes | None = None) -> Axes:
    """The best loss of both recipes against compute, with bands; their runs behind."""
    ax = axes_of(ax)
    curve = contest.curve
    for name, side, runs, colour in zip(
        contest.names, "AB", contest.recipes.runs, (COLOURS[0], COLOURS[1]), strict=True
    ):
        low, middle, high = curve[side]
        ax.scatter(6.0 * runs.N * runs.D, runs.loss, s=8, color=colour, linewidths=0, alpha=0.35)
        ax.fill_between(curve["budget"], low, high, color=colour, alpha=0.2, lw=0)
        ax.plot(curve["budget"], middle, color=colour, label=name)
    for point in contest.points:
        ax.axvline(point.budget, color=THEORY, lw=0.8, ls=":")
    ax.set(xscale="log", xlabel="compute (FLOP)", ylabel="loss")
    ax.set_title("Best loss of each recipe", fontsize="medium")
    legend_above(ax)
    return ax


def compute_multiplier(contest: Contest, *, ax: Axes | None = None) -> Axes:
    """Compute that the second recipe needs for the loss of the first, over that of the first."""
    ax = axes_of(ax)
    curve = contest.curve
    low, middle, high = (
        np.where(np.isfinite(line) & (line > 0.0), line, np.nan) for line in curve["multiplier"]
    )
    ax.fill_between(curve["budget"], low, high, color=COLOURS[2], alpha=0.2, lw=0, label="95 %")
    ax.plot(curve["budget"], middle, color=COLOURS[2], label="best")
    ax.axhline(1.0, color=THEORY, lw=0.8)
    for point in contest.points:
        ax.axvline(point.budget, color=THEORY, lw=0.8, ls=":")
    a, b = contest.names
    ax.set(xscale="log", yscale="log", xlabel=f"compute of {a} (FLOP)", ylabel=f"compute of {b} / {a}")
    plain_ticks(ax.yaxis, *ax.get_ylim())
    ax.set_title(f"Compute that {b} needs for the loss of {a}", fontsize="medium")
    legend_above(ax)
    return ax


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
    ax.set(xscale="log", yscale="log", xlabel=SIZES, ylabel=DATA)
    size_ticks(ax.xaxis)
    size_ticks(ax.yaxis)
    ax.set_title("Runs to make next", fontsize="medium")
    legend_above(ax)
    return ax


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
    ax.set(xlabel="spent (FLOP)", ylabel="width of the 95 % interval (%)")
    ax.set_ylim(bottom=0.0)
    ax.set_title("What they bring", fontsize="medium")
    legend_above(ax)
    return ax
