"""Options and helpers of the commands that start from a table of runs: `fit`, `plan`, `forecast`.

Which rows are used, and what is taken for N, D and the loss, is asked for in the same words everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer

from sparselaw import numbers
from sparselaw.cli.options import FILE, FLOAT, INTEGER, MAX_SIZE, Options, one_of
from sparselaw.cli.output import note
from sparselaw.costs import cost_names
from sparselaw.errors import InputError
from sparselaw.laws import LAWS

RUNS = "Table of runs (.csv, .tsv, .json, .jsonl, .parquet, .xlsx, any .gz), a folder of logs, or - for stdin"
ALL = "all"  # the name that compares every law
OBJECTIVES = ("huber", "l1", "least-squares", "envelope")  # sparselaw.fitting.minimise has them, slowly
COUNTS = ("as-given", "non-embedding")

LAW: Any = typer.Option(
    "chinchilla",
    metavar="|".join(LAWS),
    autocompletion=lambda: list(LAWS),
    help="The law (fit also takes all, to compare them): "
    + "; ".join(f"{name} is {law.formula}" for name, law in LAWS.items())
    + ".",
)
BY: Any = typer.Option(None, metavar="COLUMN", help="Each value of this column on its own.")
AT: Any = typer.Option([], metavar="N=..,D=..", help="Sizes of a run not yet made; repeatable.")
COST: Any = typer.Option(
    "6nd", metavar="|".join(cost_names()), autocompletion=cost_names, help="What a budget pays for."
)
SEED: Any = typer.Option("0", metavar=INTEGER, help="Seed of the draws.")
OUT: Any = typer.Option(None, metavar=FILE, help="Keep the result in this JSON file; --from reads it.")
FROM: Any = typer.Option(None, "--from", metavar=FILE, help="A kept result in place of the table.")
LEVEL: Any = typer.Option("0.95", metavar=FLOAT, help="Level of the intervals.")


def read_rows(max_size: str | None = None, **given: Any) -> dict[str, Any]:  # noqa: ARG001
    """As the library takes them; the limit was set by its own option."""
    return given | {"columns": columns(given["columns"]), "where": tuple(given["where"] or ())}


ROWS = Options(  # which rows, which columns: the same for every command that starts from runs
    read_rows,
    group=typer.Option(
        None, metavar="COLUMN", help="Column that names the run of a row: whole runs are resampled."
    ),
    where=typer.Option(
        [], metavar="CONDITION", help="Only rows with, say, 'lr=0.001' or 'epochs<=4'. Repeat for more."
    ),
    columns=typer.Option(
        None, metavar="NAME=COLUMN,...", help="Names of columns: N=...,D=...,loss=... (also C, stderr)."
    ),
    best=typer.Option(False, "--best", help="Only the best run of each N and D: for tuned sweeps."),
    final=typer.Option(False, "--final", help="Only the last checkpoint of each run."),
    count=typer.Option(
        "as-given",
        **one_of(*COUNTS),
        help="What N counts; non-embedding is 12 layers width^2, or a column of that name.",
    ),
    max_size=MAX_SIZE,
)


def read_settings(**given: Any) -> dict[str, Any]:
    """As the library takes them; None where the library chooses."""
    text = {name: value for name, value in given.items() if value is not None}
    read: dict[str, Any] = dict.fromkeys(("bootstrap", "seed", "workers"), numbers.whole)
    read["delta"] = numbers.real
    return given | {name: parse(name, text[name]) for name, parse in read.items() if name in text}


SETTINGS = Options(  # of a fit
    read_settings,
    objective=typer.Option(
        "huber", **one_of(*OBJECTIVES), help="What is minimised over the rows, in log losses."
    ),
    delta=typer.Option(
        None, metavar=FLOAT, help="Where Huber's square turns into an absolute value. [default: 1e-3]"
    ),
    bootstrap=typer.Option(
        None, metavar=INTEGER, help="Draws for the intervals; 0 for none. [default: 1000; for all laws 0]"
    ),
    seed=SEED,
    workers=typer.Option("1", metavar=INTEGER, help="Threads; the answer does not depend on it."),
    drop_peak=typer.Option(
        False, "--drop-peak", help="Leave out simulated runs near the double-descent peak."
    ),
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


def point(text: str) -> tuple[float, float]:
    """N=7e9,D=4e12 as a pair.

    >>> point("D=4T, N=7B")
    (7000000000.0, 4000000000000.0)
    """
    pairs = [part.partition("=")[::2] for part in text.split(",")]
    given = {name.strip(): value.strip() for name, value in pairs}
    if set(given) != {"N", "D"} or len(pairs) != 2:
        raise InputError("at", text, "is not a pair of sizes", "write --at N=7e9,D=4e12")
    return numbers.amount("N", given["N"]), numbers.amount("D", given["D"])


def places(at: list[str], budget: str | None, *, needed: bool = True) -> dict[str, Any]:
    """The sizes or the budgets that are asked about: one of the two."""
    if needed and bool(at) == (budget is not None):
        condition = "is given together with a budget" if at else "is missing"
        raise InputError("at", "", condition, "give --at N=..,D=.. or --budget C")
    budgets = None if budget is None else [numbers.real("budget", part) for part in budget.split(",")]
    return {"at": [point(text) for text in at] or None, "budget": budgets}


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
    path: str, law: str, rows: dict[str, Any], settings: dict[str, Any], *, by: str | None = None, **more: Any
) -> Any:
    """Says what there is to say of the table, and fits it behind a progress bar.

    A FittedLaw; with ``by`` a FitsBy; a Comparison of all laws.
    """
    from sparselaw.fitting import compare_laws, fit, fit_by, read_runs
    from sparselaw.progress import progress

    settings = settings | more
    rows = rows | {"drop_peak": settings.pop("drop_peak")}
    if settings["bootstrap"] is None:
        settings["bootstrap"] = 0 if law == ALL else 1000
    one = by is None and law != ALL
    clean = read_runs(path, law, **rows) if one else None
    if clean is not None:  # before anything is fitted
        for words in clean.notes:
            note(words)
        say_both_counts(path, clean.notes, law=law, **rows)
    if law == ALL:
        _refuse_for_all(by, settings)
    with progress("draws") as show:
        settings["progress"] = lambda done, of: show(done, of, f"{done}/{of}")
        if clean is not None:
            fitted = fit(clean, law=law, **settings)
        elif by is not None:
            parts = fit_by(path, by, law=law, **rows, **settings)
        else:
            every = compare_laws(path, **rows, **settings)
    if clean is not None:
        tell(fitted, said=clean.notes)
        return fitted
    if by is not None:
        for value, part in parts.fits.items():
            tell(part, of=f"{by} = {value}: ")
        for value, why in parts.refused.items():
            note(f"{by} = {value}: no fit ({why})")
        return parts
    for warning in every.warnings:
        note(warning)
    for name, why in every.refused.items():
        note(f"{name}: no fit ({why})")
    return every


def say_both_counts(path: str, notes: Sequence[str], **rows: Any) -> None:
    """Where N seems to count embeddings: how well later runs are predicted with and without them."""
    from sparselaw.fitting import errors_by_count
    from sparselaw.fitting.table_checks import EMBEDDED

    if path != "-" and any(words.startswith(EMBEDDED) for words in notes):
        errors = errors_by_count(path, **rows)
        shown = ", ".join(f"{error:.3g} % with --count {count}" for count, error in errors.items())
        note(f"error on the more expensive runs, fitted to the cheaper ones: {shown}")


def _refuse_for_all(by: str | None, settings: dict[str, Any]) -> None:
    given = {"by": by, "variable": settings.pop("variable", None), "last": settings.pop("last", None)}
    for name, value in given.items():
        if value is not None:
            raise InputError(name, value, "has no meaning for all laws", "name one law")
    settings.pop("leave_out", None)


def tell(found: Any, said: Sequence[str] = (), of: str = "") -> None:
    """What a result says of its rows and of itself, where it is not ``said`` already."""
    for reason, count in found.dropped.items():
        note(f"{of}{count} row{'s' * (count != 1)} dropped: {reason}")
    for warning in found.warnings:
        if warning not in said:
            note(of + warning)
