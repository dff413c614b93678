"""Training seen step by step: losses along a descent, stable steps, iterations, and what they cost."""

from __future__ import annotations

from sparselaw.experiments.dynamics.descents import (
    clipped_curve,
    compare_small_steps,
    gradient_descent_curve,
    nesterov_curve,
    prepare_training,
    sgd_curve,
    sgd_loss,
)
from sparselaw.experiments.dynamics.iterations import cost_table

__all__ = [
    "clipped_curve",
    "compare_small_steps",
    "cost_table",
    "gradient_descent_curve",
    "nesterov_curve",
    "prepare_training",
    "sgd_curve",
    "sgd_loss",
]
