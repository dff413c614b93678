"""What every figure and table of the paper is here: the runs it needs, and what it makes of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sparselaw.experiments.paper.verdict import NOT_PRINTED, Printed, Verdict, judge
from sparselaw.interval import Interval
from sparselaw.plain import put
from sparselaw.trials.task import Record, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """One number of the paper beside ours. ``why`` is what was found out, in words made from numbers."""

    quantity: str
    printed: Printed | None
    measured: Interval | None
    theory: float | None = None
    stated: Printed | None = (
        None  # where the paper has none: a number found earlier, which is tried again here
    )
    why: str = ""
    interval: str = "95 %"  # what the ends of ``measured`` are, where they are something else

    @property
    def verdict(self) -> Verdict:
        if self.printed is None and self.stated is not None:
            return judge(self.stated, self.measured, whose="statement")
        return judge(self.printed, self.measured)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; None where there is no number, and beside it why."""
        measured, verdict = self.measured, self.verdict
        if measured is not None and not all(map(math.isfinite, measured.as_dict().values())):
            measured = None
        row: dict[str, Any] = {"quantity": self.quantity}
        put(row, "paper", None if self.printed is None else self.printed.value, NOT_PRINTED)
        why = self.why
        if self.stated is not None:
            row["stated"] = self.stated.value
            why = f"stated earlier: {self.stated.value:g} ± {self.stated.rounding:g}; {why}"
        row["paper_is_bound"] = self.printed is not None and self.printed.bound
        put(row, "measured", measured, "no finite interval came of it")
        row["interval"] = self.interval
        put(row, "theory", self.theory, "no closed form")
        return row | {"verdict": verdict.word, "reason": verdict.reason, "why": why}


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
    draw: Callable[[Figure], None]
    size: tuple[float, float] = (7.0, 4.5)  # inches
    notes: Sequence[str] = field(default_factory=tuple)
    tables: Sequence[SmallTable] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What an item may use: ways to run trials and other work, to keep results, and whether to be quick."""

    quick: bool
    run: Callable[[Sequence[Task]], list[Record]]
    # remember(name, settings, compute, read): read(compute()), computed once for a name and its settings
    remember: Callable[[str, dict[str, Any], Callable[[], Any], Callable[[Any], Any]], Any]
    map: Callable[..., Iterable[Any]]  # like the built-in, on all workers


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A figure or table by its name; ``make`` runs what it needs and returns the result."""

    name: str
    title: str
    make: Callable[[Context], Result]
