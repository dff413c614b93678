"""Training seen step by step: losses along a descent, stable steps, iterations, and what they cost."""

from __future__ import annotations

from sparselaw.experiments.dynamics.descents import (
    Curve,
    Demonstration,
    SmallSteps,
    Training,
    clipped_curve,
    compare_small_steps,
    demonstrate,
    find_unstable,
    gradient_descent_curve,
    nesterov_curve,
    prepare_training,
    sgd_curve,
)
from sparselaw.experiments.dynamics.iterations import (
    Iterations,
    Row,
    accelerated_iterations,
    cost_table,
    plain_iterations,
)
from sparselaw.experiments.dynamics.passes import PassesLaw, loss_after_passes
from sparselaw.theory.training.passes import few_pass_exponent as few_passes_exponent

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
