"""The point of the surface that a solver reaches, finished or not."""

from __future__ import annotations

import math
from typing import Any, Protocol, get_args, runtime_checkable

from sparselaw.errors import InputError, check_choice, check_not_negative, check_size
from sparselaw.inputs import Inputs, check_inputs
from sparselaw.theory.scaling_limit import rescaled_ratio
from sparselaw.theory.surface import LARGEST_N, Point, Surface, check_width, predict_point, rank_of
from sparselaw.theory.training.schedule import Descent
from sparselaw.theory.training.unfinished import Form, train


@runtime_checkable
class Answering(Protocol):
    """What a solver must answer about itself."""

    @property
    def ridge_of_theory(self) -> float | None: ...
    @property
    def descent(self) -> Descent | None: ...


def check_solver(solver: Any) -> None:
    """Refuse what is no solver; None stands for the minimum-norm solution."""
    if isinstance(solver, type):
        remedy = f"give an instance: {solver.__name__}(...)"
        raise InputError("solver", solver.__name__, "is a class and has no settings yet", remedy)
    if solver is not None and not isinstance(solver, Answering):
        raise InputError("solver", solver, "is not a solver", "give a record such as sl.SGD(passes=4)")


def trained_point(
    inputs: Inputs,
    *,
    N: float,
    D: int,
    solver: Answering | None = None,
    ridge: float = 0.0,
    noise: float = 0.0,
    surface: Surface = "sharp",
    form: Form = "full",
) -> Point:
    """The expected population loss of what ``solver`` finds; without one, of the minimum-norm solution."""
    if solver is None:
        return predict_point(inputs, N=N, D=D, ridge=ridge, noise=noise, surface=surface)
    check_solver(solver)
    if ridge > 0.0:
        raise InputError(
            "ridge", ridge, "is given beside a solver", "give sl.Ridge(ridge=...) or leave it out"
        )
    if solver.ridge_of_theory is not None:
        ridge = solver.ridge_of_theory
        return predict_point(inputs, N=N, D=D, ridge=ridge, noise=noise, surface=surface)
    if solver.descent is None:
        remedy = "choose min-norm, ridge, gd, sgd, or nesterov with a tolerance of at most 1e-8"
        raise InputError("solver", getattr(solver, "name", solver), "has no closed form", remedy)
    check_inputs(inputs)
    width, D = check_width(N), check_size("D", D)
    noise = check_not_negative("noise", noise)
    check_choice("form", form, get_args(Form))
    check_choice("surface", surface, get_args(Surface))
    found = train(inputs, float(width), float(D), solver.descent, noise, form, sharp=surface == "sharp")
    return Point(
        N=width,
        D=D,
        K=inputs.expected_seen(float(D)),
        xi=rescaled_ratio(inputs, min(width, LARGEST_N), D) if inputs.exponents is not None else math.nan,
        loss=found.loss,
        caution="; ".join(found.cautions),
        loss_reason=found.reason,
        loss_error=found.error,
        terms=found.parts,
        rank=rank_of(inputs, float(D)),
        parts=found.parts,
        kappa=found.kappa if solver.descent.steps is None else None,
        pi=found.pi,
    )
