"""Whole figures of results: panels side by side in the project's look, as the bytes of a file."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.plotting import fits, forecasts, measured
from sparselaw.plotting.style import style

if TYPE_CHECKING:
    from sparselaw.curves import CurveFit
    from sparselaw.deciding import Comparison, NextRuns
    from sparselaw.fitting.fitted_law import FittedLaw
    from sparselaw.forecasting import Forecast
    from sparselaw.measuring import LearningCurve, Measurement
    from sparselaw.planning import Plan

Panel = Callable[..., object]  # called with ``ax``
PANEL = (5.4, 4.2)  # inches


def forecast_panels(found: Forecast) -> list[Panel]:
    """The fan, and every back-test."""
    return _each(found, forecasts.forecast_fan) + [partial(forecasts.back_test, t) for t in found.backtest]


def curve_panels(found: CurveFit) -> list[Panel]:
    """The curves with fit and fan, the rates, the residuals."""
    return _each(found, forecasts.curve_fan, forecasts.rates, forecasts.curve_residuals)


def fit_panels(law: FittedLaw) -> list[Panel]:
    """The law over its runs, the residuals; where N and D can be traded, contours and three budgets."""
    if law.law.sizes != ("N", "D"):
        return _each(
            law, fits.fit_over_data if law.law.has_one_size() else fits.fitted_and_measured, fits.residuals
        )
    budgets = np.quantile(6.0 * law.runs.N * law.runs.D, [0.1, 0.5, 0.9]).tolist()
    slices = partial(fits.isoflop_slices, budgets=budgets)
    return _each(law, fits.fit_over_data, fits.residuals, fits.loss_contour, slices)


def plan_panels(source: Any, plans: Sequence[Plan]) -> list[Panel]:
    """What a wrong N costs at each budget; for a fitted law of N and D also where runs and plans lie.

    With limited data there are no lines of equal loss: it depends on how often the data are repeated.
    """
    panels: list[Panel] = [partial(fits.budget_profiles, plans)]
    law = getattr(source, "law", None)
    of_both = getattr(source, "sizes", None) is not None or (law is not None and law.sizes == ("N", "D"))
    if of_both and plans[0].unique is None:
        panels.append(partial(fits.loss_contour, source, plans=plans))
    return panels


def compare_panels(found: Comparison) -> list[Panel]:
    """The frontiers of all recipes, and the multiplier of every contest."""
    multipliers = [partial(forecasts.compute_multiplier, contest) for contest in found.contests]
    return [partial(forecasts.recipe_frontiers, *found.contests), *multipliers]


def next_panels(found: NextRuns) -> list[Panel]:
    """Where the runs lie, and what they bring."""
    return _each(found, forecasts.next_on_plane, forecasts.width_by_run)


def measure_panels(found: Measurement) -> list[Panel]:
    """Features seen, variance unseen, local exponents."""
    return _each(found, measured.seen_features, measured.unseen_variance, measured.local_exponents)


def learn_panels(found: LearningCurve) -> list[Panel]:
    """The learning curve as it is and with random signs; along N where that was measured."""
    signs = partial(measured.learning_curve, signs=True)
    along_N = [measured.width_curve] if found.widths else []
    return _each(found, measured.learning_curve, signs, *along_N)


def _each(found: Any, *panels: Panel) -> list[Panel]:
    return [partial(panel, found) for panel in panels]


def draw_each(panels: Sequence[Panel]) -> list[bytes]:
    """Every panel as an SVG file of its own."""
    return [draw([panel]) for panel in panels]


def draw(panels: Sequence[Panel], kind: str = "svg", stacked: bool = False) -> bytes:
    """The panels as an svg, png or pdf file, up to three in a row; ``stacked``: one column on one x axis."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with style():
        columns = 1 if stacked else 2 if len(panels) == 4 else min(len(panels), 3)
        rows = -(-len(panels) // columns)
        heights = [2.0, *[1.0] * (rows - 1)] if stacked else [1.0] * rows
        size = PANEL[0] * columns, PANEL[1] * (0.5 * sum(heights) if stacked else rows)
        figure = Figure(figsize=size)
        FigureCanvasAgg(figure)
        axes = figure.subplots(
            rows, columns, squeeze=False, sharex=stacked, gridspec_kw={"height_ratios": heights}
        ).ravel()
        for ax in axes[len(panels) :]:
            ax.remove()
        for panel, ax in zip(panels, axes, strict=False):
            panel(ax=ax)
            if stacked and ax is not axes[-1]:
                ax.set_xlabel("")
        file = io.BytesIO()
        figure.savefig(file, format=kind, metadata={"Date": None} if kind == "svg" else None)
    return file.getvalue()
