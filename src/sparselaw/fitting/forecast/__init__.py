"""The loss of runs not yet made: a law, a smooth discrepancy from it, and an interval that holds.

Read coupled_model, robust, process, average in this order; prepared puts them together.
"""

from __future__ import annotations

from sparselaw.fitting.forecast.backtest import BackTest
from sparselaw.fitting.forecast.forecast_result import Forecast, ForecastPoint, Pull
from sparselaw.fitting.forecast.predicted import PredictedLoss, forecast_interval, no_forecast
from sparselaw.fitting.forecast.prepared import Prepared, forecast_at, prepare_forecast

__all__ = [
    "BackTest",
    "Forecast",
    "ForecastPoint",
    "PredictedLoss",
    "Prepared",
    "Pull",
    "forecast_at",
    "forecast_interval",
    "no_forecast",
    "prepare_forecast",
]
