"""Where a parameter of a law may lie and where its search starts, for laws fitted by their formula alone.

Ranges are multiples of a unit that is read off the runs, so that a fit does not depend on the units of N, D
and the loss: a coefficient A of A N^-alpha is searched as a multiple of (median loss) * (mean N)^alpha, with
the geometric mean. In these multiples it is also nearly free of its exponent, which a minimiser likes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

# Values of the parameters without a unit, and the centre of the runs: the geometric mean of each size by its
# name, the median loss as "loss", the smallest as "lowest".
Unit = Callable[[Mapping[str, Any], Mapping[str, float]], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """``low``, ``high`` and ``starts`` are multiples of ``unit``; on a log scale unless ``linear``.

    The formula may be looked at a hair outside of the ends. ``vanishes``: at the low end the parameter is
    reported as zero.
    """

    low: float
    high: float
    starts: tuple[float, ...] = ()
    unit: Unit | None = None
    linear: bool = False
    vanishes: bool = False


@dataclass(frozen=True, slots=True)
class TermUnit:
    """(median loss) * (mean size)^exponent: the unit of a coefficient."""

    size: str
    exponent: str

    def __call__(self, values: Mapping[str, Any], centre: Mapping[str, float]) -> Any:
        return centre["loss"] * centre[self.size] ** values[self.exponent]


def lowest_loss(_values: Mapping[str, Any], centre: Mapping[str, float]) -> Any:
    """The unit of a floor."""
    return centre["lowest"]


def exponent(low: float = 1e-3, high: float = 30.0, starts: tuple[float, ...] = (0.1, 0.35, 1.0)) -> Range:
    return Range(low=low, high=high, starts=starts)


def coefficient(size: str, exponent: str, starts: tuple[float, ...] = (0.1, 0.5)) -> Range:
    """Of a term that falls like size^-exponent; ``starts`` are shares of the loss in the middle."""
    return Range(low=1e-8, high=1e8, starts=starts, unit=TermUnit(size, exponent), vanishes=True)


def floor(starts: tuple[float, ...] = (0.1, 0.5, 0.9)) -> Range:
    """Of the loss that no size removes; ``starts`` are multiples of the smallest loss."""
    return Range(low=1e-8, high=3.0, starts=starts, unit=lowest_loss, vanishes=True)
