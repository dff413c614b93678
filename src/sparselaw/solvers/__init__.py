"""Least squares by several methods: matrices in, solution out. Nothing here knows what the data mean.

One file a method, its settings beside it; ``base`` says what a solver answers, ``equations`` prepares.
"""

from __future__ import annotations

from sparselaw.solvers.base import (
    SOLVERS,
    Solution,
    Solver,
    as_solver,
    from_options,
    register,
    setting_names,
    settings_of,
)
from sparselaw.solvers.gradient_descent import GradientDescent
from sparselaw.solvers.least_squares import MinNorm, Ridge
from sparselaw.solvers.nesterov import Nesterov
from sparselaw.solvers.sgd import SGD

__all__ = [
    "SGD",
    "SOLVERS",
    "GradientDescent",
    "MinNorm",
    "Nesterov",
    "Ridge",
    "Solution",
    "Solver",
    "as_solver",
    "from_options",
    "register",
    "setting_names",
    "settings_of",
]
