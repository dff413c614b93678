"""The best N and D for a budget: for any law, and for the theory."""

from __future__ import annotations

from sparselaw.planning.allocate import Peak, allocate
from sparselaw.planning.approaches import Approaches, approaches
from sparselaw.planning.budget_curves import frontier_curve, valley_curve
from sparselaw.planning.forecast_budgets import best_sizes, by_value, forecast, plan_ahead
from sparselaw.planning.from_law import check_trade_off
from sparselaw.planning.plan import plan
from sparselaw.planning.plan_record import Plan, Plans
from sparselaw.planning.source import Source, as_source

__all__ = [
    "Approaches",
    "Peak",
    "Plan",
    "Plans",
    "Source",
    "allocate",
    "approaches",
    "as_source",
    "best_sizes",
    "by_value",
    "check_trade_off",
    "forecast",
    "frontier_curve",
    "plan",
    "plan_ahead",
    "valley_curve",
]
