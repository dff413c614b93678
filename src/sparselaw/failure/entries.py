"""The nonzeros of one data set, as compiled code passes them on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray


class Entries(NamedTuple):
    """The nonzeros of coordinates 2, 3, ... are entries 0, ..., size-1; x_1 = 1 in every sample.

    Coordinates have compact indices, into ``squared`` and ``often``.
    """

    size: int
    D: int
    sample: NDArray[np.int64]
    coordinate: NDArray[np.int64]
    sign: NDArray[np.int8]
    squared: FloatArray  # c
    often: NDArray[np.int64]  # how often each coordinate was seen
