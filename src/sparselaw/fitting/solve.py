"""The global minimum: polish every start, keep the best, count the starts that agree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.fitting.design import Design
from sparselaw.fitting.objectives import Objective

AGREEMENT = 1e-6  # relative difference of objective below which two ends are the same minimum
LARGEST_POLISH_ROWS = 10_000  # above it, starts are polished on a sample and only the best on every row
WARM_STARTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimum:
    """The best theta, its value in the objective's own unit, and how sure we are of it."""

    theta: FloatArray
    value: float
    gradient_norm: float  # of the objective over the value of a constant law: a number of order one
    converged: bool
    starts_tried: int
    starts_agreeing: int
    basins: FloatArray  # (n, p): the best few distinct ends, best first; warm starts for resampled data


def global_minimum(
    design: Design,
    objective: Objective,
    weights: FloatArray | None = None,
    starts: FloatArray | None = None,
) -> Minimum:
    """The minimum over every start that the design proposes, or over those given."""
    w = np.ones(design.rows) if weights is None else weights
    starts = design.starts(objective, w) if starts is None else starts
    small, small_w = design, w
    if design.rows > LARGEST_POLISH_ROWS:
        rows = sample(design.rows)
        small, small_w = design.take(rows), w[rows]
    ends = sorted(small.minimise_all(starts, objective, small_w), key=lambda end: end.value)
    best = ends[0]
    tolerance = AGREEMENT * abs(best.value) + 1e-12 * float(small_w.sum())
    basins, seen = [best.theta], best.value
    for end in ends[1:]:
        if end.value - seen > tolerance:
            basins.append(end.theta)
            seen = end.value
    agreeing = sum(end.value - best.value <= tolerance for end in ends)
    if small is not design:  # so close by that no stages are needed
        best = design.refine(best.theta, objective, w)
        basins[0] = best.theta
    return Minimum(
        theta=best.theta,
        value=best.value * objective.unit,
        gradient_norm=best.norm * float(w.sum()) / design.constant_value(objective, w),
        converged=best.converged,
        starts_tried=len(starts),
        starts_agreeing=agreeing,
        basins=np.array(basins[:WARM_STARTS]),
    )


def sample(rows: int) -> IntArray:
    """The same ``LARGEST_POLISH_ROWS`` of the rows every time, in order."""
    return np.sort(np.random.Generator(np.random.PCG64(1)).choice(rows, LARGEST_POLISH_ROWS, replace=False))
