"""What training costs: one registry, used by the theory's frontier and by plans.

A new cost is one function that returns its terms, and one call of ``register``: see ``base``.
"""

from __future__ import annotations

from sparselaw.costs import named as named  # fills the registry
from sparselaw.costs.base import COSTS, Conditioning, Cost, CostModel, CostTerm, register
from sparselaw.costs.named import cost_names, parse_cost, with_serving

__all__ = [
    "COSTS",
    "Conditioning",
    "Cost",
    "CostModel",
    "CostTerm",
    "cost_names",
    "parse_cost",
    "register",
    "with_serving",
]
