"""Names for the array types, and the one least-squares slope on log-log axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.integer[Any]]


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
