"""Coordinates 2, 3, ... one by one at first and then in cells that count as many alike."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import Inputs
from sparselaw.sums.power_sums import power_sum

EXACT = 8  # coordinates that have a cell of their own
RATIO = 1.25  # of the ends of a cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """``count`` coordinates each, of probability p and squared amplitude c; the variances add up exactly."""

    place: FloatArray  # the coordinate, a real number
    count: FloatArray
    p: FloatArray
    c: FloatArray


def coordinate_cells(inputs: Inputs, smallest: float, exact: int = EXACT) -> Cells:
    """Cells up to the coordinate whose variance is ``smallest``.

    A cell stands at the real-valued coordinate whose variance is the mean of the cell's.
    """
    law, a = inputs.power_activations(), inputs.spectrum
    last = min(inputs.dimension, math.ceil(smallest ** (-1.0 / a)) + 1.0)
    first, places, counts = 2.0, [], []
    while first <= last:
        end = first if first <= exact else min(max(first, math.floor(first * RATIO) - 1.0), last)
        count = end - first + 1.0
        mean = power_sum(a, int(first), end) / count
        places.append(first if count == 1.0 else mean ** (-1.0 / a))
        counts.append(count)
        first = end + 1.0
    place = np.array(places)
    return Cells(place=place, count=np.array(counts), p=place**-law.decay, c=place**law.growth)
