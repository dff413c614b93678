"""Three ways to N ~ C^a and D ~ C^b, side by side (Hoffmann et al. 2022), with C = 6 N D.

1. The lower envelope: the best run at each budget, and a line through log N against log C.
2. IsoFLOP parabolas: at each budget a parabola of the loss over log N; its lowest point, and a line through.
3. A law fitted to all runs, and the balance of its two terms: a = beta / (alpha + beta).

Runs belong to one budget when their compute lies closer together than ``GAP``. The first two have 95 %
intervals from runs drawn with replacement within each budget, the third from the draws of its fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.costs import parse_cost
from sparselaw.errors import InputError
from sparselaw.interval import Interval, drawn_interval
from sparselaw.log_slope import log_slope
from sparselaw.plain import html_table
from sparselaw.planning.from_law import planned_fit
from sparselaw.planning.growth import growth

if TYPE_CHECKING:
    import pandas as pd

    from sparselaw.fitting import FittedLaw

GAP = 0.1  # in log C: budgets lie further apart than this
FEWEST_SIZES = 5  # distinct N at a budget for a parabola
FEWEST_BUDGETS = 3
Line = tuple[float, int]  # the exponent a, and the number of budgets behind it


@dataclass(frozen=True, slots=True, kw_only=True)
class Approach:
    """One way: the exponents of N and D, the budgets behind them; ``reason`` says why there are none."""

    name: str
    a: Interval
    b: Interval
    budgets: int
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        why = self.reason or "no draws"
        return {
            "approach": self.name,
            "a": self.a.plain(why),
            "b": self.b.plain(why),
            "budgets": self.budgets,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Approaches:
    ways: tuple[Approach, ...]

    def as_dict(self) -> dict[str, Any]:
        return {"approaches": [way.as_dict() for way in self.ways]}

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "approach": way.name,
                    **{f"a_{end}": value for end, value in way.a.as_dict().items()},
                    **{f"b_{end}": value for end, value in way.b.as_dict().items()},
                    "budgets": way.budgets,
                }
                for way in self.ways
            ]
        )

    def _repr_html_(self) -> str:
        rows = [[way.name, str(way.a), str(way.b), way.budgets] for way in self.ways]
        return html_table("N ~ C^a, D ~ C^b", ["approach", "a", "b", "budgets"], rows)


def approaches(fitted: FittedLaw, *, bootstrap: int = 200, seed: int = 0) -> Approaches:
    """The three side by side, for the runs of a fitted law of N and D."""
    if fitted.law.sizes != ("N", "D"):
        raise InputError("law", fitted.name, "is no law of N and D", "choose law chinchilla")
    runs = fitted.runs
    budget = budgets_of(6.0 * runs.N * runs.D)
    ways = [
        _way(name, method, runs.N, runs.D, runs.loss, budget, bootstrap, seed)
        for name, method in (("1 envelope", envelope), ("2 isoFLOP", parabolas))
    ]
    third = growth(planned_fit(fitted), parse_cost("6nd"))
    ways.append(
        Approach(
            name=f"3 {fitted.name} law", a=third.N, b=third.D, budgets=int(budget.max()) + 1, reason=third.why
        )
    )
    return Approaches(ways=tuple(ways))


def budgets_of(compute: FloatArray) -> IntArray:
    """0, 1, 2, ... for the budget of every run, in rising order.

    >>> budgets_of(np.array([1e20, 1.03e20, 3e20])).tolist()
    [0, 0, 1]
    """
    logs = np.log(compute)
    order = np.argsort(logs, kind="stable")
    steps = np.concatenate([[0], np.cumsum(np.diff(logs[order]) > GAP)])
    found = np.empty(logs.size, np.int64)
    found[order] = steps
    return found


def envelope(N: FloatArray, D: FloatArray, loss: FloatArray, budget: IntArray) -> Line:
    """The best run of each budget."""
    best = [rows[np.argmin(loss[rows])] for rows in _rows(budget) if rows.size]
    return _slope(6.0 * N[best] * D[best], N[best])


def parabolas(N: FloatArray, D: FloatArray, loss: FloatArray, budget: IntArray) -> Line:
    """The lowest point of a parabola in log N; one that has none within the runs is left out."""
    budgets, sizes = [], []
    for rows in _rows(budget):
        x = np.log(N[rows])
        if np.unique(x).size < FEWEST_SIZES:
            continue
        middle = x.mean()
        c2, c1, _ = np.polyfit(x - middle, loss[rows], 2)
        lowest = middle - 0.5 * c1 / c2 if c2 > 0.0 else math.nan
        if x.min() <= lowest <= x.max():
            budgets.append(np.exp(np.log(6.0 * N[rows] * D[rows]).mean()))
            sizes.append(np.exp(lowest))
    return _slope(np.array(budgets), np.array(sizes))


def _rows(budget: IntArray) -> list[IntArray]:
    return [np.flatnonzero(budget == g) for g in range(int(budget.max()) + 1)]


def _slope(C: FloatArray, N: FloatArray) -> Line:
    return (float(log_slope(C, N)[0]) if C.size >= FEWEST_BUDGETS else math.nan), C.size


def _way(
    name: str,
    method: Callable[..., Line],
    N: FloatArray,
    D: FloatArray,
    loss: FloatArray,
    budget: IntArray,
    draws: int,
    seed: int,
) -> Approach:
    best, count = method(N, D, loss, budget)
    if math.isnan(best):
        none = Interval(math.nan, math.nan, math.nan)
        reason = f"needs {FEWEST_BUDGETS} budgets with runs enough, and has {count}"
        return Approach(name=name, a=none, b=none, budgets=count, reason=reason)
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(2,))))
    groups = _rows(budget)
    found = []
    for _ in range(draws):
        rows = np.concatenate([generator.choice(g, g.size) for g in groups])
        found.append(method(N[rows], D[rows], loss[rows], budget[rows])[0])
    usable = np.array([a for a in found if not math.isnan(a)])
    if usable.size < 20:
        return Approach(
            name=name, a=Interval(math.nan, best, math.nan), b=Interval(math.nan, 1.0 - best, math.nan),
            budgets=count, reason="too few draws",
        )  # fmt: skip
    a = drawn_interval(best, usable)
    return Approach(name=name, a=a, b=Interval(1.0 - a.high, 1.0 - best, 1.0 - a.low), budgets=count)
