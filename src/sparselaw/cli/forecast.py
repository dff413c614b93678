"""`sparselaw forecast`: the loss of runs not yet made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from sparselaw.cli import fit_options
from sparselaw.cli.answer import ANSWER, Answer
from sparselaw.cli.options import FILE, budgets
from sparselaw.cli.output import number, percent, print_next, print_table, tell
from sparselaw.errors import InputError
from sparselaw.numbers import short_compute, short_size

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
    budgets = any(p.budget is not None for p in found.points)
    print_table(
        found.title(),
        [*["budget"] * budgets, "N", "D", "loss", f"{100 * found.level:g} % interval", "sd"],
        [
            [
                *[short_compute(p.budget or 0.0)] * budgets,
                *_sizes(p),
                number(p.loss.best),
                p.loss.ends(),
                number(p.sd),
            ]
            for p in found.points
        ],
    )
    print(f"status {found.status}; runs scatter by {100 * found.noise:.2g} %")
    last = found.points[-1]
    N, D = _sizes(last)
    if runs:
        print_next("which runs would make it narrower", "next", *runs, "--at", f"N={N},D={D}")
    print_table(
        "Back-test: fitted on the cheapest runs, the more expensive ones predicted",
        ["fitted on", "predicted", "inside 95 %", "rms error", "median width"],
        [
            [f"{100 * t.cutoff:.0f} % ({t.fitted})", str(t.runs)]
            + ([t.reason, "-", "-"] if t.reason else [percent(v) for v in (t.covered, t.error, t.width)])
            for t in found.backtest
        ],
    )
    print(f"width of the interval over that without a back-test: {found.widening:.2g}")
    rows = [[name, number(v.best), v.ends()] for name, v in found.params.items()]
    print_table("The coupled law", ["parameter", "value", "95 % interval"], rows)
    print(found.meaning())
    print_table(
        f"Runs that pull most at N = {N}, D = {D}",
        ["N", "D", "loss", "moves the forecast by"],
        [[*_sizes(r), number(r.loss), f"{100 * r.moves:+.2g} %"] for r in last.pulls],
    )


def _sizes(run: Any) -> tuple[str, str]:
    return short_size(run.N), short_size(run.D)
