"""Options and helpers that `fit` and `plan` share: both start from a table of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from sparselaw import numbers
from sparselaw.cli.options import FLOAT, INTEGER
from sparselaw.cli.output import note
from sparselaw.errors import InputError
from sparselaw.laws import LAWS

if TYPE_CHECKING:
    from sparselaw.fitting import FittedLaw

RUNS = "Table of runs (.csv, .tsv, .json, .jsonl, .parquet, .xlsx, any .gz), a folder of logs, or - for stdin"
ALL = "all"  # the name that compares every law
OBJECTIVES = (
    "huber",
    "l1",
    "least-squares",
    "envelope",
)  # sparselaw.fitting.objectives has them; importing it is slow


def laws() -> list[str]:
    """For the shell to complete."""
    return list(LAWS)


def objectives() -> list[str]:
    """For the shell to complete."""
    return list(OBJECTIVES)


LAW: Any = typer.Option(
    "chinchilla",
    metavar="|".join(LAWS),
    autocompletion=laws,
    help="The law (fit also takes all, to compare them): "
    + "; ".join(f"{name} is {law.formula}" for name, law in LAWS.items())
    + ".",
)
OBJECTIVE: Any = typer.Option(
    "huber",
    metavar="|".join(OBJECTIVES),
    autocompletion=objectives,
    help="What is minimised over the rows, in log losses.",
)
DELTA: Any = typer.Option(
    None, metavar=FLOAT, help="Where Huber's square turns into an absolute value. [default: 1e-3]"
)
BOOTSTRAP: Any = typer.Option(
    None, metavar=INTEGER, help="Draws for the intervals; 0 for none. [default: 1000; for all laws 0]"
)
GROUP: Any = typer.Option(
    None, metavar="COLUMN", help="Column that names the run of a row: whole runs are resampled."
)
WHERE: Any = typer.Option(
    None, metavar="CONDITION", help="Only rows with, say, 'lr=0.001' or 'epochs<=4'. Repeat for more."
)
BEST: Any = typer.Option(False, "--best", help="Only the best run of each N and D.")
COLUMNS: Any = typer.Option(
    None, metavar="NAME=COLUMN,...", help="Names of columns: N=...,D=...,loss=... (also C, stderr)."
)
DROP_PEAK: Any = typer.Option(
    False, "--drop-peak", help="Leave out simulated runs near the double-descent peak."
)
SEED: Any = typer.Option("0", metavar=INTEGER, help="Seed of the draws.")
WORKERS: Any = typer.Option("1", metavar=INTEGER, help="Threads; the answer does not depend on it.")


def columns(text: str | None) -> dict[str, str] | None:
    """N=params,loss=final_loss as a mapping.

    >>> columns("N=params, loss=final_loss")
    {'N': 'params', 'loss': 'final_loss'}
    """
    if text is None:
        return None
    pairs = [part.split("=", 1) for part in text.split(",")]
    if any(len(pair) != 2 or not pair[0].strip() or not pair[1].strip() for pair in pairs):
        raise InputError("columns", text, "is not a list of name=column", "write N=params,loss=final_loss")
    roles = [role.strip() for role, _ in pairs]
    if len(set(roles)) < len(roles):
        raise InputError("columns", text, "names a role twice", "give each of N, D, loss one column")
    return {role.strip(): column.strip() for role, column in pairs}


def fit_file(
    path: str,
    *,
    delta: str | None,
    bootstrap: str | None,
    named_columns: str | None,
    seed: str,
    workers: str,
    where: list[str] | None = None,
    by: str | None = None,
    **settings: Any,
) -> Any:
    """Reads options and table, fits it behind a progress bar, and says what was dropped or assumed.

    A FittedLaw; with ``by`` a FitsBy; a Comparison of all laws.
    """
    from sparselaw.fitting import compare, fit, fit_by
    from sparselaw.progress import progress

    read: dict[str, Any] = {
        "delta": None if delta is None else numbers.real("delta", delta),
        "bootstrap": numbers.whole("bootstrap", bootstrap or ("0" if settings["law"] == ALL else "1000")),
        "columns": columns(named_columns),
        "seed": numbers.whole("seed", seed),
        "workers": numbers.whole("workers", workers),
        "where": tuple(where or ()),
    }
    with progress("draws") as show:
        settings["progress"] = lambda done, of: show(done, of, f"{done}/{of}")
        if settings["law"] == ALL:
            every = compare(path, **read, **_for_all(settings, by))
        elif by is None:
            fitted = fit(path, **read, **settings)
        else:
            parts = fit_by(path, by, **read, **settings)
    if settings["law"] == ALL:
        for warning in every.warnings:
            note(warning)
        for name, why in every.refused.items():
            note(f"{name}: no fit ({why})")
        return every
    if by is None:
        _tell(fitted)
        return fitted
    for value, part in parts.fits.items():
        _tell(part, f"{by} = {value}: ")
    for value, why in parts.refused.items():
        note(f"{by} = {value}: no fit ({why})")
    return parts


def _for_all(settings: dict[str, Any], by: str | None) -> dict[str, Any]:
    for name, value in {"by": by, "variable": settings.get("variable"), "last": settings.get("last")}.items():
        if value is not None:
            raise InputError(name, value, "has no meaning for all laws", "name one law")
    left_out = {"law", "variable", "last", "leave_out"}
    return {name: value for name, value in settings.items() if name not in left_out}


def _tell(fitted: FittedLaw, of: str = "") -> None:
    for reason, count in fitted.dropped.items():
        note(f"{of}{count} row{'s' * (count != 1)} dropped: {reason}")
    for warning in fitted.warnings:
        note(of + warning)
