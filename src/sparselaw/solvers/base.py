"""What a solver answers about itself, and the one list of them.

Every solver minimises (1/2D) |Phi^T theta - y|^2 from theta = 0; eta is the step on that objective. A solver
is a frozen record of its settings: that is what a task names and a store can hash. A new one is one file:
such a record with ``solve``, and ``@register`` above it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError, check_not_negative
from sparselaw.registry import add
from sparselaw.solvers.mixed_rows import Rows
from sparselaw.solvers.solution import Solution

if TYPE_CHECKING:
    from sparselaw.solvers.equations import NormalEquations
    from sparselaw.theory.training.schedule import Descent


# Metadata of a setting that came later: at its default it is left out of a task's identity, so that runs that
# were kept before it keep their ids.
LATER = {"left_out_at_default": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Solver:
    """The answers that trials, theory, estimates and the command line ask for; most have a default."""

    name: ClassVar[str]
    linear: ClassVar[bool] = False  # in the labels: one filter, whatever the target
    rotation_invariant: ClassVar[bool] = True  # rotated features give the rotated solution
    by_samples: ClassVar[bool] = False  # works on the samples, by ``solve_samples``
    takes_mixed: ClassVar[bool] = False  # ``solve_samples`` takes MixedRows too
    remedy: ClassVar[str] = ""  # what to reduce where it would take too long

    @property
    def ridge_of_theory(self) -> float | None:
        """The ridge under which the closed-form surface describes this solver; None if there is none."""
        return None

    @property
    def descent(self) -> Descent | None:
        """What the theory of unfinished training needs to know, for a descent that is stopped early."""
        return None

    @property
    def rank_tolerance(self) -> float | None:
        """Of the minimum-norm solution: singular values below it, relative to the largest, count as zero.

        None for every other solver. Where it is a number, closed forms take the place of ``solve``.
        """
        return None

    def solve(self, equations: NormalEquations) -> Solution:
        """The readout from prepared equations, for each of their targets."""
        raise NotImplementedError(f"{self.name} works on samples: call solve_samples")

    def solve_samples(
        self,
        features: Rows,
        targets: FloatArray,
        rng: np.random.Generator,
        counts: IntArray | None = None,
    ) -> Solution:
        """The readout from feature rows (P, N), row p standing for counts[p] samples.

        ``targets`` is (P, T), or (D, T) when repeats have targets of their own, in the order of
        np.repeat(rows, counts). The coefficients are theta in the basis the rows are written in. Rows come
        as a product only to a solver that ``takes_mixed``.
        """
        raise NotImplementedError(f"{self.name} works on the normal equations: call solve")

    def work(self, samples: float, width: float) -> float:  # noqa: ARG002
        """Floating-point operations of the run itself, on ``samples`` rows of ``width`` prepared features."""
        return 0.0


def check_momentum(value: float) -> float:
    """Return the share of the last update that is added to the next, below one."""
    number = check_not_negative("momentum", value)
    if number >= 1.0:
        raise InputError("momentum", value, "must be below 1", "choose momentum < 1, such as 0.9")
    return number


SOLVERS: dict[str, type[Solver]] = {}

S = TypeVar("S", bound=Solver)


def register(solver: type[S]) -> type[S]:
    """Add a solver to the list, under its name; a decorator of its record."""
    method = "solve_samples" if solver.by_samples else "solve"
    if getattr(solver, method) is getattr(Solver, method):
        raise TypeError(f"{solver.__name__} must have a method {method}")
    if solver.linear and solver.by_samples:
        raise TypeError(f"{solver.__name__} sees samples one by one: it has no one filter for every target")
    add(SOLVERS, "solver", solver.name, solver)
    return solver
