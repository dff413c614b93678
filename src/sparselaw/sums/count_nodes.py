"""Coordinates with the counts they may have: points at which any function of (p, c, n) is averaged.

    E sum_j F(p_j, c_j, n_j)  is approximately  sum_i weight_i F(p_i, c_i, n_i)

at a cost that grows with neither D nor the number of coordinates; the quadrature is that of ``binomial``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.sums.binomial import FEW, count_points
from sparselaw.sums.unseen import unseen

LARGEST = 6_000  # coordinates given one by one; more are put together in cells
CELL = 0.01  # width of a cell in log p and log c


@dataclass(frozen=True, slots=True)
class CountNodes:
    """Coordinates ``weight``, ``p``, ``c``; points ``coordinate`` (index), ``n``, ``probability``."""

    D: float
    weight: FloatArray
    p: FloatArray
    c: FloatArray
    coordinate: NDArray[np.intp]
    n: FloatArray
    probability: FloatArray

    @property
    def point_weight(self) -> FloatArray:
        """So many coordinates have that count, on average."""
        return np.asarray(self.weight[self.coordinate] * self.probability)

    @property
    def unseen(self) -> FloatArray:
        """(1-p)^D of each coordinate."""
        return unseen(self.p, self.D)


def count_nodes(weight: FloatArray, p: FloatArray, c: FloatArray, D: float, every: float = FEW) -> CountNodes:
    """Points for these coordinates; ``every`` is the mean count up to which every n is one."""
    if p.size > LARGEST:
        weight, p, c = cells(weight, p, c, np.full_like(p, CELL))
    points = count_points(D * p, p, D, few=every)
    return CountNodes(D, weight, p, c, points.coordinate, points.n, points.chance)


def cells(
    weight: FloatArray, p: FloatArray, c: FloatArray, width: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Coordinates that hardly differ put together, cells ``width`` wide in log p and log c."""
    code = np.stack([np.floor(np.log(p) / width), np.floor(np.log(c) / width), width, p >= 1.0])
    _, cell = np.unique(code, axis=1, return_inverse=True)
    cell = np.asarray(cell).ravel()
    size = np.abs(weight)
    total = np.bincount(cell, size)
    mean_p = np.bincount(cell, size * p) / total
    mean_c = np.bincount(cell, size * p * c) / (total * mean_p)
    return np.bincount(cell, weight).astype(float), np.where(mean_p > 1.0 - 1e-12, 1.0, mean_p), mean_c
