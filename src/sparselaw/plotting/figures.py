"""Whole figures of results: panels side by side in the project's look, as the bytes of a file."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from sparselaw.plotting.fits import fit_over_data, isoflop_slices, loss_contour, residuals
from sparselaw.plotting.forecasts import back_test, forecast_fan
from sparselaw.plotting.style import style

if TYPE_CHECKING:
    from sparselaw.fitting.fitted_law import FittedLaw
    from sparselaw.fitting.forecast import Forecast

Panel = Callable[..., object]  # called with ``ax``
PANEL = (5.4, 4.2)  # inches


def forecast_panels(found: Forecast) -> list[Panel]:
    """The fan, and every back-test."""
    return [
        partial(forecast_fan, found),
        *(partial(back_test, test, found.runs) for test in found.backtest),
    ]


def fit_panels(law: FittedLaw) -> list[Panel]:
    """The law over its runs, the residuals, and the contours where N and D can be traded."""
    contours = [partial(loss_contour, law)] if law.sparsity is not None else []
    return [partial(fit_over_data, law), partial(residuals, law), *contours]


def plan_panels(law: FittedLaw, budgets: Sequence[float], cost: str) -> list[Panel]:
    """What a wrong N costs at each budget, and the frontier."""
    return [partial(isoflop_slices, law, budgets, cost=cost), partial(loss_contour, law, cost=cost)]


def draw(panels: Sequence[Panel], kind: str = "svg") -> bytes:
    """The panels side by side as an svg, png or pdf file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(PANEL[0] * len(panels), PANEL[1]))
        FigureCanvasAgg(figure)
        axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for panel, ax in zip(panels, axes, strict=True):
            panel(ax=ax)
        file = io.BytesIO()
        figure.savefig(file, format=kind, metadata={"Date": None} if kind == "svg" else None)
    return file.getvalue()
