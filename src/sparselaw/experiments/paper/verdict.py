"""Does a measured interval agree with a printed number? Computed, never typed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from sparselaw.interval import Interval

NOT_PRINTED = "the paper prints no number for this"
Word = Literal["agrees", "differs", "not comparable"]


@dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    word: Word
    reason: str


def judge(printed: Printed | None, measured: Interval | None, whose: str = "paper") -> Verdict:
    """Compare a printed number with an interval.

    Two uncertain numbers agree when they are no further apart than their 95 % half-widths in quadrature.

    >>> judge(Printed(value=2.0, rounding=0.05), Interval(1.9, 2.02, 2.1)).word
    'agrees'
    >>> judge(Printed(value=2.0, rounding=0.05), Interval(2.2, 2.3, 2.4)).word
    'differs'
    """
    if printed is None:
        return Verdict(word="not comparable", reason=NOT_PRINTED)
    if measured is None or not math.isfinite(measured.best):
        return Verdict(word="not comparable", reason="nothing was measured here")
    if printed.bound:
        inside = measured.low < printed.value
        where = "below" if inside else "above"
        return Verdict(
            word="agrees" if inside else "differs",
            reason=f"the {whose} gives the bound {printed.value:g}; our interval starts {where} it",
        )
    gap = printed.value - measured.best
    ours = measured.high - measured.best if gap > 0 else measured.best - measured.low
    theirs = printed.rounding + (printed.below if gap > 0 else printed.above)
    allowed = math.hypot(theirs, ours)
    return Verdict(
        word="agrees" if abs(gap) <= allowed else "differs",
        reason=f"{abs(gap):.2g} apart, {allowed:.2g} allowed ({whose} ±{theirs:.2g}, ours ±{ours:.2g})",
    )
