"""What is minimised: one family, told apart by where the square turns into an absolute value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

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
