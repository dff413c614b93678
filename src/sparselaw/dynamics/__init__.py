"""Training seen step by step: losses along a descent, stable steps, iterations, and what they cost."""

from __future__ import annotations

from sparselaw.dynamics.curves import (
    Curve,
    clipped_curve,
    gradient_descent_curve,
    nesterov_curve,
    sgd_curve,
)
from sparselaw.dynamics.iteration_table import Row, cost_table
from sparselaw.dynamics.iterations import Iterations, accelerated_iterations, plain_iterations
from sparselaw.dynamics.passes import PassesLaw, few_passes_exponent, loss_after_passes
from sparselaw.dynamics.small_steps import SmallSteps, compare_small_steps
from sparselaw.dynamics.training import Training, prepare_training
from sparselaw.dynamics.unstable_step import Demonstration, demonstrate, find_unstable

__all__ = [
    "Curve",
    "Demonstration",
    "Iterations",
    "PassesLaw",
    "Row",
    "SmallSteps",
    "Training",
    "accelerated_iterations",
    "clipped_curve",
    "compare_small_steps",
    "cost_table",
    "demonstrate",
    "few_passes_exponent",
    "find_unstable",
    "gradient_descent_curve",
    "loss_after_passes",
    "nesterov_curve",
    "plain_iterations",
    "prepare_training",
    "sgd_curve",
]
