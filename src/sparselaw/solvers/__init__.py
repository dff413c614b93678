"""Least squares by several methods: matrices in, solution out. Nothing here knows what the data mean."""

from __future__ import annotations

from sparselaw.solvers.dispatch import is_linear, solve
from sparselaw.solvers.equations import Basis, NormalEquations, from_gram, from_rows
from sparselaw.solvers.settings import SGD, GradientDescent, MinNorm, Nesterov, Ridge, SolverSettings
from sparselaw.solvers.solution import Solution

__all__ = [
    "SGD",
    "Basis",
    "GradientDescent",
    "MinNorm",
    "Nesterov",
    "NormalEquations",
    "Ridge",
    "Solution",
    "SolverSettings",
    "from_gram",
    "from_rows",
    "is_linear",
    "solve",
]
