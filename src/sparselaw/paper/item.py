"""What every figure and table of the paper is here: the runs it needs, and what it makes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sparselaw.interval import Interval
from sparselaw.paper.verdict import Printed, Verdict, judge
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
    why: str = ""
    interval: str = "95 %"  # what the ends of ``measured`` are, where they are something else

    @property
    def verdict(self) -> Verdict:
        return judge(self.printed, self.measured)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A finished item: its numbers, its table, its picture."""

    quantities: Sequence[Quantity]
    rows: Sequence[Row]  # what the CSV holds
    caption: str
    draw: Callable[[Figure], None]
    size: tuple[float, float] = (7.0, 4.5)  # inches
    notes: Sequence[str] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What an item may use: ways to run trials and other work, to keep results, and whether to be quick."""

    quick: bool
    run: Callable[[Sequence[Task]], list[Record]]
    remember: Callable[[str, dict[str, Any], Callable[[], Any]], Any]
    map: Callable[..., Iterable[Any]]  # like the built-in, on all workers


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A figure or table by its name; ``make`` runs what it needs and returns the result."""

    name: str
    title: str
    make: Callable[[Context], Result]
