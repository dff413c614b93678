"""Names of array types, linear algebra on one thread, and the one least-squares slope on log-log axes."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.integer[Any]]
Given = ParamSpec("Given")
Found = TypeVar("Found")


def on_one_thread(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """For linear algebra of a few hundred rows: too few to share, and threads that wait for each other on a
    busy machine take seven times the processor."""

    @wraps(function)
    def limited(*given: Given.args, **named: Given.kwargs) -> Found:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1, user_api="blas"):
            return function(*given, **named)

    return limited


def log_slope(x: Any, y: Any, weights: FloatArray | None = None) -> tuple[Any, float]:
    """The slope of log y against log x, and S = sum w (log x - mean)^2.

    With weights 1 / (standard deviation of log y)^2 the slope has the standard error S^-1/2. Without, ``y``
    may hold many curves (curves, points), and there is a slope for each.

    >>> slope, _ = log_slope([1.0, 2.0, 4.0], [8.0, 4.0, 2.0])
    >>> round(float(slope), 12)
    -1.0
    """
    log_x, log_y = np.log(np.asarray(x, dtype=np.float64)), np.log(np.asarray(y, dtype=np.float64))
    centred = log_x - np.average(log_x, weights=weights)
    if weights is None:
        squares = float(centred @ centred)
        return log_y @ centred / squares, squares
    squares = float(weights @ centred**2)
    return float(weights @ (centred * log_y)) / squares, squares
