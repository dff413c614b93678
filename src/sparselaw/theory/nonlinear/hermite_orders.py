"""Hermite coefficients of f at the means and deviations that samples give it.

For g standard normal and the polynomials h_k orthonormal under it,

    f(m + s g) = sum_k c_k(m, s) h_k(g),    E f(m + s g) f(n + t g') = sum_k c_k(m, s) c_k(n, t) r^k

for g, g' of correlation r (Mehler). Means over g are sums on an even grid. What the orders beyond the last
one hold together, E f^2 - sum c_k^2, is given to the next order, which is exact for r = 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray

Function = Callable[[Any], Any]  # of arrays

REACH = 13.0  # of the grid: beyond it the root of the normal density is below 1e-18
STEP = 0.1  # at a deviation of one
MOST = 64  # orders
SMALL = 1e-10  # of E f^2: what the orders left out may hold
DEVIATIONS = 65  # at which the coefficients are found; between them they are cubic


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Orders:
    """c_k at each mean and at even steps of the deviation from 0 to ``largest``: (means, deviations, K)."""

    largest: float
    values: FloatArray
    left_out: float  # of E f^2, at the worst: what was given to the last order


def hermite_orders(f: Function, means: FloatArray, largest: float, parity: int) -> Orders:
    """``parity``: 0 for an even f, 1 for an odd one; it is the parity of the last order too."""
    s = np.linspace(0.0, largest, DEVIATIONS)
    pairs = np.repeat(means, DEVIATIONS), np.tile(s, means.size)
    kept, left_out = coefficients(f, *pairs, parity)
    return Orders(largest=largest, values=kept.reshape(means.size, DEVIATIONS, -1), left_out=left_out)


def coefficients(
    f: Function, means: FloatArray, deviations: FloatArray, parity: int
) -> tuple[FloatArray, float]:
    """c_k at each pair of a mean and a deviation, (pairs, K), and what was given to the last order."""
    step = STEP / max(1.0, float(deviations.max()))
    points = step * np.arange(-math.ceil(REACH / step), math.ceil(REACH / step) + 1.0)
    root = np.exp(-0.25 * points**2)
    root /= np.linalg.norm(root)
    values = f(means[:, None] + deviations[:, None] * points) * root
    squares = np.sum(values**2, axis=1)
    found = values @ _polynomials(points, root).T
    left = squares[:, None] - np.cumsum(found**2, axis=1)  # beyond each order
    enough = np.flatnonzero(left.max(axis=0) <= SMALL * squares.max())
    last = int(enough[0]) + 1 if enough.size else MOST - 1
    last += (last - parity) % 2
    last = min(last, MOST - 2 + parity % 2)
    rest = np.maximum(left[:, last - 1], 0.0)
    kept = np.concatenate([found[:, :last], np.sqrt(rest)[:, None]], axis=1)
    return np.ascontiguousarray(kept), float(rest.max() / squares.max())


def _polynomials(points: FloatArray, root: FloatArray) -> FloatArray:
    """h_k times the root of the weights, (MOST, points)."""
    rows = [root]
    before = np.zeros_like(root)
    for k in range(MOST - 1):
        rows.append((points * rows[-1] - math.sqrt(k) * before) / math.sqrt(k + 1.0))
        before = rows[-2]
    return np.stack(rows)
