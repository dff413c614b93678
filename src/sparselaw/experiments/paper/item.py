"""What every figure and table of the paper is here: the runs it needs, what it makes of them, its name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from statistics import median
from typing import TYPE_CHECKING, Any

from sparselaw.errors import InputError
from sparselaw.interval import Interval
from sparselaw.records import put
from sparselaw.trials.task import Record, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = dict[str, Any]


NOT_PRINTED = "the paper prints no number for this"


@dataclass(frozen=True, slots=True)
class Printed:
    """A number as the paper prints it: its value, half a unit of its last digit, and its own noise.

    ``below`` and ``above`` are how far the paper's seeds may have moved it (95 %), found by repeating its
    procedure or from the counts it prints.
    """

    value: float
    rounding: float
    below: float = 0.0  # the truth may be this much below the printed value
    above: float = 0.0
    bound: bool = False  # printed as "< value"
    whose: str = "paper"  # or statement: where the paper has none, found earlier and tried again here

    @property
    def within(self) -> float:
        """How far the truth may be from the printed value, on the side where that is more."""
        return self.rounding + max(self.below, self.above)


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number of the paper beside ours. ``why`` explains it, in a sentence computed from the runs."""

    quantity: str
    measured: Interval | None
    printed: Printed | None = None
    theory: float | None = None
    why: str = ""
    interval: str = "95 %"  # what the ends of ``measured`` are, where they are something else

    def verdict(self) -> tuple[str, str]:
        """Whether ours agrees with the printed number, differs, or is not comparable; and the reason.

        Two uncertain numbers agree when they are no further apart than their 95 % half-widths in quadrature.

        >>> Quantity("an exponent", Interval(1.9, 2.02, 2.1), Printed(value=2.0, rounding=0.05)).verdict()[0]
        'agrees'
        >>> Quantity("an exponent", Interval(2.2, 2.3, 2.4), Printed(value=2.0, rounding=0.05)).verdict()[0]
        'differs'
        """
        printed, measured = self.printed, self.measured
        if printed is None:
            return "not comparable", NOT_PRINTED
        if measured is None or not math.isfinite(measured.best):
            return "not comparable", "nothing was measured here"
        if printed.bound:
            agrees = measured.low < printed.value
            where = "below" if agrees else "above"
            reason = f"the paper gives the bound {printed.value:g}; our interval starts {where} it"
        else:
            gap = printed.value - measured.best
            ours = measured.high - measured.best if gap > 0 else measured.best - measured.low
            theirs = printed.rounding + (printed.below if gap > 0 else printed.above)
            allowed = math.hypot(theirs, ours)
            agrees, both = abs(gap) <= allowed, f"{printed.whose} ±{theirs:.2g}, ours ±{ours:.2g}"
            reason = f"{abs(gap):.2g} apart, {allowed:.2g} allowed ({both})"
        return "agrees" if agrees else "differs", reason

    def as_dict(self) -> Row:
        """Plain values for JSON; None where there is no number, and beside it why."""
        measured, why, row = self.measured, self.why, Row(quantity=self.quantity)
        if measured is not None and not all(map(math.isfinite, measured)):
            measured = None
        stated = self.printed is not None and self.printed.whose == "statement"
        paper = None if stated else self.printed
        put(row, "paper", None if paper is None else paper.value, NOT_PRINTED)
        if stated:
            assert self.printed is not None
            row["stated"] = self.printed.value
            why = f"stated earlier: {self.printed.value:g} ± {self.printed.rounding:g}; {why}"
        row["paper_is_bound"] = paper is not None and paper.bound
        row["paper_within"] = None if paper is None else paper.within
        put(row, "measured", measured, "no finite interval came of it")
        row["interval"] = self.interval
        put(row, "theory", self.theory, "no closed form")
        word, reason = self.verdict()
        return row | {"verdict": word, "reason": reason, "why": why}


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallTable:
    """Numbers side by side that are no quantities of the paper, in words already."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A finished item: its numbers, its table, its picture."""

    quantities: Sequence[Quantity]
    rows: Sequence[Row]  # what the CSV holds
    caption: str
    draw: Callable[[Figure], object]
    size: tuple[float, float] = (7.0, 4.5)  # inches
    notes: Sequence[str] = field(default_factory=tuple)
    tables: Sequence[SmallTable] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What an item may use: ways to run trials and other work, to keep results, and whether to be quick."""

    quick: bool
    run: Callable[[Sequence[Task]], list[Record]]
    map: Callable[..., Iterable[Any]]  # like the built-in, on all workers
    # remember(name, function, cells): as map, of plain values, computed once for a name and its cells
    remember: Callable[[str, Callable[[Any], Any], Sequence[Any]], list[Any]]


@dataclass(frozen=True, slots=True)
class Item:
    """A figure or table by its name; ``make`` runs what it needs and returns the result."""

    name: str
    title: str
    make: Callable[[Context], Result]


def range_of(values: Sequence[float]) -> Interval:
    """The median between the smallest and the largest."""
    return Interval(min(values), float(median(values)), max(values))


def bars(intervals: Sequence[Interval]) -> list[list[float]]:
    """How far the ends lie from the best values, as ``Axes.errorbar`` takes them."""
    return [[i.best - i.low for i in intervals], [i.high - i.best for i in intervals]]


# The items of the reproduction, in the paper's order: title, module, function. A module is loaded when its
# item is made.

_ITEMS = {
    "figure-1": ("Phase diagram in (alpha1, alpha2)", "linear_figures", "phases"),
    "figure-2": ("Scaling collapse and double descent", "linear_figures", "collapse"),
    "figure-3": ("Loss against compute", "linear_figures", "loss_against_compute"),
    "figure-4": ("ReLU features trained with Nesterov's method", "panel_figures", "figure_4"),
    "figure-5": ("Linear features, minimum norm", "panel_figures", "figure_5"),
    "figure-6": ("ReLU features, minimum norm", "panel_figures", "figure_6"),
    "table-3": ("Cost of training, predicted and measured", "tables", "table_3"),
    "table-4": ("How often gradient descent diverges", "tables", "table_4"),
    "checks": ("Statements in passing, and sizes beyond the paper", "checks", "make"),
    "beyond-networks": ("Trained networks: what survives feature learning", "beyond_networks", "make"),
    "beyond-passes": ("Beyond the paper: from few passes to the end", "beyond_passes", "make"),
}
NAMES = tuple(_ITEMS)


def item(name: str) -> Item:
    """The item of that name."""
    title, module, function = _ITEMS[name]
    return Item(name, title, getattr(import_module(f"sparselaw.experiments.paper.{module}"), function))


def chosen(names: Sequence[str]) -> list[str]:
    """The names asked for, all of them when none is named, in the paper's order."""
    for name in names:
        if name not in NAMES:
            raise InputError("names", name, "is not an item of the paper", f"choose from {', '.join(NAMES)}")
    return [name for name in NAMES if not names or name in names]
