"""Everything the paper states and what its closed forms add: exponents, counts, loss surface, frontier."""

from sparselaw.theory.collapse import rescaled_ratio, scaling_function
from sparselaw.theory.conditioning import (
    balanced_size,
    cheapest_solver,
    condition_exponents,
    condition_number,
    cost_table,
    direct_crossover,
    paper_condition_number,
    solver_costs,
)
from sparselaw.theory.constants import data_constant, model_constant
from sparselaw.theory.counts import asymptotic_seen, coactivation, expected_seen, rarest_seen
from sparselaw.theory.frontier import frontier
from sparselaw.theory.surface import Point, predict

__all__ = [
    "Point",
    "asymptotic_seen",
    "balanced_size",
    "cheapest_solver",
    "coactivation",
    "condition_exponents",
    "condition_number",
    "cost_table",
    "data_constant",
    "direct_crossover",
    "expected_seen",
    "frontier",
    "model_constant",
    "paper_condition_number",
    "predict",
    "rarest_seen",
    "rescaled_ratio",
    "scaling_function",
    "solver_costs",
]
