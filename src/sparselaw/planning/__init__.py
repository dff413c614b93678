"""Cost models and the compute-optimal allocation for any law."""

from __future__ import annotations

from sparselaw.planning.allocate import Allocation, Peak, Valley, allocate
from sparselaw.planning.costs import COSTS, Cost, cost_for_exponents, parse_cost
from sparselaw.planning.isoflop import IsoFlop, isoflop
from sparselaw.planning.plan import Plan, plan

__all__ = [
    "COSTS",
    "Allocation",
    "Cost",
    "IsoFlop",
    "Peak",
    "Plan",
    "Valley",
    "allocate",
    "cost_for_exponents",
    "isoflop",
    "parse_cost",
    "plan",
]
