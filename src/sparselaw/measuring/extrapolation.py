"""The unseen variance beyond the rows there are, and how far such a step would have missed before.

ln U is followed by a parabola in ln D, fitted from n/64 to n/2, and read off at 2 n and beyond. A straight
line misses far more on real data, and the parabola misses at times too, so that the same step is taken from
the first eighth of the rows to what is known: its error is shown, and widens the interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.interval import Interval
from sparselaw.measuring.rarefaction import Blocks, Histogram, jackknife, rarefied
from sparselaw.records import Record, to_dict

POINTS = 11
SPAN = 32.0  # the fit reaches from D/32 to D
STEPS = (4.0, 8.0, 16.0)  # from n/2: to 2, 4 and 8 times the rows
TESTED_FROM = 16.0  # the back-test knows only n/16 rows, and looks at n/4 and n/2
SATURATED = 0.02  # slope of K below which hardly a feature is new
FEWEST_ROWS = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Beyond(Record):
    """The unseen share at ``D`` rows, more than there are; ``reason`` where none is given."""

    D: float
    unseen: Interval | None
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        return to_dict(self, "D", "unseen", unseen=self.reason or "the blocks of rows do not differ")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTest(Record):
    """What the same step, taken from ``known`` rows to ``D``, would have missed by: predicted/known - 1."""

    known: float
    D: float
    error: float
    straight_line_error: float


def step_tests(data: Histogram) -> list[StepTest]:
    """The step from n/16 rows to n/4 and to n/2; none where no such step is taken."""
    if _refusal(data):
        return []
    known = data.rows / TESTED_FROM
    found = []
    for D in (4.0 * known, 8.0 * known):
        truth = rarefied(data, D).unseen
        if truth <= 0.0:
            continue
        curved, straight = (_polynomial(data, known, degree)(D) for degree in (2, 1))
        errors = {"error": curved / truth - 1.0, "straight_line_error": straight / truth - 1.0}
        found.append(StepTest(known=known, D=D, **errors))
    return found


def beyond(blocks: Blocks, tests: Sequence[StepTest]) -> list[Beyond]:
    """The unseen share at 2, 4 and 8 times the rows."""
    data = blocks.data
    half = data.rows / 2.0
    asked = [half * step for step in STEPS]
    refusal = _refusal(data)
    if refusal:
        return [Beyond(D=D, unseen=None, reason=refusal) for D in asked]
    missed = max((abs(math.log1p(max(test.error, -0.999))) for test in tests), default=0.0)
    last = rarefied(data, half).unseen
    path, others = blocks.each(lambda part: _polynomial(part, min(half, part.rows / 2.0), 2))
    found = []
    for D in asked:
        best = path(D)
        spread = jackknife(best, [other(D) for other in others], blocks.rows, log=True)
        if not (math.isfinite(spread.low) and 0.0 < best < last):
            found.append(Beyond(D=D, unseen=None, reason="the parabola turns upwards before it gets there"))
            continue
        steps = math.log(D / half) / math.log(8.0)
        width = math.hypot(math.log(spread.high / best), 2.0 * missed * steps)
        found.append(Beyond(D=D, unseen=Interval(best * math.exp(-width), best, best * math.exp(width))))
    return found


def _refusal(data: Histogram) -> str:
    if data.rows < FEWEST_ROWS:
        return f"too few rows to look beyond (fewer than {FEWEST_ROWS})"
    at = rarefied(data, data.rows / 2.0)
    if at.unseen <= 0.0:
        return "every feature has been seen: nothing is left to extrapolate"
    if at.seen_slope < SATURATED:
        return "hardly a feature is new (K saturates): the law of what is left cannot be seen"
    return ""


def _polynomial(data: Histogram, last: float, degree: int) -> Callable[[float], float]:
    """The polynomial of ln U in ln D through U between last/32 and last."""
    grid = np.geomspace(max(last / SPAN, 1.0), last, POINTS)
    unseen = np.array([rarefied(data, float(d)).unseen for d in grid])
    if (unseen <= 0.0).any():
        return lambda _: math.nan
    fit = np.polynomial.polynomial.polyfit(np.log(grid / last), np.log(unseen), degree)
    return lambda D: float(np.exp(np.polynomial.polynomial.polyval(math.log(D / last), fit)))
