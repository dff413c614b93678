"""Along budgets: what a wrong N costs, the valley of good N, how the best N and D grow, and curves to draw.

For the law N^-alpha_N + D^-alpha_D the best path balances both terms, D ~ N^rho with rho = alpha_N/alpha_D.
Along it the cheapest monomial c N^p D^q of the cost has the smallest p + q rho, and C ~ N^(p + q rho). With
the cost 6ND this is N ~ C^a with a = alpha_D / (alpha_N + alpha_D), and D ~ C^b with b = 1 - a.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.costs import Cost
from sparselaw.interval import Interval, drawn_interval
from sparselaw.planning.allocate import Loss, Valley, log_sizes, peak_place
from sparselaw.planning.source import Source, as_source
from sparselaw.records import Record, put
from sparselaw.search import chebyshev_places, interpolate

if TYPE_CHECKING:
    import pandas as pd

    from sparselaw.theory.surface import Surface

COLUMNS = ("factor", "N", "D", "loss", "excess", "wasted")
FACTORS = (0.125, 0.25, 0.5, 0.8, 1.0, 1.25, 2.0, 4.0, 8.0)
SOUGHT, VALLEY_PLACES = 200.0, 161  # times the best N to either side, and places on it
WITHIN = 0.01  # of the best loss: the valley
NO_POWERS = "the loss follows no power law in N and D"
MANY_BUDGETS = 6  # more are read off a polynomial through so many
COUNT = 81
BESIDE = np.geomspace(0.01, 0.6, 12)  # distances from the peak in log N that are always shown


@dataclass(frozen=True, slots=True, kw_only=True)
class IsoFlop:
    """Loss at ``factor`` times the best N, the whole budget spent.

    ``excess`` is loss / loss* - 1; ``wasted`` the part of the budget that a best allocation would not have
    needed to reach that loss, from the local exponent of loss* - E.
    """

    budget: float
    factor: FloatArray
    N: FloatArray
    D: FloatArray
    loss: FloatArray
    excess: FloatArray
    wasted: FloatArray

    def as_rows(self) -> list[dict[str, Any]]:
        """One row for each factor, ready for JSON."""
        rows: list[dict[str, Any]] = []
        for values in zip(*(getattr(self, name).tolist() for name in COLUMNS), strict=True):
            rows.append({})
            for name, value in zip(COLUMNS, values, strict=True):
                put(rows[-1], name, value, "infinite" if math.isinf(value) else "not defined at this point")
        return rows

    def to_frame(self) -> pd.DataFrame:
        """One row for each factor."""
        import pandas as pd

        return pd.DataFrame({name: getattr(self, name) for name in COLUMNS})


def isoflop(
    loss: Loss,
    cost: Cost,
    budget: float,
    best: Valley,
    floor: float,
    slope: float,
    factors: tuple[float, ...] = FACTORS,
) -> IsoFlop:
    """The profile at the given multiples of the best N that the budget still buys."""
    factor = np.asarray(factors)
    bought = (best.N * factor >= 1.0 - 1e-9) & (cost.data_for(best.N * factor, budget) >= 1.0 - 1e-9)
    factor = factor[bought]
    N = best.N * factor
    D = np.asarray(cost.data_for(N, budget))
    values = np.array(loss(N, D), dtype=np.float64)
    values[factor == 1.0] = best.loss  # the same but for rounding
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (values - floor) / (best.loss - floor)
        excess = values / best.loss - 1.0
        wasted = 1.0 - ratio ** (-1.0 / slope) if slope > 0.0 else np.full(values.size, np.nan)
    wasted = np.maximum(wasted, 0.0)
    return IsoFlop(budget=budget, factor=factor, N=N, D=D, loss=values, excess=excess, wasted=wasted)


def valley_of(loss: Loss, cost: Cost, budget: float, best: Valley) -> tuple[float, float]:
    """The smallest and the largest N, around the best, whose loss is within 1 % of the best loss.

    Sought up to 200 times the best N to either side, where the budget still buys both sizes.
    """
    low = max(-math.log(SOUGHT), -math.log(best.N))
    sides = [np.linspace(low, 0.0, VALLEY_PLACES), np.linspace(0.0, math.log(SOUGHT), VALLEY_PLACES)]
    x = np.unique(np.concatenate(sides))
    N = best.N * np.exp(x)
    D = np.asarray(cost.data_for(N, budget))
    bought = D >= 1.0 - 1e-9
    x, values = x[bought], np.asarray(loss(N[bought], D[bought]), dtype=np.float64)
    excess = values / best.loss - 1.0 - WITHIN
    at = int(np.argmin(np.abs(x)))
    ends = [_crossing(x[at::-1], excess[at::-1]), _crossing(x[at:], excess[at:])]
    return float(best.N * np.exp(ends[0])), float(best.N * np.exp(ends[1]))


def _crossing(x: FloatArray, excess: FloatArray) -> float:
    """Where it first rises above zero, by a straight line; the last place where it never does."""
    above = np.flatnonzero(excess > 0.0)
    if not above.size:
        return float(x[-1])
    i, j = int(above[0]), int(above[0]) - 1
    return float(x[j] + (x[i] - x[j]) * excess[j] / (excess[j] - excess[i]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """The exponents of N and D against the budget, for large budgets; ``why`` ends are missing."""

    N: Interval
    D: Interval
    why: str


def growth(source: Source, cost: Cost) -> Growth:
    """N ~ C^a and D ~ C^b, with intervals where there are draws."""

    def powers(alpha_N: Any, alpha_D: Any) -> tuple[Any, Any]:
        ratio = np.asarray(alpha_N) / np.asarray(alpha_D)
        spent = np.min([p + q * ratio for _, p, q in cost.monomials()], axis=0)
        return 1.0 / spent, ratio / spent

    if source.exponents is None:
        none = Interval(math.nan, math.nan, math.nan)
        return Growth(N=none, D=none, why=NO_POWERS)
    a, b = map(float, powers(*source.exponents))
    if source.drawn_exponents is None:
        return Growth(N=source.undrawn(a), D=source.undrawn(b), why=source.intervals)
    drawn_a, drawn_b = powers(*source.drawn_exponents)
    return Growth(N=drawn_interval(a, drawn_a), D=drawn_interval(b, drawn_b), why=source.intervals)


@dataclass(frozen=True, slots=True)
class BudgetCurve(Record):
    """N, D and the loss: the best at each of many budgets, or all along one."""

    cost: str
    budget: Any
    N: FloatArray
    D: FloatArray
    loss: FloatArray


def frontier_curve(
    given: Any, budgets: Any, cost: str | None = None, *, surface: Surface = "sharp"
) -> BudgetCurve:
    """The best N and D at each budget, for a law, a fitted law or inputs.

    Many budgets are read off a polynomial through six in log C, on the side of the peak that is better at the
    largest, because the better side may change. Where it has no valley, at small budgets, there is no number.

    >>> from sparselaw.laws import TwoPowerLaw
    >>> found = frontier_curve(TwoPowerLaw(A=1.0, B=1.0, alpha_N=1.0, alpha_D=1.0), [6e4, 6e6])
    >>> found.N.round().tolist()
    [100.0, 1000.0]
    """
    source = as_source(given, surface)
    spending = source.cost(cost)
    asked = np.asarray(budgets, dtype=float)
    if asked.size <= MANY_BUDGETS:
        best = [source.search(spending, float(C)).best for C in asked]
        columns = np.array([[valley.N, valley.D, valley.loss] for valley in best])
        return BudgetCurve(spending.name, asked, *columns.T)
    places = np.exp(chebyshev_places(float(np.log(asked.min())), float(np.log(asked.max())), MANY_BUDGETS))
    found = [source.search(spending, float(C)) for C in places]
    side = found[-1].best.side
    logs, known = [], []
    for C, one in zip(places, found, strict=True):
        for valley in (one.best, *one.others):
            if valley.side == side and math.isfinite(valley.loss):
                known.append(C)
                logs.append(np.log([valley.N, valley.D, valley.loss]))
                break
    columns = np.exp(interpolate(np.log(known), np.array(logs), np.log(asked)))
    columns[(asked < 0.999 * min(known)) | (asked > 1.001 * max(known))] = np.nan
    return BudgetCurve(spending.name, asked, *columns.T)


def valley_curve(
    given: Any,
    budget: float,
    cost: str | None = None,
    *,
    between: tuple[float, float] = (1.0, math.inf),
    count: int = COUNT,
    surface: Surface = "sharp",
) -> BudgetCurve:
    """The loss along a whole budget, infinite at the peak; ``between`` limits N.

    >>> from sparselaw.laws import TwoPowerLaw
    >>> found = valley_curve(TwoPowerLaw(A=1.0, B=1.0, alpha_N=1.0, alpha_D=1.0), budget=6e4)
    >>> round(float(found.N[found.loss.argmin()]))
    100
    """
    source = as_source(given, surface)
    spending = source.cost(cost)
    edge = log_sizes(spending, budget, 2)
    low, high = np.clip(edge, *np.log(between))
    x = np.linspace(float(low), float(high), count)
    wall = None if source.peak is None else peak_place(spending, budget, source.peak, edge)
    finite = np.ones(x.size, bool)
    if wall is not None:
        near = np.concatenate([wall - BESIDE, [wall], wall + BESIDE])
        far = x[np.abs(x - wall) > BESIDE[0]]
        x = np.unique(np.concatenate([far, near[(near >= low) & (near <= high)]]))
        finite = x != wall
    N = np.exp(x)
    D = np.asarray(spending.data_for(N, budget))
    losses = np.full(x.size, np.inf)
    losses[finite] = source.loss(N[finite], D[finite])
    return BudgetCurve(spending.name, budget, N, D, losses)
