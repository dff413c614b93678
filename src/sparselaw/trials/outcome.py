"""From a solver's solution and its loss to the record of the trial."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sparselaw.solvers import Solution
from sparselaw.trials.task import Record


def as_record(
    loss: float,
    solution: Solution | None,
    averaged: tuple[str, ...],
    rank: int | None = None,
) -> Record:
    """The outcome of a solver as a record; without a solution nothing went wrong."""
    if solution is None:
        return Record(loss=loss, status="ok", averaged=averaged, rank=rank)
    return Record(
        loss=loss,
        status=solution.status,
        reason=solution.reason,
        averaged=averaged,
        rank=rank,
        iterations=solution.iterations,
        restarts=solution.restarts,
        gradient=solution.gradient,
    )


def finite_loss(solution: Solution, loss: Callable[[], float]) -> float:
    """The loss, infinite where the descent diverged or the loss overflows."""
    if solution.status == "diverged" or not np.isfinite(solution.coefficients).all():
        return math.inf
    with np.errstate(over="ignore", invalid="ignore"):
        value = loss()
    return value if math.isfinite(value) else math.inf
