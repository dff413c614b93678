"""What the commands that start from a table of runs share: `fit`, `plan`, `forecast`, `compare`, `next`.

Which rows are used, and what is taken for N, D and the loss, is asked for in the same words everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sparselaw import numbers
from sparselaw.cli import options
from sparselaw.cli.options import (
    MAX_SIZE,
    Options,
    flag,
    level,
    real,
    text,
    typed,
    whole,
    word,
)
from sparselaw.cli.output import note, print_json, tell
from sparselaw.costs import cost_names
from sparselaw.errors import InputError
from sparselaw.laws import LAWS

if TYPE_CHECKING:
    from sparselaw.fitting import FittedLaw

RUNS = "Table of runs (.csv, .tsv, .json, .jsonl, .parquet, .xlsx, any .gz), a folder of logs, or - for stdin"
ALL = "all"  # the name that compares every law
OBJECTIVES = ("huber", "l1", "least-squares", "envelope")  # sparselaw.fitting.minimise has them, slowly


def columns(name: str, text: str) -> dict[str, str]:
    """N=params,loss=final_loss as a mapping.

    >>> columns("columns", "N=params, loss=final_loss")
    {'N': 'params', 'loss': 'final_loss'}
    """
    found = [[side.strip() for side in part.split("=", 1)] for part in text.split(",")]
    if any(len(pair) != 2 or not all(pair) for pair in found):
        raise InputError(name, text, "is not a list of name=column", "write N=params,loss=final_loss")
    named = dict(found)
    if len(named) < len(found):
        raise InputError(name, text, "names a role twice", "give each of N, D, loss one column")
    return named


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


LAW = word(
    "chinchilla",
    "The law (fit also takes all, to compare them): "
    + "; ".join(f"{name} is {law.formula}" for name, law in LAWS.items())
    + ".",
    *LAWS,
)
BY = text(None, "Each value of this column on its own.", "COLUMN")
AT = typed("N=..,D=..", lambda _, given: [point(each) for each in given])(
    [], "Sizes of a run not yet made; repeatable."
)
COST = word("6nd", f"{options.PAYS}.", *cost_names())
SEED = whole("0", "Seed of the draws.")
LEVEL = level("0.95", "Level of the intervals.")


def without_limit(max_size: str | None = None, **given: Any) -> dict[str, Any]:  # noqa: ARG001
    """The limit was set by its own option."""
    return given


ROWS: Any = Options(  # which rows, which columns: the same for every command that starts from runs
    without_limit,
    group=text(None, "Column that names the run of a row: whole runs are resampled.", "COLUMN"),
    where=typed("CONDITION", lambda _, given: tuple(given))(
        [], "Only rows with, say, 'lr=0.001' or 'epochs<=4'. Repeat for more."
    ),
    columns=typed("NAME=COLUMN,...", columns)(
        None, "Names of columns: N=...,D=...,loss=... (also C, stderr)."
    ),
    best=flag("--best", "Only the best run of each N and D: for tuned sweeps."),
    final=flag("--final", "Only the last checkpoint of each run."),
    count=word(
        "as-given",
        "What N counts; non-embedding is 12 layers width^2, or a column of that name.",
        *("as-given", "non-embedding"),
    ),
    max_size=MAX_SIZE,
)
SETTINGS: Any = Options(  # of a fit; None where the library chooses
    objective=word("huber", "What is minimised over the rows, in log losses.", *OBJECTIVES),
    delta=real(None, "Where Huber's square turns into an absolute value. [default: 1e-3]"),
    bootstrap=whole(None, "Draws for the intervals; 0 for none. [default: 1000; for all laws 0]"),
    seed=SEED,
    workers=whole("1", "Threads; the answer does not depend on it."),
    drop_peak=flag("--drop-peak", "Leave out simulated runs near the double-descent peak."),
)


def places(at: Sequence[Any], budget: Any, *, needed: bool = True) -> dict[str, Any]:
    """The sizes or the budgets that are asked about: one of the two."""
    if needed and bool(at) == (budget is not None):
        condition = "is given together with a budget" if at else "is missing"
        raise InputError("at", "", condition, "give --at N=..,D=.. or --budget C")
    return {"at": at or None, "budget": budget}


def fit_one(path: str, law: str, rows: dict[str, Any], settings: dict[str, Any], **more: Any) -> FittedLaw:
    """Says what there is to say of the table, and fits it behind a progress bar."""
    from sparselaw.fitting import clean_runs, fit
    from sparselaw.progress import progress

    settings = {name: value for name, value in (settings | more).items() if value is not None}
    rows = rows | {"drop_peak": settings.pop("drop_peak")}
    clean = clean_runs(path, law, **rows)
    for words in clean.notes:
        note(words)
    say_both_counts(path, clean.notes, law=law, **rows)
    with progress("draws") as show:
        advance = lambda done, of: show(done, of, f"{done}/{of}")  # noqa: E731
        fitted = fit(clean, law=law, progress=advance, **settings)
    tell(fitted, said=clean.notes)
    return fitted


def say_both_counts(path: str, notes: Sequence[str], **rows: Any) -> None:
    """Where N seems to count embeddings: how well later runs are predicted with and without them."""
    from sparselaw.fitting import errors_by_count
    from sparselaw.fitting.table_checks import EMBEDDED

    if path != "-" and any(words.startswith(EMBEDDED) for words in notes):
        errors = errors_by_count(path, **rows)
        shown = ", ".join(f"{error:.3g} % with --count {count}" for count, error in errors.items())
        note(f"error on the more expensive runs, fitted to the cheaper ones: {shown}")


def show_parts(
    by: str,
    parts: Mapping[Any, Sequence[Any]],
    refused: Mapping[Any, str],
    what: str,
    show: Callable[[Any], None],
    json: bool,
) -> None:
    """The results for each value of the column ``by``; why not, where there are none."""
    for value, results in parts.items():
        told: list[str] = []
        for found in results:
            tell(found, told, of=f"{by} = {value}: ")
            told += found.warnings
    for value, why in refused.items():
        note(f"{by} = {value}: no {what} ({why})")
    if json:
        every = [{"by_value": value, **one.as_dict()} for value, found in parts.items() for one in found]
        print_json({"by": by, f"{what}s": every, "refused": {str(v): why for v, why in refused.items()}})
        return
    for value, results in parts.items():
        print(f"{by} = {value}")
        show(results)
