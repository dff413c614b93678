"""The loss of runs not yet made: a law, a discrepancy that drifts, an interval informed by back-tests.

Read known_runs, coupled_model, component, posterior, predictive in this order; forecast_result puts
them together. Nothing here reads tables: known_runs holds arrays.
"""

from __future__ import annotations

from sparselaw.forecasting.forecast_result import Forecast, Prepared, predictive, prepare
from sparselaw.forecasting.known_runs import KnownRuns, known_runs
from sparselaw.forecasting.posterior import posterior
from sparselaw.forecasting.predictive import BackTest, Predictive

__all__ = [
    "BackTest",
    "Forecast",
    "KnownRuns",
    "Predictive",
    "Prepared",
    "known_runs",
    "posterior",
    "predictive",
    "prepare",
]
