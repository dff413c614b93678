"""Options and helpers of the commands that start from a table of runs: `fit`, `plan`, `forecast`.

Which rows are used, and what is taken for N, D and the loss, is asked for in the same words everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from sparselaw import numbers
from sparselaw.cli.options import FILE, FLOAT, INTEGER
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
)  # sparselaw.fitting.minimise has them; importing it is slow


def laws() -> list[str]:
    """For the shell to complete."""
    return list(LAWS)


def objectives() -> list[str]:
    """For the shell to complete."""
    return list(OBJECTIVES)


def counts() -> list[str]:
    """For the shell to complete."""
    return ["as-given", "non-embedding"]


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
SEED: Any = typer.Option("0", metavar=INTEGER, help="Seed of the draws.")
WORKERS: Any = typer.Option("1", metavar=INTEGER, help="Threads; the answer does not depend on it.")

# Which rows, which columns: the same for every command that starts from runs.
GROUP: Any = typer.Option(
    None, metavar="COLUMN", help="Column that names the run of a row: whole runs are resampled."
)
WHERE: Any = typer.Option(
    None, metavar="CONDITION", help="Only rows with, say, 'lr=0.001' or 'epochs<=4'. Repeat for more."
)
BY: Any = typer.Option(None, metavar="COLUMN", help="Each value of this column on its own.")
BEST: Any = typer.Option(False, "--best", help="Only the best run of each N and D: for tuned sweeps.")
FINAL: Any = typer.Option(False, "--final", help="Only the last checkpoint of each run.")
COUNT: Any = typer.Option(
    "as-given",
    metavar="|".join(counts()),
    autocompletion=counts,
    help="What N counts; non-embedding is 12 layers width^2, or a column of that name.",
)
COLUMNS: Any = typer.Option(
    None, metavar="NAME=COLUMN,...", help="Names of columns: N=...,D=...,loss=... (also C, stderr)."
)
OUT: Any = typer.Option(None, metavar=FILE, help="Keep the result in this JSON file; --from reads it.")
FROM: Any = typer.Option(None, "--from", metavar=FILE, help="A kept result in place of the table.")
LEVEL: Any = typer.Option("0.95", metavar=FLOAT, help="Level of the intervals.")
DROP_PEAK: Any = typer.Option(
    False, "--drop-peak", help="Leave out simulated runs near the double-descent peak."
)


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


def level(text: str) -> float:
    """The level of the intervals.

    >>> level("0.8")
    0.8
    """
    from sparselaw.interval import check_level

    return check_level(numbers.real("level", text))


def kept(runs: Any, path: str | None, *kinds: str) -> Any:
    """The result kept in the file ``path``, which must be of one of these kinds; None where there is none."""
    if (path is None) == (not runs):
        condition = "is missing" if path is None else "is given together with a kept result"
        raise InputError("runs", runs or "", condition, "give a table of runs, or --from FILE")
    if path is None:
        return None
    from sparselaw.deciding import load

    found = load(path)
    name = type(found).__name__
    if name not in kinds:
        wanted = " or ".join(dict.fromkeys(KEPT[kind] for kind in kinds))
        raise InputError("from", path, f"is a kept {KEPT[name]}", f"give a kept {wanted}")
    return found


KEPT = {"FittedLaw": "law", "Forecast": "forecast", "Plan": "plan", "Plans": "plan"}
KEPT |= {"Comparison": "comparison"}


def fit_file(
    path: str,
    *,
    law: str,
    delta: str | None,
    bootstrap: str | None,
    named_columns: str | None,
    seed: str,
    workers: str,
    where: list[str] | None = None,
    by: str | None = None,
    interval_level: str = "0.95",
    **settings: Any,
) -> Any:
    """Reads options and table, says what there is to say of it, and fits it behind a progress bar.

    A FittedLaw; with ``by`` a FitsBy; a Comparison of all laws.
    """
    from sparselaw.fitting import compare_laws, fit, fit_by, read_runs
    from sparselaw.progress import progress

    settings |= {
        "delta": None if delta is None else numbers.real("delta", delta),
        "bootstrap": numbers.whole("bootstrap", bootstrap or ("0" if law == ALL else "1000")),
        "seed": numbers.whole("seed", seed),
        "workers": numbers.whole("workers", workers),
        "level": level(interval_level),
    }
    rows: dict[str, Any] = {name: settings.pop(name) for name in ROWS if name in settings}
    rows |= {"columns": columns(named_columns), "where": tuple(where or ())}
    if law == ALL:
        _refuse_for_all(by, settings)
        with progress("draws") as show:
            settings["progress"] = lambda done, of: show(done, of, f"{done}/{of}")
            every = compare_laws(path, **rows, **settings)
        for warning in every.warnings:
            note(warning)
        for name, why in every.refused.items():
            note(f"{name}: no fit ({why})")
        return every
    if by is not None:
        with progress("draws") as show:
            settings["progress"] = lambda done, of: show(done, of, f"{done}/{of}")
            parts = fit_by(path, by, law=law, **rows, **settings)
        for value, part in parts.fits.items():
            _tell(part, of=f"{by} = {value}: ")
        for value, why in parts.refused.items():
            note(f"{by} = {value}: no fit ({why})")
        return parts
    clean = read_runs(path, law, **rows)
    for words in clean.notes:  # before anything is fitted
        note(words)
    say_both_counts(path, clean.notes, law=law, **rows)
    with progress("draws") as show:
        settings["progress"] = lambda done, of: show(done, of, f"{done}/{of}")
        fitted = fit(clean, law=law, **settings)
    _tell(fitted, said=clean.notes)
    return fitted


def say_both_counts(path: str, notes: Sequence[str], **rows: Any) -> None:
    """Where N seems to count embeddings: how well later runs are predicted with and without them."""
    from sparselaw.fitting import errors_by_count
    from sparselaw.fitting.table_checks import EMBEDDED

    if path != "-" and any(words.startswith(EMBEDDED) for words in notes):
        errors = errors_by_count(path, **rows)
        shown = ", ".join(f"{error:.3g} % with --count {count}" for count, error in errors.items())
        note(f"error on the more expensive runs, fitted to the cheaper ones: {shown}")


ROWS = ("group", "best", "final", "count", "drop_peak")


def _refuse_for_all(by: str | None, settings: dict[str, Any]) -> None:
    given = {"by": by, "variable": settings.pop("variable", None), "last": settings.pop("last", None)}
    for name, value in given.items():
        if value is not None:
            raise InputError(name, value, "has no meaning for all laws", "name one law")
    settings.pop("leave_out", None)


def _tell(fitted: FittedLaw, said: tuple[str, ...] = (), of: str = "") -> None:
    for reason, count in fitted.dropped.items():
        note(f"{of}{count} row{'s' * (count != 1)} dropped: {reason}")
    for warning in fitted.warnings:
        if warning not in said:
            note(of + warning)
