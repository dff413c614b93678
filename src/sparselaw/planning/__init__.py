"""The compute-optimal allocation for any law."""

from __future__ import annotations

from sparselaw.planning.allocate import Allocation, Peak, Valley, allocate
from sparselaw.planning.isoflop import IsoFlop, isoflop
from sparselaw.planning.plan import Plan, plan

__all__ = [
    "Allocation",
    "IsoFlop",
    "Peak",
    "Plan",
    "Valley",
    "allocate",
    "isoflop",
    "plan",
]
