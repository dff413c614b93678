"""`sparselaw next`: which runs to make now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from sparselaw.cli import fit_options as options
from sparselaw.cli.options import FILE, INTEGER, JSON, grouped, one_of
from sparselaw.cli.output import note, print_json, print_next, print_table
from sparselaw.cli.pictures import PICTURES
from sparselaw.errors import InputError

ROWS = options.ROWS.only("group", "where", "columns", "max_size")


@grouped
def next_(
    runs: str = typer.Argument(..., metavar=FILE, help=f"{options.RUNS}."),
    spend: str = typer.Option(..., metavar="C", help="What all new runs together may cost."),
    at: list[str] = options.AT,
    budget: str = typer.Option(None, metavar="C", help="Budget to be planned, in place of --at."),
    most: str = typer.Option(None, "--runs", metavar=INTEGER, help="At most so many runs. [default: 8]"),
    sizes: str = typer.Option(
        None, metavar="N=..,..|FILE", help="Sizes that can be run: N=1e8,3e8, or a table with N and D."
    ),
    purpose: str = typer.Option(
        "forecast", "--for", **one_of("forecast", "plan"),
        help="Narrow the forecast, or lower the loss that the plan is expected to give away.",
    ),
    cost: str = options.COST,
    rows: Any = ROWS,
    pictures: Any = PICTURES,
    json: bool = JSON,
) -> None:  # fmt: skip
    """Which runs to make now, so that a forecast or a plan becomes as sure as the money allows."""
    from sparselaw import numbers
    from sparselaw.deciding import next_runs

    asked = options.places(at, budget)
    found = next_runs(
        runs,
        spend=numbers.real("spend", spend),
        at=asked["at"],
        budget=None if budget is None else numbers.real("budget", budget),
        most=None if most is None else numbers.size("runs", most),
        sizes=None if sizes is None else named_sizes(sizes),
        purpose=purpose,  # type: ignore[arg-type]  # next_runs refuses other words
        cost=cost,
        **rows,
    )
    for warning in found.warnings:
        note(warning)
    pictures.write("next", found)
    if json:
        print_json(found.as_dict())
        return
    print(found.words())
    print_table("Runs to make next", *found.table())
    if found.runs:
        print_next(f"make the first, add its row to {runs} and ask again")
    if found.regret_before is not None and found.regret_after is not None:
        print(
            f"loss that the plan is expected to give away: {100 * found.regret_before:.2g} % now, "
            f"{100 * found.regret_after:.2g} % then"
        )


def named_sizes(text: str) -> list[Any]:
    """N=1e8,3e8 as a list, or the pairs of a table with columns N and D.

    >>> named_sizes("N=1e8, 3e8")
    [100000000.0, 300000000.0]
    """
    from sparselaw import numbers

    name, equals, values = text.partition("=")
    if equals and name.strip() == "N":
        return [numbers.real("sizes", part.strip()) for part in values.split(",")]
    if not Path(text).is_file():
        raise InputError("sizes", text, "is neither a list nor a file", "write N=1e8,3e8 or name a table")
    from sparselaw.fitting.clean_runs import as_table

    table = as_table(Path(text))
    try:
        pairs = table[["N", "D"]].astype(float)
    except (KeyError, ValueError, TypeError):
        raise InputError("sizes", text, "has no numbers in columns N and D", "give a CSV with both") from None
    return [(float(n), float(d)) for n, d in pairs.itertuples(index=False)]
