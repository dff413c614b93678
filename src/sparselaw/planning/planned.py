"""What is planned for: a loss over N and D, and what is known of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sparselaw.arrays import FloatArray
from sparselaw.costs import Conditioning, Cost
from sparselaw.interval import Interval
from sparselaw.planning.allocate import GRID, Allocation, Loss, Peak, allocate
from sparselaw.search import GOLDEN_STEPS

Ends = tuple[Interval, Interval, Interval]  # of N, D and the loss
Forecast = Callable[[float, float], tuple[Interval, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A law or the theory of some inputs, with the questions that only they can answer.

    ``exponents`` are (alpha_N, alpha_D) of the loss above its ``floor``; where there are none, alpha_C is not
    known, and without ``conditioning`` costs that depend on the condition number are refused.
    """

    loss: Loss
    exponents: tuple[float, float] | None
    conditioning: Conditioning | None
    intervals: str  # where the intervals come from
    ends: Callable[[Cost, float, Allocation], Ends]
    warnings: Callable[[Cost, float, Allocation], tuple[str, ...]]
    forecast: Forecast | None = None  # the loss of a run at (N, D) with its interval, and where it comes from
    drawn_exponents: tuple[FloatArray, FloatArray] | None = None  # the same for every draw of a fit
    usual_cost: str = "6nd"  # where none is named
    floor: float = 0.0
    peak: Peak | None = None
    grid: int = GRID
    steps: int = GOLDEN_STEPS
    rough: Loss | None = None  # a quick loss within a few per cent, for the first look
    dear: bool = False  # whether a value of the loss takes long: few are asked for
    level: float = 0.95  # of the intervals
    by: str = ""  # what the plan is made by, in words
    search: Callable[[Cost, float], Allocation] | None = None  # a way of its own to the best place
    quantile: Callable[[float, float, float], float] | None = None  # of a run's loss at (N, D)
    log_draws: Callable[[FloatArray, FloatArray], FloatArray] | None = None  # of the expected log losses
    floor_low: float = 0.0  # the least that the floor may be
    usual_budget: float | None = None  # what the most expensive run cost, by 6 N D

    def allocation(self, cost: Cost, budget: float) -> Allocation:
        """The best N and D that ``budget`` buys, and the other valleys."""
        if self.search is not None:
            return self.search(cost, budget)
        return allocate(
            self.loss,
            cost,
            budget,
            peak=self.peak,
            grid=self.grid,
            steps=self.steps,
            rough=self.rough,
            dear=self.dear,
        )
