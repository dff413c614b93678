"""Three ways to N ~ C^a and D ~ C^b, side by side (Hoffmann et al. 2022), with C = 6 N D.

1. The lower envelope: the best run at each budget, and a line through log N against log C.
2. IsoFLOP parabolas: at each budget a parabola of the loss over log N; its lowest point, and a line through.
3. A law fitted to all runs, and the balance of its two terms: a = beta / (alpha + beta).

Budgets are found in the runs' own compute, C where the table has it and 6 N D elsewhere: runs of about equal
compute with gaps between them. The first two have 95 % intervals from runs drawn with replacement within each
budget, the third from the draws of its fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sparselaw.arrays import FloatArray, IntArray, log_slope
from sparselaw.costs import parse_cost
from sparselaw.errors import InputError
from sparselaw.interval import Interval, drawn_interval
from sparselaw.planning.budget_curves import growth
from sparselaw.planning.from_law import fit_source
from sparselaw.planning.source import is_table
from sparselaw.records import frame, html_table, to_dict

if TYPE_CHECKING:
    import pandas as pd

    from sparselaw.fitting import FittedLaw

WIDEST = 0.5  # in log C: runs of one budget do not lie further apart, whatever counted their compute
EMPTY = 1.5  # the gaps between budgets hold this many times what the largest gaps of chance would
FEWEST_RUNS = 3  # distinct N at a budget that may be called one
FEWEST_SIZES = 5  # distinct N at a budget for a parabola
FEWEST_BUDGETS = 3
Line = tuple[float, int]  # the exponent a, and the number of budgets behind it
NONE = Interval(math.nan, math.nan, math.nan)
FEWEST_DRAWS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Approach:
    """One way: the exponents of N and D, the budgets behind them; ``reason`` says why there are none."""

    name: str
    a: Interval
    b: Interval
    budgets: int
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        why = dict.fromkeys("ab", self.reason or "no draws")
        return {"approach": self.name, **to_dict(self, "a", "b", "budgets", **why)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Approaches:
    """The three ways side by side: the envelope of budgets, isoFLOP parabolas, the fitted law."""

    ways: tuple[Approach, ...]

    def __str__(self) -> str:
        """A line for each way."""
        return "\n".join(
            f"{name}: {why}" if a == "-" else f"{name}: a = {a}, b = {b} of N ~ C^a, D ~ C^b"
            for name, a, b, why in self.table()[1]
        )

    def as_dict(self) -> dict[str, Any]:
        return {"approaches": [way.as_dict() for way in self.ways]}

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Columns and rows, in words."""
        rows = [
            [way.name, *(f"{v.best:.3g} {v.ends()}" for v in (way.a, way.b)), str(way.budgets)]
            if math.isfinite(way.a.best)
            else [way.name, "-", "-", way.reason]
            for way in self.ways
        ]
        return ["approach", "a", "b", "budgets"], rows

    def to_frame(self) -> pd.DataFrame:
        return frame(
            {"approach": way.name, "a": way.a, "b": way.b, "budgets": way.budgets} for way in self.ways
        )

    def _repr_html_(self) -> str:
        return html_table("N ~ C^a, D ~ C^b", *self.table())


def approaches(
    runs: FittedLaw | pd.DataFrame | Mapping[str, Any] | str | Path, *, bootstrap: int = 200, seed: int = 0
) -> Approaches:
    """Three ways to N ~ C^a and D ~ C^b side by side: lower envelope, isoFLOP parabolas, a law.

    Parameters
    ----------
    runs
        A fitted law of N and D, whose runs are used; or a table of runs or its path, to which Chinchilla's
        law is fitted.
    bootstrap
        Draws of runs for the intervals.
    seed
        Of the draws: the same seed gives the same intervals.

    Returns
    -------
    Approaches
        ``ways`` has a and b of each with intervals, or why there are none.

    Raises
    ------
    InputError
        Where the law is not one of N and D, or the table cannot be fitted.

    Examples
    --------
    >>> beside = np.geomspace(0.2, 5, 7)
    >>> sizes = [(n, c / 6 / n) for c in (1e19, 1e20, 1e21) for n in (c / 120) ** 0.5 * beside]
    >>> loss = [2 + 400 / n**0.35 + 900 / d**0.35 for n, d in sizes]
    >>> table = {"N": [n for n, _ in sizes], "D": [d for _, d in sizes], "loss": loss}
    >>> [round(way.a.best, 1) for way in approaches(table, bootstrap=20).ways]
    [0.5, 0.5, 0.5]
    """
    if is_table(runs):
        from sparselaw.fitting import fit

        runs = fit(runs, bootstrap=bootstrap, seed=seed)
    fitted = cast("FittedLaw", runs)
    if fitted.law.sizes != ("N", "D"):
        raise InputError("law", fitted.name, "is no law of N and D", "choose law chinchilla")
    N, D, loss = fitted.runs.N, fitted.runs.D, fitted.runs.loss
    compute = 6.0 * N * D if fitted.runs.compute is None else fitted.runs.compute
    budget = budgets_of(compute, N)
    ways = [
        _way(name, method, (N, compute, loss), budget, bootstrap, seed)
        for name, method in (("1 envelope", envelope), ("2 isoFLOP", parabolas))
    ]
    third = growth(fit_source(fitted), parse_cost("6nd"))
    name = f"3 {fitted.name} law"
    ways.append(Approach(name=name, a=third.N, b=third.D, budgets=int(budget.max()) + 1, reason=third.why))
    return Approaches(ways=tuple(ways))


