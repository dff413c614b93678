"""Coordinates with the counts they may have: points at which any function of (p, c, n) is averaged.

n ~ Binomial(D, p). Where the mean count is small every n that matters is a point of its own; where it is
large the points are those of Gauss's quadrature for the binomial law, from the three-term recurrence of
Krawtchouk's polynomials (monic: a_i = p (D-i) + i (1-p), b_i = i (D-i+1) p (1-p)), exact for polynomials in
n. So

    E sum_j F(p_j, c_j, n_j)  is approximately  sum_i weight_i F(p_i, c_i, n_i)

at a cost that grows with neither D nor the number of coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.sums.unseen import unseen

EVERY_COUNT = 30.0  # mean count up to which every n is a point
GAUSS_POINTS = 7
NEGLECTED = 1e-13  # probability below which a count is left out
LARGEST = 6_000  # coordinates given one by one; more are put together in cells
CELL = 0.01  # width of a cell in log p and log c


@dataclass(frozen=True, slots=True)
class CountNodes:
    """Coordinates ``weight``, ``p``, ``c``; points ``coordinate`` (index), ``n``, ``probability``."""

    D: float
    weight: FloatArray
    p: FloatArray
    c: FloatArray
    coordinate: NDArray[np.int64]
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


def count_nodes(
    weight: FloatArray, p: FloatArray, c: FloatArray, D: float, every: float = EVERY_COUNT
) -> CountNodes:
    """Points for these coordinates; ``every`` is the mean count up to which every n is one."""
    if p.size > LARGEST:
        weight, p, c = cells(weight, p, c, np.full_like(p, CELL))
    mean = D * p
    many = mean > every
    where, n, probability = _every_count(np.flatnonzero(~many), mean, p, D)
    if many.any():
        gauss_n, gauss_w = _gauss(p[many], D)
        where = np.concatenate([where, np.repeat(np.flatnonzero(many), gauss_n.shape[1])])
        n = np.concatenate([n, gauss_n.ravel()])
        probability = np.concatenate([probability, gauss_w.ravel()])
    return CountNodes(D, weight, p, c, where, n, probability)


def _every_count(
    index: NDArray[np.int64], mean: FloatArray, p: FloatArray, D: float
) -> tuple[NDArray[np.int64], FloatArray, FloatArray]:
    """n = 0, 1, ... with P(n+1)/P(n) = (D-n)/(n+1) p/(1-p); n = D where p = 1."""
    always = index[p[index] >= 1.0]
    index = index[p[index] < 1.0]
    where, counts, chances = [always], [np.full(always.size, D)], [np.ones(always.size)]
    current, odds, n = unseen(p[index], D), p[index] / (1.0 - p[index]), 0.0
    while index.size:
        kept = (current > NEGLECTED) | (n == 0.0)
        where.append(index[kept])
        counts.append(np.full(int(kept.sum()), n))
        chances.append(current[kept])
        going = ((current > NEGLECTED) | (n < mean[index])) & (n < D)
        index, odds, current = index[going], odds[going], current[going]
        current = current * odds * (D - n) / (n + 1.0)
        n += 1.0
    return np.concatenate(where), np.concatenate(counts), np.concatenate(chances)


def _gauss(p: FloatArray, D: float) -> tuple[FloatArray, FloatArray]:
    """Gauss's points and weights of each binomial law (Golub and Welsch)."""
    i = np.arange(GAUSS_POINTS)
    centre = (D * p)[:, None]
    spread = np.sqrt(np.maximum(centre * (1.0 - p[:, None]), 1e-300))
    diagonal = i * (1.0 - 2.0 * p[:, None]) / spread  # of (n - D p)/spread
    beside = np.sqrt(i[1:] * np.maximum(D - i[1:] + 1.0, 0.0) / D) * np.ones_like(centre)
    matrix = np.zeros((p.size, GAUSS_POINTS, GAUSS_POINTS))
    matrix[:, i, i] = diagonal
    matrix[:, i[1:], i[:-1]] = beside
    values, vectors = np.linalg.eigh(matrix)
    n = np.where(p[:, None] < 1.0, centre + spread * values, D)
    return np.clip(n, 0.0, D), vectors[:, 0, :] ** 2


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
