"""`sparselaw compare`: which recipe is better."""

from __future__ import annotations

import typer

from sparselaw.cli import fit_options as options
from sparselaw.cli import pictures
from sparselaw.cli.forecast import point
from sparselaw.cli.options import FILE, JSON, MAX_SIZE
from sparselaw.cli.output import note, print_json, print_next, print_table
from sparselaw.costs import cost_names
from sparselaw.errors import InputError


def compare(
    tables: list[str] = typer.Argument(
        None, metavar=f"{FILE}...", help="Tables of runs, one for each recipe; or one table with --by."
    ),
    budget: str = typer.Option(None, metavar="C,...", help="Budgets: each recipe at its own best N and D."),
    at: list[str] = typer.Option([], metavar="N=..,D=..", help="Sizes in place of budgets; repeatable."),
    by: str = typer.Option(None, metavar="COLUMN", help="Column of one table that tells recipes apart."),
    names: str = typer.Option(None, metavar="A,B,...", help="What to call the recipes."),
    cost: str = typer.Option(
        "6nd", metavar="|".join(cost_names()), autocompletion=cost_names, help="What a budget pays for."
    ),
    level: str = typer.Option("0.95", metavar="SHARE", help="Share that the intervals are meant to hold."),
    where: list[str] = options.WHERE,
    columns: str = options.COLUMNS,
    seed: str = options.SEED,
    out: str = options.OUT,
    from_: str = options.FROM,
    max_size: str = MAX_SIZE,  # noqa: ARG001
    plot: str = pictures.PLOT,
    panels: bool = pictures.PANELS,
    report: str = pictures.REPORT,
    json: bool = JSON,
) -> None:
    """Which recipe is better at a budget or a size: difference in loss, how sure, compute saved."""
    from sparselaw import numbers
    from sparselaw.deciding import compare as compare_recipes

    kept = options.kept(tables, from_, "Comparison")
    shown = kept if not at and budget is None else None
    if shown is None and bool(at) == (budget is not None):
        raise InputError(
            "budget", "", "is missing" if not at else "is given together with sizes",
            "give --budget C or --at N=..,D=..",
        )  # fmt: skip
    pictures.check(plot, report)
    found = shown or compare_recipes(
        *([kept] if kept is not None else tables),
        budget=None if budget is None else [numbers.real("budget", part) for part in budget.split(",")],
        at=[point(text) for text in at] or None,
        by=by,
        names=None if names is None else [name.strip() for name in names.split(",")],
        cost=cost,
        level=numbers.real("level", level),
        columns=options.columns(columns),
        where=tuple(where or ()),
        seed=numbers.whole("seed", seed),
    )
    for warning in found.warnings:
        note(warning)
    if out is not None:
        found.save(out)
    pictures.write(
        plot,
        report,
        lambda room: room.compare_panels(found),
        lambda room: room.compare_page(found),
        every=panels,
    )
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
