"""A law to plan for: a fitted one with its draws and its runs, or a bare record."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.costs import Conditioning, Cost
from sparselaw.errors import InputError
from sparselaw.interval import Interval, drawn_interval
from sparselaw.laws import Law, two_exponent_laws
from sparselaw.planning.allocate import Allocation, log_sizes
from sparselaw.planning.planned import Ends, Planned
from sparselaw.search import golden

if TYPE_CHECKING:
    from sparselaw.fitting import FittedLaw

FAR_BUDGET = 100.0  # times the largest budget in the data
UNDETERMINED = ("not-converged", "collinear", "not-identified")  # statuses of a fit
FAR_SIZE = 10.0  # times the largest N or D in the data
DRAWS_GRID = 121


def check_trade_off(law: type[Law]) -> None:
    """Refuse a law in which N and D cannot be traded against each other."""
    remedy = f"choose {two_exponent_laws()}"
    if law.has_one_size():
        raise InputError("law", law.name, "has one size and no trade-off", remedy)
    if law.sizes != ("N", "D"):
        raise InputError("law", law.name, f"is a law of {', '.join(law.sizes)}, not of N and D", remedy)


SeenAs = Callable[[Law], Law]


def _as_it_is(law: Law) -> Law:
    return law


def planned_law(law: Law, seen_as: SeenAs = _as_it_is) -> Planned:
    """A law as a bare record: nothing is known of how sure it is. ``seen_as`` makes it one of N and D."""
    law = seen_as(law)
    return _planned(law, "none: the law came without draws", _no_ends, lambda *_: ())


def planned_fit(fitted: FittedLaw, seen_as: SeenAs = _as_it_is) -> Planned:
    """A fitted law: every draw is planned for, and what lies far beyond the runs is said.

    Everything is conditional on the law: that it is a little wrong, its draws do not know.
    """
    draws = len(fitted.draws)
    if draws == 0:
        words = f"none: no draws; the answer is conditional on the {fitted.name} law"
        return _planned(seen_as(fitted.law), words, _no_ends, _far(fitted))
    drawn = seen_as(fitted.drawn_law())

    def ends(cost: Cost, budget: float, found: Allocation) -> Ends:
        best = (found.best.N, found.best.D, found.best.loss)
        N, D, loss = (
            drawn_interval(v, d, fitted.level)
            for v, d in zip(best, _best_of_draws(drawn, cost, budget), strict=True)
        )
        return N, D, loss

    words = f"{draws} draws of the fit, conditional on the {fitted.name} law"
    return replace(
        _planned(seen_as(fitted.law), words, ends, _far(fitted), drawn.exponents), level=fitted.level
    )


def _planned(
    law: Law,
    intervals: str,
    ends: Any,
    warnings: Any,
    drawn: Any = None,
) -> Planned:
    from sparselaw.fitting.sparsity import invert

    check_trade_off(type(law))
    exponents = law.exponents
    implied = None if exponents is None else Conditioning.of_sparsity(*invert(*exponents))
    return Planned(
        loss=law.loss,
        exponents=exponents,
        drawn_exponents=None if drawn is None else (np.ravel(drawn[0]), np.ravel(drawn[1])),
        conditioning=implied,
        intervals=intervals,
        ends=ends,
        warnings=warnings,
        floor=law.floor,
    )


def _no_ends(cost: Cost, budget: float, found: Allocation) -> Ends:
    del cost, budget
    N, D, loss = (
        Interval(math.nan, value, math.nan) for value in (found.best.N, found.best.D, found.best.loss)
    )
    return N, D, loss


def _best_of_draws(drawn: Law, cost: Cost, budget: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The best N, D and loss of every draw, all at once: a scan, then golden section."""

    def along(x: FloatArray) -> FloatArray:
        log_N = np.atleast_2d(x) if x.ndim == 1 else x
        log_D = np.log(cost.data_for(np.exp(log_N), budget))
        return np.asarray(drawn.loss_of_logs(log_N, log_D), dtype=np.float64)

    grid = log_sizes(cost, budget, DRAWS_GRID)
    lowest = np.argmin(along(grid), axis=1)
    low, high = grid[np.maximum(lowest - 1, 0)], grid[np.minimum(lowest + 1, grid.size - 1)]
    x, loss = golden(along, low[:, None], high[:, None])
    N = np.exp(x[:, 0])
    return N, np.asarray(cost.data_for(N, budget)), loss[:, 0]


def _far(fitted: FittedLaw) -> Any:
    """Said when the runs do not tell, or the budget or the answer lies far beyond them."""

    def warnings(cost: Cost, budget: float, found: Allocation) -> tuple[str, ...]:
        words = []
        if fitted.status in UNDETERMINED:
            words.append(f"the fit is {fitted.status}: these runs do not determine the best N and D")
        return (*words, *far_words(fitted.runs, cost, budget, found))

    return warnings


class SizedRuns(Protocol):
    """Runs of known sizes."""

    @property
    def N(self) -> FloatArray: ...

    @property
    def D(self) -> FloatArray: ...


def far_words(runs: SizedRuns, cost: Cost, budget: float, found: Allocation) -> list[str]:
    """What lies far beyond the runs: the budget, the best N, the best D."""
    words = []
    largest = float(np.max(cost.compute(runs.N, runs.D)))
    if budget > FAR_BUDGET * largest:
        times = budget / largest
        words.append(f"the budget is {times:.3g} times the largest in the data: far extrapolation")
    for name, value, known in (("N", found.best.N, runs.N), ("D", found.best.D, runs.D)):
        ratio = max(value / float(known.max()), float(known.min()) / value)
        if ratio > FAR_SIZE:
            words.append(f"{name} = {value:.3g} is {ratio:.3g} times outside the data: far extrapolation")
    return words
