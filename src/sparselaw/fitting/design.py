"""A law and a table of runs as a minimiser sees them, and the way back to a law.

Logarithms of losses are centred on their median and sizes on their geometric means, so the fit is the same
whatever the units of N, D and the loss. Theta is the vector that is searched; the law's own parameters are
its natural values. Two kinds of design answer the same questions: one for laws that are sums of powers
(term_design.py), one for any other formula (formula_design.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.fitting.clean_runs import Runs
from sparselaw.fitting.minimise import End, Ends, Fits, Objective, Slopes, minimise, misfit
from sparselaw.laws import Law

TOGETHER = 32_000  # rows of all fits that are made side by side: what the processor's cache holds
VANISHED = 1e-6  # a term that gives less than this part of every loss is not there
SomeDesign = TypeVar("SomeDesign", bound="Design")


class Bound(NamedTuple):
    """A parameter that the search left at the end of its range."""

    name: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Design(ABC):
    """What every design holds and answers."""

    law: type[Law]
    names: tuple[str, ...]  # of the natural values, in the order of theta
    places: tuple[int | None, ...]  # where each of the law's parameters is; None for a floor left out
    log_loss: FloatArray  # (rows,): centred
    inverse_scale: FloatArray  # (rows,)
    lower: FloatArray
    upper: FloatArray

    @property
    def rows(self) -> int:
        return int(self.log_loss.size)

    @property
    def free(self) -> int:
        """The number of free parameters."""
        return int(self.lower.size)

    @abstractmethod
    def log_losses(self, thetas: FloatArray) -> FloatArray:
        """(thetas, rows): centred log losses that the law gives; infinite where it has no value."""

    @abstractmethod
    def slopes(self, thetas: FloatArray) -> Slopes:
        """Their first and second derivatives."""

    @abstractmethod
    def jacobian(self, theta: FloatArray) -> FloatArray:
        """(rows, p): their derivatives."""

    @abstractmethod
    def natural(self, theta: FloatArray) -> FloatArray:
        """The law's own parameters, in the order of ``names``, for one theta (p,) or many (draws, p)."""

    @abstractmethod
    def theta_of(self, values: FloatArray) -> FloatArray:
        """The theta (p,) whose natural values these are."""

    @abstractmethod
    def at_bounds(self, theta: FloatArray) -> list[Bound]:
        """The parameters at an end of their range, and terms that have vanished."""

    @abstractmethod
    def carries(self, rows: IntArray) -> bool:
        """Can the law be fitted to these distinct rows alone? (Enough of them is taken for granted.)"""

    @abstractmethod
    def take(self: SomeDesign, rows: IntArray) -> SomeDesign:
        """The same with these rows only; the centre stays."""

    @abstractmethod
    def starts(self, objective: Objective, weights: FloatArray) -> FloatArray:
        """(starts, p): where to begin."""

    def minimise(self, start: FloatArray, objective: Objective, weights: FloatArray) -> End:
        """The local minimum below one start."""
        return self.minimise_all(start[None, :], objective, weights)[0]

    def minimise_all(self, starts: FloatArray, objective: Objective, weights: FloatArray) -> list[End]:
        """The same for every start."""
        return self._minimise(starts, objective, self.log_loss[None, :], weights[None, :]).each()

    def refine(self, start: FloatArray, objective: Objective, weights: FloatArray) -> End:
        """The same from a start so close by that no stages are needed."""
        y, w = self.log_loss[None, :], weights[None, :]
        end = self._minimise(start[None, :], objective, y, w, staged=False).each()[0]
        return end if end.converged else self.minimise(end.theta, objective, weights)

    def minimise_many(
        self,
        starts: FloatArray,
        objective: Objective,
        *,
        losses: FloatArray | None = None,
        weights: FloatArray | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """(draws, p), (draws,): the best theta over ``starts`` for every row of losses or of weights."""
        y = self.log_loss[None, :] if losses is None else losses
        w = np.ones((1, self.rows)) if weights is None else weights
        draws = max(len(y), len(w))
        thetas, values = np.empty((draws, self.free)), np.full(draws, np.inf)
        for start in starts:
            ends = self._minimise(np.tile(start, (draws, 1)), objective, y, w, drawn=True)
            better = (ends.value < values) | ~np.isfinite(values)
            thetas[better], values[better] = ends.theta[better], ends.value[better]
        return thetas, values

    def _minimise(
        self,
        starts: FloatArray,
        objective: Objective,
        losses: FloatArray,
        weights: FloatArray,
        *,
        staged: bool = True,
        drawn: bool = False,
    ) -> Ends:
        """From each start, as many at a time as fit into the processor's cache."""
        problem = Fits(
            self.log_losses, self.slopes, losses, self.inverse_scale, weights, self.lower, self.upper
        )
        together = max(1, TOGETHER // self.rows)
        parts = [np.arange(i, min(i + together, len(starts))) for i in range(0, len(starts), together)]
        how: dict[str, Any] = {"staged": staged, "drawn": drawn}
        ends = [minimise(starts[p], problem.of(p), objective.delta, **how) for p in parts]
        return Ends(*(np.concatenate(values) for values in zip(*ends, strict=True)))

    def residuals(self, theta: FloatArray) -> FloatArray:
        """log loss minus log prediction, not divided by the scale."""
        difference: FloatArray = self.log_loss - self.log_losses(theta[None, :])[0]
        return difference

    def law_at(self, theta: FloatArray) -> Law:
        """The law at theta; for several sweeps, the first one's."""
        values = [float(v) for v in self.natural(theta)]
        found = (0.0 if place is None else values[place] for place in self.places)
        return self.law(**dict(zip(self.law.parameters(), found, strict=True)))

    def exponent_places(self) -> tuple[int, int]:
        """Where the exponents of N and D are among the natural values; the law must have both."""
        assert self.law.exponent_names is not None
        first, second = (self.places[self.law.parameters().index(n)] for n in self.law.exponent_names)
        assert first is not None
        assert second is not None
        return first, second

    def constant_value(self, objective: Objective, weights: FloatArray) -> float:
        """The objective of the best constant, near enough: what any law has to explain."""
        flat = self.log_loss - np.median(self.log_loss)
        return max(float(misfit((flat * self.inverse_scale)[None, :], weights, objective.delta)[0]), 1e-300)


def prepare(law: type[Law], runs: Runs, *, tied: bool = False, floor: bool = True) -> Design:
    """``tied`` has one exponent for N and D; without ``floor`` the loss that no size removes is zero."""
    from sparselaw.fitting.formula_design import formula_design
    from sparselaw.fitting.term_design import term_design

    build = term_design if law.terms else formula_design
    return build(law, runs, tied=tied, floor=floor)
