"""A solver from its name and options: as typed on a command line, or as kept in a task's identity."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, cast

from sparselaw.errors import InputError, check_choice
from sparselaw.registry import from_text, hints
from sparselaw.solvers.base import SOLVERS, Solver


def from_options(name: str, options: Mapping[str, Any]) -> Solver:
    """The solver of this name with these settings; an option that is None is one not given.

    Text is read as the number that the record's field asks for; the record checks it.

    >>> from_options("sgd", {"passes": "1e3", "step": None})
    SGD(passes=1000, step=None, batch=1, momentum=0.0)
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


def solver_of_row(row: Mapping[str, Any]) -> Solver | None:
    """The solver of a row of runs, whose settings are columns; None if it is not known here."""
    if row["solver"] not in SOLVERS:
        return None
    names = [field.name for field in dataclasses.fields(SOLVERS[row["solver"]])]
    given = {name: row.get(name) for name in names}
    try:
        return from_options(row["solver"], {n: v for n, v in given.items() if v is not None and v == v})
    except InputError:
        return None


def ridge_of_theory(identity: Mapping[str, Any]) -> float | None:
    """Of the solver that a task's identity names: a "name" and settings; None if it is not known here."""
    settings = {name: value for name, value in identity.items() if name != "name"}
    try:
        return from_options(identity["name"], settings).ridge_of_theory
    except InputError:  # a store may hold runs of a solver that nobody registered in this process
        return None


def as_solver(solver: Solver | str) -> Solver:
    """A solver itself, or the one of this name with its default settings."""
    if isinstance(solver, str):
        return from_options(solver, {})
    if not isinstance(solver, Solver):
        remedy = f"give a record such as Ridge(ridge=0.1), or a name: {', '.join(SOLVERS)}"
        raise InputError("solver", solver, "is not a solver", remedy)
    return solver
