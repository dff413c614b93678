"""The sizes that a budget buys, and the lowest place of curves along them."""

from __future__ import annotations

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.costs import Cost
from sparselaw.errors import InputError

RATIOS = (0.3, 3000.0)  # D / N that is looked at, wider where the runs are
PLACES = 61
SCAN = 481  # N that are tried for the ends of the line


def budget_line(
    cost: Cost, budget: float, ratios: tuple[float, float] = RATIOS, places: int = PLACES
) -> tuple[FloatArray, FloatArray]:
    """N and D (places,) that spend the budget, N rising evenly in its logarithm, D / N within ``ratios``.

    >>> from sparselaw.costs import parse_cost
    >>> N, D = budget_line(parse_cost("6nd"), 6e20, places=3)
    >>> bool(np.allclose(6 * N * D, 6e20)), bool(np.allclose((D / N)[[0, -1]], [3000.0, 0.3]))
    (True, True)
    """
    least = float(cost.compute(1.0, 1.0))
    if not budget > least:
        raise InputError("budget", budget, "does not buy N = 1 and D = 1", f"choose budget > {least:g}")
    log_N = np.linspace(0.0, cost.log_largest_N(budget), SCAN)
    ratio = np.log(cost.data_for(np.exp(log_N), budget)) - log_N  # falls along the line
    ends = np.interp(-np.log(ratios[::-1]), -ratio, log_N)
    N = np.exp(np.linspace(ends[0], ends[1], places))
    return N, np.asarray(cost.data_for(N, budget), dtype=np.float64)


def run_ratios(N: FloatArray, D: FloatArray) -> tuple[float, float]:
    """D / N that a plan looks at: the usual range, and that of the runs."""
    ratio = D / N
    return min(RATIOS[0], float(ratio.min())), max(RATIOS[1], float(ratio.max()))


def lowest_place(N: FloatArray, curves: FloatArray) -> FloatArray:
    """(curves,): where each row of ``curves`` (curves, places) is lowest, by a parabola through three places.

    >>> N = np.exp(np.linspace(0.0, 4.0, 9))
    >>> np.log(lowest_place(N, (np.log(N)[None, :] - 1.7) ** 2)).round(9)
    array([1.7])
    """
    rows = np.arange(len(curves))
    i = np.clip(curves.argmin(axis=1), 1, len(N) - 2)
    left, middle, right = (curves[rows, i + step] for step in (-1, 0, 1))
    curvature = left - 2.0 * middle + right
    inside = curvature > 0.0
    step = np.where(
        inside,
        np.clip(0.5 * (left - right) / np.where(inside, curvature, 1.0), -1.0, 1.0),
        np.sign(left - right),
    )
    return np.asarray(N[i] * (N[1] / N[0]) ** step)
