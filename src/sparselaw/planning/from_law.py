"""A law to plan for: a fitted one with its draws and its runs, or a bare record; also where data are limited.

With no more than U unique samples the loss is the data-constrained law's, and D counts the samples seen.
Where the fit has no repeated data, its own E, A, B, alpha and beta are taken with the published decay of
repetitions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.costs import Conditioning, Cost
from sparselaw.errors import InputError, check_positive
from sparselaw.interval import Interval, drawn_interval
from sparselaw.laws import DataConstrainedLaw, Law, two_exponent_laws
from sparselaw.numbers import short_size
from sparselaw.planning.allocate import Allocation, allocate, log_sizes
from sparselaw.planning.source import Ends, Source
from sparselaw.records import to_dict
from sparselaw.search import golden

if TYPE_CHECKING:
    from sparselaw.fitting import FittedLaw

FAR_BUDGET = 100.0  # times the largest budget in the data
FAR_SIZE = 10.0  # times the largest N or D in the data
UNDETERMINED = ("not-converged", "collinear", "not-identified")  # statuses of a fit
DRAWS_GRID = 121
MANY_PASSES = 40.0  # the data behind the data-constrained law hardly go further


def check_trade_off(law: type[Law]) -> None:
    """Refuse a law in which N and D cannot be traded against each other."""
    remedy = f"choose {two_exponent_laws()}"
    if law.has_one_size():
        raise InputError("law", law.name, "has one size and no trade-off", remedy)
    if law.sizes != ("N", "D"):
        raise InputError("law", law.name, f"is a law of {', '.join(law.sizes)}, not of N and D", remedy)


def law_source(given: Law, seen_as: Callable[[Law], Law] = lambda law: law) -> Source:
    """A law as a bare record: nothing is known of how sure it is. ``seen_as`` makes it one of N and D."""
    from sparselaw.fitting.sparsity import invert

    law = seen_as(given)
    check_trade_off(type(law))
    exponents = law.exponents
    return Source(
        loss=law.loss,
        search=partial(allocate, law.loss),
        exponents=exponents,
        conditioning=None if exponents is None else Conditioning.of_sparsity(*invert(*exponents)),
        intervals="none: the law came without draws",
        floor=law.floor,
        floor_low=law.floor,
        basis=given,
    )


def fit_source(fitted: FittedLaw, seen_as: Callable[[Law], Law] = lambda law: law) -> Source:
    """A fitted law: every draw is planned for, and what lies far beyond the runs is said.

    Everything is conditional on the law: that it is a little wrong, its draws do not know.
    """

    def warnings(cost: Cost, budget: float, found: Allocation) -> tuple[str, ...]:
        far = far_words(fitted.runs.N, fitted.runs.D, cost, budget, found)
        if fitted.status not in UNDETERMINED:
            return far
        return f"the fit is {fitted.status}: these runs do not determine the best N and D", *far

    bare = replace(law_source(fitted.law, seen_as), warnings=warnings, basis=fitted)
    if len(fitted.draws) == 0:
        return replace(bare, intervals=f"none: no draws; the answer is conditional on the {fitted.name} law")
    drawn = seen_as(fitted.drawn_law())

    def best_of_draws(cost: Cost, budget: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """N, D and loss of every draw, all at once: a scan, then golden section."""

        def along(x: FloatArray) -> FloatArray:
            log_N = np.atleast_2d(x)
            log_D = np.log(cost.data_for(np.exp(log_N), budget))
            return np.asarray(drawn.loss_of_logs(log_N, log_D), dtype=np.float64)

        grid = log_sizes(cost, budget, DRAWS_GRID)
        lowest = np.argmin(along(grid), axis=1)
        low, high = grid[np.maximum(lowest - 1, 0)], grid[np.minimum(lowest + 1, grid.size - 1)]
        x, loss = golden(along, low[:, None], high[:, None])
        N = np.exp(x[:, 0])
        return N, np.asarray(cost.data_for(N, budget)), loss[:, 0]

    def ends(cost: Cost, budget: float, found: Allocation) -> Ends:
        best, draws = found.best, best_of_draws(cost, budget)
        values = zip((best.N, best.D, best.loss), draws, strict=True)
        N, D, loss = (drawn_interval(value, drawn, fitted.level) for value, drawn in values)
        return N, D, loss

    def quantile(N: float, D: float, p: float) -> float:
        losses = drawn.loss_of_logs(np.full((1, 1), np.log(N)), np.full((1, 1), np.log(D)))
        return float(np.quantile(losses, p))

    def frontier_draws(cost: Cost, budgets: FloatArray) -> FloatArray:
        return np.log([best_of_draws(cost, float(C))[2] for C in budgets]).T

    floor, powers = fitted.law.floor_name, drawn.exponents
    return replace(
        bare,
        intervals=f"{len(fitted.draws)} draws of the fit, conditional on the {fitted.name} law",
        ends=ends,
        drawn_exponents=None if powers is None else (np.ravel(powers[0]), np.ravel(powers[1])),
        level=fitted.level,
        floor_low=0.0 if floor is None else fitted.params[floor].low,
        quantile=quantile,
        frontier_draws=frontier_draws,
    )


def far_words(N: FloatArray, D: FloatArray, cost: Cost, budget: float, found: Allocation) -> tuple[str, ...]:
    """What lies far beyond runs of these sizes: the budget, the best N, the best D."""
    words = []
    times = budget / max(float(np.max(cost.compute(N, D))), 1e-300)
    if times > FAR_BUDGET:
        words.append(f"the budget is {times:.3g} times the largest in the data: far extrapolation")
    for name, value, known in (("N", found.best.N, N), ("D", found.best.D, D)):
        ratio = max(value / float(known.max()), float(known.min()) / value)
        if ratio > FAR_SIZE:
            outside = f"is {ratio:.3g} times outside the data: far extrapolation"
            words.append(f"{name} = {short_size(value)} {outside}")
    return tuple(words)


@dataclass(frozen=True, slots=True, kw_only=True)
class UniqueData:
    """What a plan says when U samples are unique: the passes over them, and what they are worth."""

    unique: float
    passes: Interval
    effective_data: Interval

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        why = dict.fromkeys(("passes", "effective_data"), "see intervals")
        return {"unique_data": self.unique, **to_dict(self, *why, **why)}


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedLaw(Law):
    """A data-constrained law at one U: a law of N and D."""

    name: ClassVar[str] = DataConstrainedLaw.name
    formula: ClassVar[str] = DataConstrainedLaw.formula

    law: DataConstrainedLaw
    unique: float

    @property
    def floor(self) -> Any:
        return self.law.E

    @property
    def exponents(self) -> None:
        """None: with U fixed more compute soon buys nothing, and no power law holds."""
        return None

    def loss(self, N: Any, D: Any) -> Any:
        return self.law.loss(N, D, np.minimum(self.unique, D))


def check_unique(unique: float) -> float:
    """The number of different samples, at least one."""
    if check_positive("unique-data", unique) < 1.0:
        raise InputError("unique-data", unique, "is less than one sample", "choose unique-data >= 1")
    return float(unique)


def limited_source(given: Any, unique: float) -> Source:
    """The law of a fit, or a bare one, at U unique samples; a word on the decay of repetitions is said."""
    unique = check_unique(unique)
    law = given if isinstance(given, Law) else getattr(given, "law", None)
    if not isinstance(law, Law):
        raise InputError("unique-data", unique, "needs a law", "fit a table of runs")
    repeated = law.on_repeated_data()
    if repeated is None:
        raise InputError(
            "unique-data", law.name, "is no law of repeated data", "choose law chinchilla or data-constrained"
        )
    constrained, word = repeated

    def seen_as(one: Law) -> LimitedLaw:
        known = one.on_repeated_data()
        assert known is not None
        return LimitedLaw(law=known[0], unique=unique)

    def beside(found: Ends) -> dict[str, Any]:
        """Passes and effective data at the best D and its ends; both rise with D."""
        worth = (float(constrained.effective_data(seen, min(unique, seen))) for seen in found[1])
        passes = Interval(*(seen / unique for seen in found[1]))
        return {"unique": UniqueData(unique=unique, passes=passes, effective_data=Interval(*worth))}

    source = (law_source if given is law else fit_source)(given, seen_as)

    def warnings(cost: Cost, budget: float, best: Allocation) -> tuple[str, ...]:
        passes = best.best.D / unique
        many = f"{passes:.3g} passes: more than the runs behind such laws have made"
        said = [word] if word else []
        return (*source.warnings(cost, budget, best), *said, *([many] * (passes > MANY_PASSES)))

    return replace(source, warnings=warnings, beside=beside)
