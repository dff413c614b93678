"""The loss of runs not yet made: a law, a discrepancy that drifts, an interval informed by back-tests.

Read coupled_model, robust, kernels, component, posterior, backtest, predictive in this order; prepared puts
them together. Nothing here reads tables: known_runs holds arrays.
"""

from __future__ import annotations

from sparselaw.forecasting.backtest import BackTest
from sparselaw.forecasting.forecast_result import Forecast, ForecastPoint, Pull
from sparselaw.forecasting.known_runs import KnownRuns, known_runs
from sparselaw.forecasting.posterior import Posterior, joint_posterior, posterior
from sparselaw.forecasting.predictive import Predictive
from sparselaw.forecasting.prepared import Prepared, predictive, prepare

__all__ = [
    "BackTest",
    "Forecast",
    "ForecastPoint",
    "KnownRuns",
    "Posterior",
    "Predictive",
    "Prepared",
    "Pull",
    "joint_posterior",
    "known_runs",
    "posterior",
    "predictive",
    "prepare",
]
