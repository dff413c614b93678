"""What a plan is made from: a loss over N and D, and what is known of it.

A law, a fitted law, a table of runs and the inputs of the theory each become a ``Source``. Only the room that
one of them needs is imported.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparselaw.arrays import FloatArray
from sparselaw.costs import Conditioning, Cost, parse_cost
from sparselaw.errors import InputError
from sparselaw.inputs import Inputs
from sparselaw.interval import Interval
from sparselaw.laws import Law
from sparselaw.planning.allocate import Allocation, Loss, Peak

if TYPE_CHECKING:
    from sparselaw.theory.surface import Surface

Ends = tuple[Interval, Interval, Interval]  # of N, D and the loss


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The questions of a plan that only a law, the runs or the theory can answer.

    ``exponents`` are (alpha_N, alpha_D) of the loss above its ``floor``; where there are none, alpha_C is not
    known, and without ``conditioning`` costs that depend on the condition number are refused.
    """

    loss: Loss
    search: Callable[[Cost, float], Allocation]  # the best N and D of a budget, and the other valleys
    exponents: tuple[float, float] | None
    conditioning: Conditioning | None
    intervals: str  # where the intervals come from
    exact: bool = False  # the theory is not a measurement: its intervals have no width
    ends: Callable[[Cost, float, Allocation], Ends] | None = None  # where there are draws
    warnings: Callable[[Cost, float, Allocation], tuple[str, ...]] = lambda *_: ()
    loss_intervals: str = ""  # where that of the loss comes from, if from elsewhere
    drawn_exponents: tuple[FloatArray, FloatArray] | None = None  # the same for every draw of a fit
    usual_cost: str = "6nd"  # where none is named
    floor: float = 0.0
    floor_low: float = 0.0  # the least that the floor may be
    peak: Peak | None = None
    level: float = 0.95  # of the intervals
    by: str = ""  # what the plan is made by, in words
    quantile: Callable[[float, float, float], float] | None = None  # of the loss at (N, D)
    frontier_draws: Callable[[Cost, FloatArray], FloatArray] | None = None
    """(draws, budgets): log of the loss at the best N and D of every budget."""
    sizes: tuple[FloatArray, FloatArray] | None = None  # N and D of the runs behind it, where there are some
    usual_budget: float | None = None  # what the most expensive run cost, by 6 N D
    basis: Any = None  # what the source was made from: prepared runs, a fitted law, a law
    beside: Callable[[Ends], dict[str, Any]] = lambda _: {}  # further fields of the plan at the best N and D

    def cost(self, name: str | None) -> Cost:
        """The cost of that name, or the usual one."""
        return parse_cost(self.usual_cost if name is None else name, self.conditioning)

    def undrawn(self, value: float) -> Interval:
        """About a number that has no draws: no width where it is exact, else no ends."""
        end = value if self.exact else math.nan
        return Interval(end, value, end)


def as_source(given: Any, surface: Surface = "sharp", level: float = 0.95, **rows: Any) -> Source:
    """What ``plan`` needs of runs, a law, a fitted law or inputs, of these on that surface of the loss."""
    if isinstance(given, Source):
        return given
    if is_table(given):
        from sparselaw.planning.forecast_budgets import table_source

        return table_source(given, level, **rows)
    if rows:
        raise InputError(next(iter(rows)), "", "is for a table of runs", "leave it out")
    if isinstance(given, Inputs):
        from sparselaw.planning.from_theory import theory_source

        return theory_source(given, surface)
    from sparselaw.planning.from_law import fit_source, law_source

    if isinstance(given, Law):
        return law_source(given)
    kept = getattr(given, "prepared", getattr(given, "basis", None))  # of a forecast, of a plan
    if kept is not None:
        from sparselaw.forecasting import Prepared
        from sparselaw.planning.from_runs import runs_source

        return runs_source(kept, level) if isinstance(kept, Prepared) else as_source(kept)
    if isinstance(getattr(given, "law", None), Law):
        return fit_source(given)
    raise InputError("law", type(given).__name__, "is no law and no model", "fit a law or describe inputs")


def is_table(given: Any) -> bool:
    """A table of runs, or the path of one, by what it is like: only fits need the room of fitting."""
    return isinstance(given, (str, Path, Mapping)) or hasattr(given, "columns")
