"""Decisions from the posterior of a forecast: which recipe is better, and which runs to make next."""

from __future__ import annotations

from sparselaw.deciding.compare import compare
from sparselaw.deciding.contest import Comparison, Contest, ContestPoint
from sparselaw.deciding.next_runs import NextRun, NextRuns, next_runs
from sparselaw.deciding.saved import load

__all__ = ["Comparison", "Contest", "ContestPoint", "NextRun", "NextRuns", "compare", "load", "next_runs"]
