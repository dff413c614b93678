"""What a fit hands out: the law, how it was reached, and how sure one may be of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.fitting.design import LawName, Runs
from sparselaw.fitting.objectives import ObjectiveName
from sparselaw.interval import Interval
from sparselaw.laws import Law


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualityTest:
    """Is alpha_N = alpha_D? A likelihood-ratio statistic, and how often chance exceeds it."""

    statistic: float
    p_value: float
    exponent: float  # the one exponent of the fit that has them equal
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """One line of the leave-out table: what went, what remained, what the fit then says."""

    left_out: str
    rows_used: int
    alpha_N: float
    alpha_D: float
    alpha1: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedLaw:
    """A law at its optimum, with 95 % intervals from the draws.

    ``status`` is ``ok``, ``not-converged``, ``collinear``, ``not-identified``, ``bound`` or
    ``E-not-identified``: the first that applies; ``warnings`` has all of them in words. An interval has no
    ends (nan) when no draws were asked for.
    """

    law: Law
    name: LawName
    objective: ObjectiveName
    delta: float | None  # where Huber's square turns into an absolute value
    value: float
    gradient_norm: float
    status: str
    starts_tried: int
    starts_agreeing: int
    rows_used: int
    params: Mapping[str, Interval]
    sparsity: Mapping[str, Interval] | None
    sparsity_reason: str  # why there is none: a power law, or a fit without two exponents
    draws: FloatArray = field(repr=False)  # (draws, p): parameters in the order of ``params``
    runs: Runs = field(repr=False)  # the rows the law was fitted to
    residuals: FloatArray = field(repr=False)  # log loss minus log prediction, row by row
    equal_exponents: EqualityTest | None = None
    leave_out: tuple[LeftOut, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def loss(self, *sizes: Any) -> Any:
        """The fitted loss at (N, D), or at the one size of a power law."""
        return self.law.loss(*sizes)

    def drawn_law(self, axes: int = 1) -> Law:
        """Every draw as one law: its parameters are arrays (draws, 1, ...) with ``axes`` axes for the sizes.

        With several sweeps, the first one's.
        """
        shape = (len(self.draws),) + (1,) * axes
        names = type(self.law).parameters()
        columns = dict(zip(self.params, range(len(self.params)), strict=True))
        places = [columns.get(name, 0) for name in names]  # A of several sweeps: the first
        values = {name: self.draws[:, i].reshape(shape) for name, i in zip(names, places, strict=True)}
        return type(self.law)(**values)

    def losses_of_draws(self, *sizes: Any) -> FloatArray:
        """(draws, ...): the loss of every draw, for sizes that broadcast against each other."""
        axes = max(np.ndim(size) for size in sizes)
        return np.asarray(self.drawn_law(axes).loss(*sizes), dtype=np.float64)

    def exponents(self) -> tuple[str, str]:
        """The names of the exponents of N and of D."""
        return ("alpha", "beta") if self.name == "chinchilla" else ("alpha_N", "alpha_D")


def interval(best: float, draws: FloatArray) -> Interval:
    """Percentiles 2.5 and 97.5 of the draws, widened to hold the best value where it lies outside.

    >>> interval(2.0, np.linspace(0.0, 4.0, 401))
    Interval(low=0.1, best=2.0, high=3.9)
    """
    if draws.size == 0:
        return Interval(float("nan"), best, float("nan"))
    low, high = np.quantile(draws, [0.025, 0.975])
    return Interval(min(float(low), best), best, max(float(high), best))
