"""How the best N and D grow with the budget: N ~ C^a, D ~ C^b.

For the law N^-alpha_N + D^-alpha_D the best path balances both terms, D ~ N^rho with rho = alpha_N/alpha_D.
Along it the cheapest monomial c N^p D^q of the cost has the smallest p + q rho, and C ~ N^(p + q rho). With
the cost 6ND this is a = alpha_D / (alpha_N + alpha_D) and b = alpha_N / (alpha_N + alpha_D).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.costs import Cost
from sparselaw.interval import Interval, drawn_interval
from sparselaw.planning.planned import Planned

NO_POWERS = "the loss follows no power law in N and D"


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """The exponents of N and D against the budget, for large budgets; ``why`` ends are missing."""

    N: Interval
    D: Interval
    why: str


def growth(planned: Planned, cost: Cost) -> Growth:
    if planned.exponents is None:
        none = Interval(math.nan, math.nan, math.nan)
        return Growth(N=none, D=none, why=NO_POWERS)
    best = _powers(cost, *planned.exponents)
    if planned.drawn_exponents is None:
        a, b = (
            Interval(v, v, v) if planned.peak else Interval(math.nan, v, math.nan) for v in map(float, best)
        )
        return Growth(N=a, D=b, why=planned.intervals)
    drawn = _powers(cost, *planned.drawn_exponents)
    a, b = (drawn_interval(float(v), draws) for v, draws in zip(best, drawn, strict=True))
    return Growth(N=a, D=b, why=planned.intervals)


def _powers(cost: Cost, alpha_N: Any, alpha_D: Any) -> tuple[Any, Any]:
    ratio = np.asarray(alpha_N) / np.asarray(alpha_D)
    spent = np.min([p + q * ratio for _, p, q in cost.monomials()], axis=0)
    return 1.0 / spent, ratio / spent
