"""What is minimised: one family, told apart by where the square turns into an absolute value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError, check_finite

ObjectiveName = Literal["huber", "l1", "least-squares", "envelope"]
OBJECTIVES: tuple[ObjectiveName, ...] = ("huber", "l1", "least-squares", "envelope")
DEFAULT_DELTA = 1e-3
L1_DELTA = 1e-8  # small against any residual: the value is the sum of absolute residuals to p * 1e-8


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """``delta`` goes to the minimiser; ``unit`` turns its value into the usual one.

    Huber's is the sum of z^2/2 for |z| <= delta and delta (|z| - delta/2) beyond; least absolute deviation
    is the sum of |z|, least squares the sum of z^2/2.
    """

    name: ObjectiveName
    delta: float
    unit: float


def parse_objective(name: str, delta: float | None = None) -> Objective:
    """
    >>> parse_objective("huber").delta
    0.001
    """
    if name in ("huber", "envelope"):
        width = check_finite("delta", DEFAULT_DELTA if delta is None else delta)
        if width <= 0.0:
            raise InputError("delta", delta, "must be positive", "choose delta > 0, such as 1e-3")
        return Objective(name="huber" if name == "huber" else "envelope", delta=width, unit=width)
    if delta is not None:
        raise InputError("delta", delta, f"has no meaning for {name}", "leave it out or choose huber")
    if name == "l1":
        return Objective(name="l1", delta=L1_DELTA, unit=1.0)
    if name == "least-squares":
        return Objective(name="least-squares", delta=math.inf, unit=1.0)
    raise InputError("objective", name, "is not one of the objectives", f"choose {' or '.join(OBJECTIVES)}")


class Rho(NamedTuple):
    """f of every fit, and row by row w rho' and w rho''."""

    value: FloatArray  # (fits,)
    first: FloatArray  # (fits, rows)
    second: FloatArray


def rho(z: FloatArray, weights: FloatArray, delta: FloatArray) -> Rho:
    """Huber's function over delta of ``z`` (fits, rows), one delta a fit.

    rho(z) = z^2 / (2 delta) for |z| <= delta, else |z| - delta / 2; z^2 / 2 for an infinite delta. With c = z
    cut off at delta on both sides and u = 1 / delta (1 for an infinite one), rho = u c (z - c / 2),
    rho' = u c, and rho'' = u where nothing was cut off. Rows without weight count for nothing, whatever z is.
    """
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
