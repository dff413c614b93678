"""What a solver is given and hands back, what it answers about itself, and the one list of them.

Every solver minimises (1/2D) |Phi^T theta - y|^2 from theta = 0; eta is the step on that objective. A solver
is a frozen record of its settings: that is what a task names and a store can hash. A new one is one file:
such a record with ``solve``, and ``@register`` above it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError, check_choice, check_not_negative
from sparselaw.registry import add, from_text, hints

if TYPE_CHECKING:
    from sparselaw.solvers.sgd import MixedRows
    from sparselaw.theory.training.schedule import Descent

# Metadata of a setting that came later: at its default it is left out of a task's identity, so that runs that
# were kept before it keep their ids.
LATER = {"left_out_at_default": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalEquations:
    """Least squares of (y - Phi^T theta)/sqrt(2D) in the eigenbasis of H = Phi Phi^T/D, T targets at once."""

    eigenvalues: FloatArray  # (r,) descending, the positive ones kept by the rank rule of whoever built it
    projections: FloatArray  # (r, T): V^T (Phi y / D)
    samples: int  # D


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """The readout in the eigenbasis V of the normal equations: theta = V @ coefficients.

    A descent that failed has a status; it is not an exception.
    """

    coefficients: FloatArray  # (r, T), one column for each target
    status: str = "ok"  # ok, diverged, not-converged, rank-deficient
    reason: str = ""  # in words, where the status is not ok
    iterations: int | None = None
    restarts: int | None = None
    gradient: float | None = None  # the last |gradient| / |first gradient|


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
        features: FloatArray | MixedRows,
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


def from_options(name: str, options: Mapping[str, Any]) -> Solver:
    """The solver of this name with these settings; an option that is None is one not given.

    Text is read as the number that the record's field asks for; the record checks it.

    >>> from_options("sgd", {"passes": "1e3", "step": None})
    SGD(passes=1000, step=None, batch=1, momentum=0.0, schedule='constant')
    """
    solver = SOLVERS[check_choice("solver", name, SOLVERS)]
    types = hints(cast(Any, solver))
    fields = {field.name: field for field in dataclasses.fields(solver)}
    given = {option.replace("-", "_"): value for option, value in options.items() if value is not None}
    for option, value in given.items():
        if option not in fields:
            raise InputError(option, value, f"is not a setting of {name}", f"leave out {option}")
    for option, field in fields.items():
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if required and option not in given:
            remedy = f"give --{option.replace('_', '-')}, or in Python {solver.__name__}({option}=...)"
            raise InputError(option, "", f"is needed by the solver {name}", remedy)
    return solver(**{option: from_text(option, value, types[option]) for option, value in given.items()})


def setting_names() -> set[str]:
    """The settings that any registered solver has."""
    return {field.name for solver in SOLVERS.values() for field in dataclasses.fields(solver)}


def settings_of(solver: Solver) -> dict[str, Any]:
    """The settings as plain values, from which ``from_options`` makes the solver again."""
    settings = {}
    for field in dataclasses.fields(solver):
        value = getattr(solver, field.name)
        if not (field.metadata.get("left_out_at_default") and value == field.default):
            settings[field.name] = value
    return settings


def solver_of(name: str, settings: Mapping[str, Any]) -> Solver | None:
    """The solver of this name with its own among the settings; None if it is not known here.

    A store may hold runs of a solver that nobody registered in this process.
    """
    if name not in SOLVERS:
        return None
    given = {field.name: settings.get(field.name) for field in dataclasses.fields(SOLVERS[name])}
    try:
        return from_options(name, {option: v for option, v in given.items() if v == v})  # not NaN
    except InputError:
        return None


def as_solver(solver: Solver | str) -> Solver:
    """A solver itself, or the one of this name with its default settings."""
    if isinstance(solver, str):
        return from_options(solver, {})
    if not isinstance(solver, Solver):
        remedy = f"give a record such as Ridge(ridge=0.1), or a name: {', '.join(SOLVERS)}"
        raise InputError("solver", solver, "is not a solver", remedy)
    return solver
