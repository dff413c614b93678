"""`sparselaw compare`: which recipe is better."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from sparselaw.cli import fit_options
from sparselaw.cli.answer import ANSWER, Answer
from sparselaw.cli.options import FILE, budgets, text, typed
from sparselaw.cli.output import print_next, print_table, tell
from sparselaw.errors import InputError

if TYPE_CHECKING:
    from sparselaw.deciding import Comparison

NAMES = typed("A,B,...", lambda _, text: [name.strip() for name in text.split(",")])


def compare(
    tables: list[str] = typer.Argument(
        None, metavar=f"{FILE}...", help="Tables of runs, one for each recipe; or one table with --by."
    ),
    budget: list[float] | None = budgets(None, "Budgets: each recipe at its own best N and D."),
    at: list[tuple[float, float]] = fit_options.AT,
    by: str | None = text(None, "Column of one table that tells recipes apart.", "COLUMN"),
    names: list[str] | None = NAMES(None, "What to call the recipes."),
    cost: str = fit_options.COST,
    level: float = fit_options.LEVEL,
    rows: dict[str, Any] = fit_options.ROWS.only("where", "columns", "max_size"),
    seed: int = fit_options.SEED,
    answer: Answer = ANSWER,
) -> None:
    """Which recipe is better at a budget or a size: difference in loss, how sure, compute saved."""
    from sparselaw.deciding import compare as compare_recipes

    kept = answer.kept(tables, "Comparison")
    shown = kept if not at and budget is None else None
    if shown is not None and names is not None:
        raise InputError("names", ",".join(names), "are kept as they are", "add --budget C or --at N=..,D=..")
    settings = fit_options.places(at, budget, needed=shown is None) | rows
    settings |= {"by": by, "names": names, "cost": cost, "level": level, "seed": seed}
    found = shown or compare_recipes(*([kept] if kept is not None else tables), **settings)

    def show() -> None:
        for contest in found.contests:
            print(contest.words())
        print_table("Recipes compared", *found.table())
        for contest in found.contests:
            if contest.crossing is not None:
                print(contest.crossing_words())
            print(f"{', '.join(contest.names)}: {contest.shared_words()}")
        print(f"status {found.status}")
        if tables and by is None:
            _show_next(found, tables, *fit_options.ROWS.retyped(rows))

    tell(found)
    answer.give("compare", found, show)


def _show_next(found: Comparison, tables: list[str], *rows: str) -> None:
    """Which runs would tell more; where one recipe is better, a plan with it."""
    last = [contest.points[-1] for contest in found.contests]
    rival = max(range(len(last)), key=lambda i: last[i].difference.best)
    point = last[rival]
    (N, D), _ = point.sizes
    place = ["--at", f"N={N:g},D={D:g}"] if point.at_sizes else ["--budget", f"{point.budget:g}"]
    place = [*rows, *place, *([] if found.cost == fit_options.COST.default else ["--cost", found.cost])]
    if point.undecided:
        print_next("which runs would tell more", "next", tables[0], *place)
    elif not point.at_sizes:
        better = tables[0] if point.probability >= 0.5 else tables[1 + rival]
        print_next(
            "plan with the better of them" if len(last) == 1 else "plan with the best", "plan", better, *place
        )
