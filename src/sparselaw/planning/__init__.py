"""The best N and D for a budget: for any law, and for the theory."""

from __future__ import annotations

from sparselaw.planning.allocate import Allocation, Peak, Valley, allocate
from sparselaw.planning.approaches import Approach, Approaches, approaches
from sparselaw.planning.forecast_budgets import best_sizes, forecast, forecast_by, plan_ahead
from sparselaw.planning.from_law import check_trade_off
from sparselaw.planning.frontier_curve import FrontierCurve, frontier_curve
from sparselaw.planning.isoflop import IsoFlop, isoflop
from sparselaw.planning.next_run import NextRun, next_run
from sparselaw.planning.plan import plan, plan_many, planned_for
from sparselaw.planning.plan_result import Plan
from sparselaw.planning.planned import Planned
from sparselaw.planning.plans import Plans

__all__ = [
    "Allocation",
    "Approach",
    "Approaches",
    "FrontierCurve",
    "IsoFlop",
    "NextRun",
    "Peak",
    "Plan",
    "Planned",
    "Plans",
    "Valley",
    "allocate",
    "approaches",
    "best_sizes",
    "check_trade_off",
    "forecast",
    "forecast_by",
    "frontier_curve",
    "isoflop",
    "next_run",
    "plan",
    "plan_ahead",
    "plan_many",
    "planned_for",
]
