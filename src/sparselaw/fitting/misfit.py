"""Huber's misfit by array operations, and what both minimisers share.

    rho(z) = z^2 / (2 delta) for |z| <= delta, else |z| - delta / 2;    z^2 / 2 for an infinite delta.

With c = z cut off at delta on both sides and u = 1 / delta (1 for an infinite one), rho = u c (z - c / 2),
rho' = u c, and rho'' = u where nothing was cut off.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray, IntArray

TOLERANCE = 1e-9  # on the gradient divided by the sum of the weights
STAGE_TOLERANCE = 1e-6  # before delta falls again: a flat direction has a small gradient far from its end
ROUNDING = 1e-6  # a gradient this small is down to rounding when no step lowers f any more
DELTA_STEP = 6.0  # by how much delta falls from one stage to the next
MOST_STEPS = 300


class Problem(NamedTuple):
    """What kernel.py minimises: t_ki = theta[intercept_k + sweep_i] - theta[slope_k] x_ki, and the rows."""

    x: FloatArray  # (terms, rows): log sizes
    intercept: IntArray  # (terms,)
    slope: IntArray  # (terms,): -1 for a term without an exponent
    sweep: IntArray  # (rows,)
    log_loss: FloatArray  # (rows,): y
    inverse_scale: FloatArray  # (rows,): 1 / s
    weights: FloatArray  # (rows,): w
    lower: FloatArray  # (p,): the box that theta stays in
    upper: FloatArray


class Rho(NamedTuple):
    """f of every fit, and row by row w rho' and w rho''."""

    value: FloatArray  # (fits,)
    first: FloatArray  # (fits, rows)
    second: FloatArray


def rho(z: FloatArray, weights: FloatArray, delta: FloatArray) -> Rho:
    """``z`` (fits, rows), one delta a fit; rows without weight count for nothing, whatever z is there."""
    z = np.where(weights != 0.0, z, 0.0)
    width = delta[:, None]
    unit = np.where(np.isinf(width), 1.0, 1.0 / width)
    cut = np.clip(z, -width, width)
    first = weights * cut * unit
    value = np.sum(first * (z - 0.5 * cut), axis=1)
    return Rho(value, first, np.where(cut == z, weights * unit, 0.0))


def misfit(z: FloatArray, weights: FloatArray, delta: float) -> FloatArray:
    """sum_i w_i rho(z_i) of every row of ``z`` (fits, rows)."""
    return rho(z, weights, np.full(len(z), delta)).value
