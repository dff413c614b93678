"""The best ridge and the best place to stop: with label noise, training to the end is too far."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from sparselaw.errors import InputError, check_not_negative, check_size
from sparselaw.inputs import Inputs, check_inputs
from sparselaw.records import html_record, put
from sparselaw.search import golden
from sparselaw.theory.surface import LARGEST_N, check_width, ridge_losses
from sparselaw.theory.training.schedule import Descent
from sparselaw.theory.training.unfinished import train

NARROWED = 11  # times: to less than a hundredth of the bracket
FARTHEST = 1e14  # steps or passes looked at
LOWEST_RIDGE = 1e-12  # relative to D


@dataclass(frozen=True, slots=True, kw_only=True)
class BestRidge:
    """``loss`` at the best ``ridge`` (zero where none helps), ``without``: the loss with no ridge."""

    ridge: float
    loss: float
    without: float

    def as_dict(self) -> dict[str, Any]:
        result: dict[str, Any] = {"ridge": self.ridge, "loss": self.loss}
        put(result, "without", self.without, "infinite without a ridge")
        return result

    def _repr_html_(self) -> str:
        return html_record("best ridge", asdict(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class BestStop:
    """Stop after ``steps`` of gradient descent, or ``passes`` of SGD; ``at_end`` is the loss much later."""

    steps: int | None
    passes: float | None
    loss: float
    at_end: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def _repr_html_(self) -> str:
        return html_record("best stop", self.as_dict())


def best_ridge(inputs: Inputs, *, N: float, D: int, noise: float = 0.0) -> BestRidge:
    """The ridge (the paper's gamma, not divided by D) with the smallest loss, on the leading surface.

    >>> from sparselaw.inputs import SparseInputs
    >>> found = best_ridge(SparseInputs(alpha1=1.0, alpha2=0.3), N=100, D=4_000, noise=0.1)
    >>> 0.01 < found.ridge < 0.2, found.loss < found.without
    (True, True)
    """
    check_inputs(inputs)
    N, D, noise = check_width(N), check_size("D", D), check_not_negative("noise", noise)

    loss = ridge_losses(inputs, min(float(N), float(LARGEST_N)), float(D), noise)
    without = loss(0.0)
    at, least = _least(lambda x: loss(math.exp(x)), math.log(LOWEST_RIDGE * D), math.log(1e3 * D), 18)
    ridge = math.exp(at)
    return BestRidge(ridge=ridge, loss=least, without=without) if least < without else BestRidge(
        ridge=0.0, loss=without, without=without
    )  # fmt: skip


def best_stop(inputs: Inputs, *, N: float, D: int, solver: Any, noise: float = 0.0) -> BestStop:
    """Where to stop ``solver``, SGD or gradient descent: its own number of passes or steps is not used.

    >>> from sparselaw.inputs import SparseInputs
    >>> from sparselaw.solvers import GradientDescent
    >>> inputs, descent = SparseInputs(alpha1=1.0, alpha2=0.3), GradientDescent(steps=1, step=0.1)
    >>> best_stop(inputs, N=float("inf"), D=10_000, solver=descent, noise=0.1).steps > 10_000
    True
    """
    check_inputs(inputs)
    N, D, noise = check_width(N), check_size("D", D), check_not_negative("noise", noise)
    descent: Descent | None = getattr(solver, "descent", None)
    if descent is None:
        raise InputError("solver", solver, "is not a descent that can be stopped", "give sl.SGD(passes=1)")
    by_steps = descent.steps is not None

    def loss(x: float) -> float:
        many = max(round(math.exp(x)), 1)
        run = replace(descent, steps=many) if by_steps else replace(descent, passes=many)
        return train(inputs, float(N), float(D), run, noise, "quasi-static", judged=False).loss

    at, least = _least(loss, 0.0, math.log(FARTHEST), 33)
    many = max(round(math.exp(at)), 1)
    return BestStop(
        steps=many if by_steps else None,
        passes=None if by_steps else float(many),
        loss=least,
        at_end=loss(math.log(FARTHEST)),
    )


def _least(function: Callable[[float], float], low: float, high: float, grid: int) -> tuple[float, float]:
    """Place and value of the smallest on a grid, narrowed by golden section."""
    width = (high - low) / (grid - 1)
    values = [(function(low + i * width), low + i * width) for i in range(grid)]
    value, place = min(values)
    # Mirrored, so that of equal values the earlier place is kept: a count of steps is the same for many x.
    ends = np.array([-min(high, place + width)]), np.array([-max(low, place - width)])
    at, least = golden(lambda x: np.array([function(-float(x[0]))]), *ends, NARROWED)
    value, place = min((value, place), (float(least[0]), -float(at[0])))
    return place, value
