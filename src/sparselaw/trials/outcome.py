"""From a solver's solution and its loss to the record of the trial."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sparselaw.solvers import Solution
from sparselaw.trials.task import Record


def record(
    solution: Solution,
    loss: Callable[[], float],
    averaged: tuple[str, ...],
    *,
    rank: int | None,
    seen: int | None = None,
    control: float | None = None,
    control_mean: float | None = None,
) -> Record:
    """The trial's record; where the descent diverged, or the loss overflows, the loss is infinite."""
    value = math.inf
    if solution.status != "diverged" and np.isfinite(solution.coefficients).all():
        with np.errstate(over="ignore", invalid="ignore"):
            value = loss()
    return Record(
        loss=value if math.isfinite(value) else math.inf,
        status=solution.status,
        reason=solution.reason,
        averaged=averaged,
        control=control,
        control_mean=control_mean,
        seen=seen,
        rank=rank,
        iterations=solution.iterations,
        restarts=solution.restarts,
        gradient=solution.gradient,
    )
