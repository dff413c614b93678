"""A law and a table of runs as a minimiser sees them, and the way back to a law.

Logarithms of losses are centred on their median and sizes on their geometric means, so the fit is the same
whatever the units of N, D and the loss. Theta is the vector that is searched; the law's own parameters are
its natural values. Two kinds of design answer the same questions: one for laws that are sums of powers, with
exact derivatives and compiled, one for any other formula.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.fitting.misfit import misfit
from sparselaw.fitting.objectives import Objective
from sparselaw.laws import Law

VANISHED = 1e-6  # a term that gives less than this part of every loss is not there
SomeDesign = TypeVar("SomeDesign", bound="Design")


class End(NamedTuple):
    """Where a search ended. ``value`` is in the minimiser's own unit; ``norm`` that of the gradient."""

    theta: FloatArray
    value: float
    norm: float
    converged: bool


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
    def predictions(self, theta: FloatArray) -> FloatArray:
        """(rows,): centred log losses that the law gives."""

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

    @abstractmethod
    def minimise(self, start: FloatArray, objective: Objective, weights: FloatArray) -> End:
        """The local minimum below one start."""

    def minimise_all(self, starts: FloatArray, objective: Objective, weights: FloatArray) -> list[End]:
        """The same for every start."""
        return [self.minimise(start, objective, weights) for start in starts]

    @abstractmethod
    def refine(self, start: FloatArray, objective: Objective, weights: FloatArray) -> End:
        """The same from a start close by."""

    @abstractmethod
    def minimise_many(
        self,
        starts: FloatArray,
        objective: Objective,
        *,
        losses: FloatArray | None = None,
        weights: FloatArray | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """(draws, p), (draws,): the best theta over ``starts`` for every row of losses or of weights."""

    def residuals(self, theta: FloatArray) -> FloatArray:
        """log loss minus log prediction, not divided by the scale."""
        difference: FloatArray = self.log_loss - self.predictions(theta)
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
