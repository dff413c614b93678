"""Everything the paper states and what its closed forms add: exponents, counts, loss surface, frontier."""

from sparselaw.nonlinear import local_exponents
from sparselaw.theory.coactivation import coactivation
from sparselaw.theory.collapse import log_scaling_along, rescaled_ratio, scaling_function
from sparselaw.theory.conditioning import (
    condition_exponents,
    condition_number,
    paper_condition_number,
)
from sparselaw.theory.curve import curve
from sparselaw.theory.frontier import frontier
from sparselaw.theory.point import Point
from sparselaw.theory.prediction import Prediction, predict, prediction
from sparselaw.theory.surface import Surface, loss_at, losses_at, peak_of, rank_of
from sparselaw.theory.teacher import predict_teacher, teacher_exponents, teacher_prediction

__all__ = [
    "Point",
    "Prediction",
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
    "predict",
    "predict_teacher",
    "prediction",
    "rank_of",
    "rescaled_ratio",
    "scaling_function",
    "teacher_exponents",
    "teacher_prediction",
]
