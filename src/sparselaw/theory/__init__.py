"""Everything the paper states and what its closed forms add: exponents, counts, loss surface, frontier."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparselaw.nonlinear import local_exponents as local_exponents
    from sparselaw.theory.descent import condition_exponents as condition_exponents
    from sparselaw.theory.descent import condition_number as condition_number
    from sparselaw.theory.descent import paper_condition_number as paper_condition_number
    from sparselaw.theory.scaling_limit import frontier as frontier
    from sparselaw.theory.scaling_limit import log_scaling_along as log_scaling_along
    from sparselaw.theory.scaling_limit import rescaled_ratio as rescaled_ratio
    from sparselaw.theory.scaling_limit import scaling_function as scaling_function
    from sparselaw.theory.surface import Point as Point
    from sparselaw.theory.surface import Surface as Surface
    from sparselaw.theory.surface import coactivation as coactivation
    from sparselaw.theory.surface import curve as curve
    from sparselaw.theory.surface import loss_at as loss_at
    from sparselaw.theory.surface import losses_at as losses_at
    from sparselaw.theory.surface import peak_of as peak_of
    from sparselaw.theory.surface import rank_of as rank_of
    from sparselaw.theory.teacher import predict_teacher as predict_teacher
    from sparselaw.theory.teacher import teacher_exponents as teacher_exponents
    from sparselaw.theory.teacher import teacher_prediction as teacher_prediction

# Loaded on first use: a prediction needs the surface alone.
_MODULES = {
    "sparselaw.nonlinear": ("local_exponents",),
    "sparselaw.theory.descent": ("condition_exponents", "condition_number", "paper_condition_number"),
    "sparselaw.theory.scaling_limit": (
        *("frontier", "log_scaling_along", "rescaled_ratio", "scaling_function"),
    ),
    "sparselaw.theory.surface": (
        *("Point", "Surface", "coactivation", "curve", "loss_at", "losses_at", "peak_of", "rank_of"),
    ),
    "sparselaw.theory.teacher": ("predict_teacher", "teacher_exponents", "teacher_prediction"),
}
_NAMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_NAMES[name]), name)
