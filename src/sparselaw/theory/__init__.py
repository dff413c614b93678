"""Everything the paper states and what its closed forms add: exponents, counts, loss surface, frontier."""

from sparselaw.nonlinear import local_exponents
from sparselaw.theory.descent import (
    condition_exponents,
    condition_number,
    paper_condition_number,
)
from sparselaw.theory.scaling_limit import frontier, log_scaling_along, rescaled_ratio, scaling_function
from sparselaw.theory.surface import Point, Surface, coactivation, curve, loss_at, losses_at, peak_of, rank_of
from sparselaw.theory.teacher import predict_teacher, teacher_exponents, teacher_prediction

__all__ = [
    "Point",
    "Surface",
    "coactivation",
    "condition_exponents",
    "condition_number",
    "curve",
    "frontier",
    "local_exponents",
    "log_scaling_along",
    "loss_at",
    "losses_at",
    "paper_condition_number",
    "peak_of",
    "predict_teacher",
    "rank_of",
    "rescaled_ratio",
    "scaling_function",
    "teacher_exponents",
    "teacher_prediction",
]
