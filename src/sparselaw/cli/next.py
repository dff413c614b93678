"""`sparselaw next`: which runs to make now."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import typer

from sparselaw import numbers
from sparselaw.cli import fit_options
from sparselaw.cli.answer import SHOWN, Answer
from sparselaw.cli.options import FILE, real, size, typed, word
from sparselaw.cli.output import print_next, print_table, tell
from sparselaw.errors import InputError


def named_sizes(name: str, text: str) -> list[Any]:
    """N=1e8,3e8 as a list, or the pairs of a table with columns N and D.

    >>> named_sizes("sizes", "N=1e8, 3e8")
    [100000000.0, 300000000.0]
    """
    letter, equals, values = text.partition("=")
    if equals and letter.strip() == "N":
        return [numbers.real(name, part.strip()) for part in values.split(",")]
    if not Path(text).is_file():
        raise InputError(name, text, "is neither a list nor a file", "write N=1e8,3e8 or name a table")
    from sparselaw.fitting.clean_runs import as_table

    try:
        pairs = as_table(Path(text))[["N", "D"]].astype(float)
    except (KeyError, ValueError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(name, text, "has no numbers in columns N and D", "give a CSV with both") from None
    return [(float(n), float(d)) for n, d in pairs.itertuples(index=False)]


def next_(
    runs: str = typer.Argument(..., metavar=FILE, help=f"{fit_options.RUNS}."),
    spend: float | None = real(
        None,
        "What new runs may cost. [default: a tenth of what is asked about, or the least that helps]",
        metavar="C",
    ),
    at: list[tuple[float, float]] = fit_options.AT,
    budget: float | None = real(None, "Budget to be planned, in place of --at.", metavar="C"),
    most: int | None = size(None, "At most so many runs. [default: 8]", "--runs"),
    sizes: list[Any] | None = typed("N=..,..|FILE", named_sizes)(
        None, "Sizes that can be run: N=1e8,3e8, or a table with N and D."
    ),
    purpose: Literal["forecast", "plan"] = word(
        "forecast",
        "Narrow the forecast, or lower the loss that the plan is expected to give away.",
        *("forecast", "plan"),
        names=["--for"],
    ),
    cost: str = fit_options.COST,
    rows: dict[str, Any] = fit_options.ROWS,
    answer: Answer = SHOWN,
) -> None:
    """Which runs to make now, so that a forecast or a plan becomes as sure as the money allows."""
    from sparselaw.deciding import next_runs

    asked = fit_options.places(at, budget)
    found = next_runs(runs, spend=spend, most=most, sizes=sizes, purpose=purpose, cost=cost, **asked, **rows)

    def show() -> None:
        print(found.words())
        print_table("Runs to make next", *found.table())
        if found.runs:
            print_next(f"make the first, add its row to {runs} and ask again")
        if found.regret_before is not None and found.regret_after is not None:
            print(
                f"loss that the plan is expected to give away: {100 * found.regret_before:.2g} % now, "
                f"{100 * found.regret_after:.2g} % then"
            )

    tell(found)
    answer.give("next", found, show)
