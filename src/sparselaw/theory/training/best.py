"""The best ridge and the best place to stop: with label noise, training to the end is too far."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from sparselaw.errors import InputError, check_not_negative, check_size
from sparselaw.inputs import Inputs, check_inputs
from sparselaw.records import Record, html_record
from sparselaw.theory.surface import LARGEST_N, check_width, ridge_losses
from sparselaw.theory.training.schedule import Descent
from sparselaw.theory.training.unfinished import train

FARTHEST = 1e14  # steps or passes looked at
LOWEST_RIDGE = 1e-12  # relative to D


@dataclass(frozen=True, slots=True, kw_only=True)
class BestRidge(Record):
    """``loss`` at the best ``ridge`` (zero where none helps), ``without``: the loss with no ridge."""

    reasons: ClassVar[Mapping[str, str]] = {"without": "infinite without a ridge"}

    ridge: float
    loss: float
    without: float

    def _repr_html_(self) -> str:
        return html_record("best ridge", asdict(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class BestStop(Record):
    """Stop after ``steps`` of gradient descent, or ``passes`` of SGD; ``at_end`` is the loss much later."""

    reasons: ClassVar[Mapping[str, str]] = {"steps": "SGD goes by passes", "passes": "descent goes by steps"}

    steps: int | None
    passes: float | None
    loss: float
    at_end: float

    def _repr_html_(self) -> str:
        return html_record("best stop", asdict(self))


def best_ridge(inputs: Inputs, *, N: float, D: int, noise: float = 0.0) -> BestRidge:
    """The ridge with the smallest predicted loss.

    Parameters
    ----------
    inputs : Inputs
        The law of the inputs.
    N : float
        The number of features, which may be infinite.
    D : int
        The number of samples.
    noise : float
        The variance of the label noise.

    Returns
    -------
    BestRidge
        The ridge (the paper's gamma, not divided by D), the loss that ``predict`` gives for it, and the loss
        without a ridge. The ridge is zero where none helps.

    Raises
    ------
    InputError
        Where an argument is out of range.

    Examples
    --------
    >>> from sparselaw.inputs import SparseInputs
    >>> found = best_ridge(SparseInputs(alpha1=1.0, alpha2=0.3), N=100, D=4_000, noise=0.1)
    >>> 0.01 < found.ridge < 0.2, found.loss < found.without
    (True, True)
    """
    check_inputs(inputs)
    N, D, noise = check_width(N), check_size("D", D), check_not_negative("noise", noise)
    loss = ridge_losses(inputs, min(float(N), float(LARGEST_N)), float(D), noise)
    without = loss(0.0)
    least, at = _least(lambda x: loss(math.exp(x)), math.log(LOWEST_RIDGE * D), math.log(1e3 * D), 18)
    ridge = math.exp(at) if least < without else 0.0
    return BestRidge(ridge=ridge, loss=min(least, without), without=without)


def best_stop(inputs: Inputs, *, N: float, D: int, solver: Any, noise: float = 0.0) -> BestStop:
    """The number of steps or passes after which a descent has the smallest predicted loss.

    Parameters
    ----------
    inputs : Inputs
        The law of the inputs.
    N : float
        The number of features, which may be infinite.
    D : int
        The number of samples.
    solver : SGD, GradientDescent or Descent
        What is to be stopped: its step, batch and momentum count; its own number of passes or steps is
        not used.
    noise : float
        The variance of the label noise.

    Returns
    -------
    BestStop
        The number of steps (of gradient descent) or passes (of SGD), the loss there, and the loss of
        training to the end.

    Raises
    ------
    InputError
        Where ``solver`` is not a descent, or an argument is out of range.

    Examples
    --------
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

    least, at = _least(loss, 0.0, math.log(FARTHEST), 33)
    many = max(round(math.exp(at)), 1)
    return BestStop(
        steps=many if by_steps else None,
        passes=None if by_steps else float(many),
        loss=least,
        at_end=loss(math.log(FARTHEST)),
    )


def _least(function: Callable[[float], float], low: float, high: float, count: int) -> tuple[float, float]:
    """Value and place of the smallest: on a grid, then between the neighbours of its smallest."""
    from scipy.optimize import minimize_scalar

    width = (high - low) / (count - 1)
    best = min((function(low + i * width), low + i * width) for i in range(count))
    ends = max(low, best[1] - width), min(high, best[1] + width)
    found = minimize_scalar(function, bounds=ends, method="bounded", options={"xatol": 1e-3})
    return min(best, (float(found.fun), float(found.x)))
