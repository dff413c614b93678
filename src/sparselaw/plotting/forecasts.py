"""Pictures of forecasts. Every function draws on the ``ax`` it is given and returns it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.planning.forecast_budgets import best_sizes
from sparselaw.plotting.style import COLOURS, COMPUTE, GREY, THEORY, axes_of, legend_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sparselaw.forecasting import BackTest, Forecast

LINE, ACCENT = COLOURS[:2]
ALONG = 60


def forecast_fan(forecast: Forecast, *, ax: Axes | None = None, cost: str = "6nd") -> Axes:
    """Loss against compute: the runs, the best loss at each budget with its band, the points asked for.

    The band opens where the runs end.
    """
    ax = axes_of(ax)
    runs, points = forecast.runs, forecast.points
    spent = 6.0 * runs.N * runs.D
    asked = np.array([6.0 * p.N * p.D for p in points])
    budgets = np.geomspace(spent.min(), 1.5 * max(spent.max(), asked.max()), ALONG)
    sizes = np.array(best_sizes(forecast.runs, forecast.predictive, budgets.tolist(), cost))
    low, middle, high = forecast.predictive.quantiles(sizes[:, 0], sizes[:, 1], ends_of(forecast.level)).T
    compute = 6.0 * sizes[:, 0] * sizes[:, 1]
    ax.scatter(spent, runs.loss, s=9, color=GREY, linewidths=0, alpha=0.7, label=f"{len(runs)} runs")
    ax.fill_between(compute, low, high, color=LINE, alpha=0.2, lw=0, label=f"{100 * forecast.level:g} %")
    ax.plot(compute, middle, color=LINE, label="best at each budget")
    ax.axhline(forecast.law.E, color=THEORY, lw=0.8, ls=":", label=f"floor E = {forecast.law.E:.3g}")
    best = np.array([p.loss.best for p in points])
    below = best - [p.loss.low for p in points]
    above = [p.loss.high for p in points] - best
    ax.errorbar(
        asked, best, yerr=[below, above], fmt="D", ms=5, color=ACCENT, capsize=3, lw=1.4, label="forecast"
    )
    ax.axvline(spent.max(), ymax=0.7, color=THEORY, lw=0.8, ls="--")  # not through the legend
    ax.annotate(
        "runs end", (spent.max(), 0.62), xycoords=("data", "axes fraction"), xytext=(4, 0),
        textcoords="offset points", va="bottom", fontsize="x-small",
    )  # fmt: skip
    ax.set_xscale("log")
    ax.set_xlabel(COMPUTE)
    ax.set_ylabel("loss")
    ax.set_title("Forecast", fontsize="medium")
    legend_above(ax)
    return ax


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
    ax.plot(spent[~inside], error[~inside], "s", ms=4, color=ACCENT, label="outside")
    ax.set_xscale("log")
    ax.set_xlabel(COMPUTE)
    ax.set_ylabel("loss above the forecast (%)")
    shares = f"{100 * test.covered:.0f} % of {test.runs} inside"
    ax.set_title(f"Fitted on the cheapest {100 * test.cutoff:.0f} %: {shares}", fontsize="medium")
    legend_above(ax, columns=3)
    return ax


def ends_of(level: float) -> list[float]:
    """Probabilities of both ends of an interval and of its middle."""
    return [0.5 * (1.0 - level), 0.5, 0.5 * (1.0 + level)]


def _apart(spent: FloatArray, N: FloatArray) -> FloatArray:
    """Runs of one budget side by side, by N, within a tenth of it: on top of each other none is seen."""
    shown = spent.copy()
    budgets = np.log(spent).round(1)
    for budget in np.unique(budgets):
        rows = np.flatnonzero(budgets == budget)
        if np.ptp(np.log(spent[rows])) < 0.01:
            shown[rows[np.argsort(N[rows])]] *= np.exp(np.linspace(-0.1, 0.1, rows.size))
    return shown
