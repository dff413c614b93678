"""The global minimum: polish every start, keep the best, count the starts that agree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.fitting.design import Design
from sparselaw.fitting.kernel import CONVERGED, TOLERANCE, minimise, newton, objective
from sparselaw.fitting.objectives import Objective
from sparselaw.fitting.starts import starting_points

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


def polish(
    design: Design, what: Objective, start: FloatArray, w: FloatArray | None = None
) -> tuple[FloatArray, float, float, bool]:
    """The local minimum below one start: theta, value, gradient norm, converged."""
    theta = np.clip(start, design.lower, design.upper).astype(np.float64)
    weights = np.ones(design.rows) if w is None else w
    value, norm, end = minimise(theta, *_arguments(design, weights, what), design.lower, design.upper)
    return theta, float(value), float(norm), bool(end == CONVERGED)


def global_minimum(design: Design, what: Objective, w: FloatArray | None = None) -> Minimum:
    """The minimum over every start of the grid (a power law is linear in theta: one start is enough)."""
    weights = np.ones(design.rows) if w is None else w
    if design.x.shape[0] == 1:
        starts = np.zeros((1, design.lower.size))
    else:
        starts = starting_points(design, what.delta, weights)
    small, small_weights = design, weights
    if design.rows > LARGEST_POLISH_ROWS:
        rows = sample(design.rows)
        small, small_weights = design.take(rows), weights[rows]
    ends = [polish(small, what, start, small_weights) for start in starts]
    ends.sort(key=lambda end: end[1])
    lowest = ends[0][1]
    tolerance = AGREEMENT * abs(lowest) + 1e-12 * float(small_weights.sum())
    agreeing = sum(end[1] - lowest <= tolerance for end in ends)
    basins, seen = [ends[0][0]], lowest
    for end in ends[1:]:
        if end[1] - seen > tolerance:
            basins.append(end[0])
            seen = end[1]
    theta, value, norm, converged = ends[0]
    if small is not design:
        theta, value, norm, converged = _finish(design, what, theta, weights)
        basins[0] = theta
    scale = _constant_value(design, what, weights)
    return Minimum(
        theta=theta,
        value=value * what.unit,
        gradient_norm=norm * float(weights.sum()) / scale,
        converged=converged,
        starts_tried=len(starts),
        starts_agreeing=agreeing,
        basins=np.array(basins[:WARM_STARTS]),
    )


def sample(rows: int) -> IntArray:
    """The same ``LARGEST_POLISH_ROWS`` of the rows every time, in order."""
    return np.sort(np.random.Generator(np.random.PCG64(1)).choice(rows, LARGEST_POLISH_ROWS, replace=False))


def _finish(
    design: Design, what: Objective, start: FloatArray, w: FloatArray
) -> tuple[FloatArray, float, float, bool]:
    """From the optimum of a sample to that of all rows: so close by that no stages are needed."""
    theta = start.copy()
    value, norm, end = newton(theta, *_arguments(design, w, what), design.lower, design.upper, TOLERANCE)
    if end == CONVERGED:
        return theta, float(value), float(norm), True
    return polish(design, what, theta, w)


def _constant_value(design: Design, what: Objective, w: FloatArray) -> float:
    """The objective of the best constant, near enough: what any law has to explain."""
    flat = design.with_log_loss(design.log_loss - np.median(design.log_loss))
    theta = np.zeros(design.lower.size)
    zero = np.zeros((1, design.rows))
    value = objective(
        theta, zero, np.array([0]), np.array([-1]), np.zeros(design.rows, np.int64), *_rows(flat, w, what)
    )
    return max(float(value), 1e-300)


def _arguments(design: Design, w: FloatArray, what: Objective) -> tuple[object, ...]:
    return design.x, design.intercept, design.slope, design.sweep, *_rows(design, w, what)


def _rows(design: Design, w: FloatArray, what: Objective) -> tuple[object, ...]:
    return design.log_loss, design.inverse_scale, w, what.delta
