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

    from sparselaw.theory import Surface

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
        for i in range(self.N.size):
            row: dict[str, Any] = {"factor": float(self.factor[i])}
            for key in COLUMNS[1:]:
                value = float(getattr(self, key)[i])
                put(row, key, value, "infinite" if math.isinf(value) else "not defined at this point")
            rows.append(row)
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
    N = best.N * np.asarray(factors)
    D = np.asarray(cost.data_for(N, budget))
    bought = (N >= 1.0 - 1e-9) & (D >= 1.0 - 1e-9)
    N, D = N[bought], D[bought]
    values = np.array(loss(N, D), dtype=np.float64)
    values[np.asarray(factors)[bought] == 1.0] = best.loss  # the same but for rounding
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (values - floor) / (best.loss - floor)
        excess = values / best.loss - 1.0
        wasted = 1.0 - ratio ** (-1.0 / slope) if slope > 0.0 else np.full(values.size, np.nan)
    return IsoFlop(
        budget=budget,
        factor=np.asarray(factors)[bought],
        N=N,
        D=D,
        loss=values,
        excess=excess,
        wasted=np.maximum(wasted, 0.0),
    )


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
    if source.exponents is None:
        none = Interval(math.nan, math.nan, math.nan)
        return Growth(N=none, D=none, why=NO_POWERS)
    best = _powers(cost, *source.exponents)
    if source.drawn_exponents is None:
        a, b = (
            Interval(v, v, v) if source.peak else Interval(math.nan, v, math.nan) for v in map(float, best)
        )
    else:
        drawn = _powers(cost, *source.drawn_exponents)
        a, b = (drawn_interval(float(v), draws) for v, draws in zip(best, drawn, strict=True))
    return Growth(N=a, D=b, why=source.intervals)


def _powers(cost: Cost, alpha_N: Any, alpha_D: Any) -> tuple[Any, Any]:
    ratio = np.asarray(alpha_N) / np.asarray(alpha_D)
    spent = np.min([p + q * ratio for _, p, q in cost.monomials()], axis=0)
    return 1.0 / spent, ratio / spent


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierCurve(Record):
    """The best N and D at each budget, and the loss there."""

    cost: str
    budget: FloatArray
    N: FloatArray
    D: FloatArray
    loss: FloatArray


def frontier_curve(
    given: Any,
    budgets: Any,
    cost: str | None = None,
    *,
    side: str | None = None,
    surface: Surface = "sharp",
) -> FrontierCurve:
    """For a law, a fitted law or inputs, on one ``side`` of the peak or the better one.

    Many budgets are read off a polynomial through six in log C: that of one side, because the better side may
    change. Where that side has no valley, at small budgets, there is no number.

    >>> from sparselaw.laws import TwoPowerLaw
    >>> found = frontier_curve(TwoPowerLaw(A=1.0, B=1.0, alpha_N=1.0, alpha_D=1.0), [6e4, 6e6])
    >>> found.N.round().tolist()
    [100.0, 1000.0]
    """
    source = as_source(given, surface)
    spending = source.cost(cost)
    asked = np.asarray(budgets, dtype=float)
    many, places = asked.size > MANY_BUDGETS, asked
    if many:
        ends = float(np.log(asked.min())), float(np.log(asked.max()))
        places = np.exp(chebyshev_places(*ends, MANY_BUDGETS))
    found = [source.search(spending, float(C)) for C in places]
    side = side or (found[-1].best.side if many else None)
    best = [_on(side, (one.best, *one.others)) for one in found]
    columns = np.log([[valley.N, valley.D, valley.loss] for valley in best])
    if many:
        own = np.array([valley.side == side and math.isfinite(valley.loss) for valley in best], bool)
        own = own if own.any() else np.ones(places.size, bool)
        columns = interpolate(np.log(places[own]), columns[own], np.log(asked))
        columns[(asked < 0.999 * places[own].min()) | (asked > 1.001 * places[own].max())] = np.nan
    N, D, loss = np.exp(columns).T
    return FrontierCurve(cost=spending.name, budget=asked, N=N, D=D, loss=loss)


def _on(side: str | None, valleys: tuple[Valley, ...]) -> Valley:
    """The best valley of that side, or of all where it has none."""
    finite_ones = [valley for valley in valleys if math.isfinite(valley.loss)]
    return next((valley for valley in finite_ones if valley.side == side), valleys[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class ValleyCurve(Record):
    """The loss along a whole budget curve, as a picture shows it: N, the D that the rest of the budget buys,
    and the loss there; infinite at the peak."""

    budget: float
    cost: str
    N: FloatArray
    D: FloatArray
    loss: FloatArray


def valley_curve(
    given: Any,
    budget: float,
    cost: str | None = None,
    *,
    between: tuple[float, float] = (1.0, math.inf),
    count: int = COUNT,
    surface: Surface = "sharp",
) -> ValleyCurve:
    """For a law, a fitted law or inputs; ``between`` limits N.

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
    if wall is not None:
        near = np.concatenate([wall - BESIDE, wall + BESIDE])
        x = np.unique(np.concatenate([x[np.abs(x - wall) > BESIDE[0]], near[(near >= low) & (near <= high)]]))
    N = np.exp(x)
    D = np.asarray(spending.data_for(N, budget))
    losses = np.asarray(source.loss(N, D), dtype=float)
    if wall is not None and low < wall < high:
        i = int(np.searchsorted(x, wall))
        top = float(np.exp(wall))
        N, D = np.insert(N, i, top), np.insert(D, i, float(spending.data_for(top, budget)))
        losses = np.insert(losses, i, np.inf)
    return ValleyCurve(budget=budget, cost=spending.name, N=N, D=D, loss=losses)
