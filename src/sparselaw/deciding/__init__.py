"""Decisions from the posterior of a forecast: which recipe is better, and which runs to make next."""

from __future__ import annotations

from sparselaw.deciding.compare import Comparison, Contest, ContestPoint, compare
from sparselaw.deciding.next_runs import NextRun, NextRuns, next_runs

__all__ = ["Comparison", "Contest", "ContestPoint", "NextRun", "NextRuns", "compare", "next_runs"]
