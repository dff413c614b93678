"""What training costs: one registry, used by the theory's frontier and by plans.

A new cost is one function that returns its terms, and one call of ``register``.
"""

from __future__ import annotations

from sparselaw.costs import named as named  # fills the registry
from sparselaw.costs.base import Conditioning, Cost, CostTerm, Leading
from sparselaw.costs.registry import COSTS, CostModel, cost_names, parse_cost, register
from sparselaw.costs.serving import ServedCost, with_serving

__all__ = [
    "COSTS",
    "Conditioning",
    "Cost",
    "CostModel",
    "CostTerm",
    "Leading",
    "ServedCost",
    "cost_names",
    "parse_cost",
    "register",
    "with_serving",
]
