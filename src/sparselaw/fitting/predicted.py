"""The loss of a new run, for a fitted law: the forecast of its runs, or the bootstrap where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparselaw.fitting.fitted_runs import Runs
from sparselaw.forecasting import KnownRuns, Predictive, predictive
from sparselaw.forecasting.refusals import no_floor, refusal
from sparselaw.interval import Interval

if TYPE_CHECKING:
    from sparselaw.fitting.fitted_law import FittedLaw

FORECAST = "forecast: the coupled law with a drifting discrepancy, for the loss of one more run"


def forecast_interval(fitted: FittedLaw, N: float, D: float) -> tuple[Interval, str]:
    """The loss of a new run at (N, D), and where the interval comes from."""
    why_not = no_forecast(fitted)
    if why_not:
        return fitted.predict(N, D), f"bootstrap: no forecast, {why_not}"
    return predictive_of(fitted).intervals(np.array([N]), np.array([D]))[0], FORECAST


def no_forecast(fitted: FittedLaw) -> str:
    """Why the runs of this law allow no forecast; empty where they do."""
    if fitted.law.sizes != ("N", "D"):
        return f"{fitted.name} is a law of {', '.join(fitted.law.sizes)}"
    if fitted.law.floor_name is None:
        return f"{fitted.name} is a law without the floor that a forecast supposes"
    runs = known(fitted.runs)
    found = refusal(runs)
    return no_floor(runs) if found is None else found.sentence()


def known(runs: Runs) -> KnownRuns:
    """The runs of a fit as a forecast takes them."""
    return KnownRuns(N=runs.N, D=runs.D, loss=runs.loss, scale=runs.scale, group=runs.group, row=runs.row)


def predictive_of(fitted: FittedLaw) -> Predictive:
    """The posterior of the fit's runs with its back-tests; found when first asked for."""
    if "predictive" not in fitted.memory:
        fitted.memory["predictive"] = predictive(known(fitted.runs))[0]
    found: Predictive = fitted.memory["predictive"]
    return found
