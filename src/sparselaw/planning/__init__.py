"""The best N and D for a budget: for any law, and for the theory."""

from __future__ import annotations

from sparselaw.planning.allocate import Allocation, Peak, Valley, allocate
from sparselaw.planning.approaches import Approach, Approaches, approaches
from sparselaw.planning.budget_curves import FrontierCurve, IsoFlop, frontier_curve, isoflop, valley_curve
from sparselaw.planning.forecast_budgets import (
    NextRun,
    best_sizes,
    forecast,
    forecast_by,
    next_run,
    plan_ahead,
    plan_by,
)
from sparselaw.planning.from_law import check_trade_off
from sparselaw.planning.plan import plan
from sparselaw.planning.plan_record import Plan, Plans
from sparselaw.planning.source import Source, as_source

__all__ = [
    "Allocation",
    "Approach",
    "Approaches",
    "FrontierCurve",
    "IsoFlop",
    "NextRun",
    "Peak",
    "Plan",
    "Plans",
    "Source",
    "Valley",
    "allocate",
    "approaches",
    "as_source",
    "best_sizes",
    "check_trade_off",
    "forecast",
    "forecast_by",
    "frontier_curve",
    "isoflop",
    "next_run",
    "plan",
    "plan_ahead",
    "plan_by",
    "valley_curve",
]