def budgets_of(compute: FloatArray, N: FloatArray) -> IntArray:
    """0, 1, 2, ... for the budget of every run, in rising order; -1 for a run that belongs to none.

    Runs sorted by log C are cut at their largest gaps, as few as leave no stretch wider than ``WIDEST``. A
    stretch with ``FEWEST_RUNS`` sizes N is a budget. There are budgets at all only where the gaps between
    them are larger than chance would make them: the j-th largest of n - 1 gaps of chance has the share
    (1/j + ... + 1/(n-1))/(n-1) of the whole span on average.

    >>> C, N = np.repeat([1e20, 3e20, 1e21], 4), np.tile([1.0, 2.0, 4.0, 8.0], 3)
    >>> budgets_of(C * N**0.02, N).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]
    """
    order = np.argsort(compute, kind="stable")
    logs, sizes = np.log(compute[order]), N[order]
    gaps, none = np.diff(logs), np.full(logs.size, -1, np.int64)
    largest = np.sort(gaps)[::-1]
    stretch, cuts = np.zeros(logs.size, np.int64), 0
    while max(np.ptp(logs[stretch == place]) for place in range(int(stretch[-1]) + 1)) > WIDEST:
        large = gaps >= largest[cuts]
        stretch, cuts = np.append(0, np.cumsum(large)), int(np.count_nonzero(large))
    of_chance = np.cumsum(1.0 / np.arange(gaps.size, 0, -1))[::-1] / gaps.size
    if float(largest[:cuts].sum()) < EMPTY * np.ptp(logs) * float(of_chance[:cuts].sum()):
        return none
    found = none.copy()
    number = 0
    for place in range(int(stretch[-1]) + 1):
        rows = np.flatnonzero(stretch == place)
        if np.unique(sizes[rows]).size >= FEWEST_RUNS:
            found[order[rows]] = number
            number += 1
    return none if 2 * np.count_nonzero(found >= 0) < logs.size else found


def envelope(N: FloatArray, C: FloatArray, loss: FloatArray, budget: IntArray) -> Line:
    """The best run of each budget."""
    each = [rows for rows in _rows(budget) if rows.size]
    best = [rows[np.argmin(loss[rows])] for rows in each]
    return _slope([np.log(C[rows]).mean() for rows in each], np.log(N[best]))


def parabolas(N: FloatArray, C: FloatArray, loss: FloatArray, budget: IntArray) -> Line:
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
            budgets.append(np.log(C[rows]).mean())
            sizes.append(lowest)
    return _slope(budgets, sizes)


def _rows(budget: IntArray) -> list[IntArray]:
    return [np.flatnonzero(budget == g) for g in range(int(budget.max()) + 1)]


def _slope(log_C: Any, log_N: Any) -> Line:
    count = len(log_C)
    return (float(log_slope(np.exp(log_C), np.exp(log_N))[0]) if count >= FEWEST_BUDGETS else math.nan), count


def _way(
    name: str,
    method: Callable[..., Line],
    runs: tuple[FloatArray, FloatArray, FloatArray],
    budget: IntArray,
    draws: int,
    seed: int,
) -> Approach:
    best, count = method(*runs, budget)
    if math.isnan(best):
        reason = f"needs {FEWEST_BUDGETS} budgets with runs enough, and has {count}"
        if budget.max() < 0:
            reason = "the runs have no budgets: their compute has no gaps"
        return Approach(name=name, a=NONE, b=NONE, budgets=count, reason=reason)
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(2,))))
    found = []
    for _ in range(draws):
        rows = np.concatenate([generator.choice(g, g.size) for g in _rows(budget)])
        found.append(method(*(values[rows] for values in runs), budget[rows])[0])
    usable = np.array([a for a in found if not math.isnan(a)])
    enough = usable.size >= FEWEST_DRAWS
    a = drawn_interval(best, usable if enough else np.array([]))
    b = Interval(1.0 - a.high, 1.0 - best, 1.0 - a.low)
    return Approach(name=name, a=a, b=b, budgets=count, reason="" if enough else "too few draws")
