"""`sparselaw forecast`: the loss of runs not yet made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from sparselaw.cli import fit_options
from sparselaw.cli.answer import ANSWER, Answer
from sparselaw.cli.options import FILE, budgets
from sparselaw.cli.output import print_next, print_table, tell
from sparselaw.errors import InputError
from sparselaw.numbers import short_size

if TYPE_CHECKING:
    from sparselaw.forecasting import Forecast


def forecast(
    runs: str = typer.Argument(None, metavar=FILE, help=f"{fit_options.RUNS}."),
    at: list[tuple[float, float]] = fit_options.AT,
    budget: list[float] | None = budgets(None, "Budgets, in place of --at: the best N and D at each."),
    cost: str = fit_options.COST,
    level: float = fit_options.LEVEL,
    by: str | None = fit_options.BY,
    rows: dict[str, Any] = fit_options.ROWS,
    answer: Answer = ANSWER,
) -> None:
    """The loss of runs not yet made, with an interval (how often it held: docs/forecast.md)."""
    from sparselaw.planning import by_value
    from sparselaw.planning import forecast as forecast_of

    kept = answer.kept(runs, "Forecast", "FittedLaw")
    shown = kept if hasattr(kept, "points") and not at and budget is None else None
    asked = fit_options.places(at, budget, needed=shown is None) | {"cost": cost, "level": level}
    if by is not None:
        if kept is not None or answer.out is not None:
            raise InputError("by", by, "keeps no parts", "select one with --where")
        if answer.pictures():
            raise InputError("by", by, "has no picture of its parts", "select one with --where")
        parts, refused = by_value(forecast_of, runs, by, **asked, **rows)
        each = {value: (found,) for value, found in parts.items()}
        fit_options.show_parts(by, each, refused, "forecast", lambda found: _show(*found), answer.json)
        return
    if kept is None:
        found = forecast_of(runs, **asked, **rows)
        fit_options.say_both_counts(runs, found.warnings, law="coupled", **rows)
    else:
        found = shown or forecast_of(kept, **asked)
    tell(found)
    again = [runs, *fit_options.ROWS.retyped(rows)] if runs else []
    answer.give("forecast", found, lambda: _show(found, *again))


def _show(found: Forecast, *runs: str) -> None:
    points, backtest, law, pulls = found.tables().values()
    print_table(*points)
    print(f"status {found.status}; runs scatter by {100 * found.noise:.2g} %")
    last = found.points[-1]
    if runs and last.ahead > 0.0:  # cheaper ones were made: no further run tells much of them
        at = f"N={short_size(last.N)},D={short_size(last.D)}"
        print_next("which runs would make it narrower", "next", *runs, "--at", at)
    print_table(*backtest)
    print(f"width of the interval over that without a back-test: {found.widening:.2g}")
    print_table(*law)
    print(found.meaning())
    print_table(*pulls)
