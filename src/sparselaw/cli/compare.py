"""`sparselaw compare`: which recipe is better."""

from __future__ import annotations

from typing import Any

import typer

from sparselaw.cli import fit_options as options
from sparselaw.cli.options import FILE, JSON, grouped
from sparselaw.cli.output import note, print_json, print_next, print_table
from sparselaw.cli.pictures import PICTURES

ROWS = options.ROWS.only("where", "columns", "max_size")


@grouped
def compare(
    tables: list[str] = typer.Argument(
        None, metavar=f"{FILE}...", help="Tables of runs, one for each recipe; or one table with --by."
    ),
    budget: str = typer.Option(None, metavar="C,...", help="Budgets: each recipe at its own best N and D."),
    at: list[str] = options.AT,
    by: str = typer.Option(None, metavar="COLUMN", help="Column of one table that tells recipes apart."),
    names: str = typer.Option(None, metavar="A,B,...", help="What to call the recipes."),
    cost: str = options.COST,
    level: str = options.LEVEL,
    rows: Any = ROWS,
    seed: str = options.SEED,
    out: str = options.OUT,
    from_: str = options.FROM,
    pictures: Any = PICTURES,
    json: bool = JSON,
) -> None:
    """Which recipe is better at a budget or a size: difference in loss, how sure, compute saved."""
    from sparselaw import numbers
    from sparselaw.deciding import compare as compare_recipes

    kept = options.kept(tables, from_, "Comparison")
    shown = kept if not at and budget is None else None
    settings = options.places(at, budget, needed=shown is None) | rows
    found = shown or compare_recipes(
        *([kept] if kept is not None else tables),
        by=by,
        names=None if names is None else [name.strip() for name in names.split(",")],
        cost=cost,
        level=numbers.real("level", level),
        seed=numbers.whole("seed", seed),
        **settings,
    )
    for warning in found.warnings:
        note(warning)
    if out is not None:
        found.save(out)
    pictures.write("compare", found)
    if json:
        print_json(found.as_dict())
        return
    for contest in found.contests:
        print(contest.words())
    print_table("Recipes compared", *found.table())
    for contest in found.contests:
        if contest.crossing is not None:
            print(contest.crossing_words())
        print(f"{', '.join(contest.names)}: {contest.shared_words()}")
    print(f"status {found.status}")
    point_ = found.contests[0].points[-1]
    if tables and by is None and not point_.at_sizes:
        better = tables[0] if point_.probability >= 0.5 else tables[1]
        print_next("plan with the better of them", "plan", better, "--budget", f"{point_.budget:g}")
