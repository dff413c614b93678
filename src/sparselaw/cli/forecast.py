"""`sparselaw forecast`: the loss of runs not yet made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from sparselaw.cli import fit_options as options
from sparselaw.cli.options import FILE, JSON, grouped
from sparselaw.cli.output import note, number, print_json, print_next, print_table
from sparselaw.cli.pictures import PICTURES
from sparselaw.errors import InputError

if TYPE_CHECKING:
    from sparselaw.forecasting import Forecast


@grouped
def forecast(
    runs: str = typer.Argument(None, metavar=FILE, help=f"{options.RUNS}."),
    at: list[str] = options.AT,
    budget: str = typer.Option(
        None, metavar="C,...", help="Budgets, in place of --at: the best N and D at each."
    ),
    cost: str = options.COST,
    level: str = options.LEVEL,
    by: str = options.BY,
    rows: Any = options.ROWS,
    out: str = options.OUT,
    from_: str = options.FROM,
    pictures: Any = PICTURES,
    json: bool = JSON,
) -> None:
    """The loss of runs not yet made, with an interval (how often it held: docs/forecast.md)."""
    from sparselaw import numbers
    from sparselaw.planning import forecast as forecast_of

    kept = options.kept(runs, from_, "Forecast", "FittedLaw")
    shown = kept if hasattr(kept, "points") and not at and budget is None else None
    asked = options.places(at, budget, needed=shown is None)
    asked |= {"cost": cost, "level": numbers.real("level", level)}
    if by is not None:
        if kept is not None or out is not None:
            raise InputError("by", by, "keeps no parts", "select one with --where")
        if pictures.asked():
            raise InputError("by", by, "has no picture of its parts", "select one with --where")
        _each(runs, by, {**asked, **rows}, json)
        return
    if kept is None:
        found = forecast_of(runs, **asked, **rows)
        options.say_both_counts(runs, found.warnings, law="coupled", **rows)
    else:
        found = forecast_of(kept, **asked) if shown is None else shown
    options.tell(found)
    if out is not None:
        found.save(out)
    pictures.write("forecast", found)
    if json:
        print_json(found.as_dict())
    else:
        _show(found, runs)


def _each(runs: str, by: str, settings: dict[str, Any], json: bool) -> None:
    """One forecast for each value of the column ``by``; why not, where there is none."""
    from sparselaw.planning import forecast_by

    parts, refused = forecast_by(runs, by, **settings)
    for value, found in parts.items():
        options.tell(found, of=f"{by} = {value}: ")
    for value, why in refused.items():
        note(f"{by} = {value}: no forecast ({why})")
    if json:
        every = [{"by_value": value, **found.as_dict()} for value, found in parts.items()]
        print_json({"by": by, "forecasts": every, "refused": {str(v): why for v, why in refused.items()}})
        return
    for value, found in parts.items():
        print(f"{by} = {value}")
        _show(found)


def _show(found: Forecast, runs: str | None = None) -> None:
    from sparselaw.numbers import short_size

    budgets = any(p.budget is not None for p in found.points)
    print_table(
        found.title(),
        [*["budget"] * budgets, "N", "D", "loss", f"{100 * found.level:g} % interval", "sd"],
        [
            [
                *[number(p.budget)] * budgets,
                short_size(p.N),
                short_size(p.D),
                number(p.loss.best),
                p.loss.ends(),
                number(p.sd),
            ]
            for p in found.points
        ],
    )
    print(f"status {found.status}; runs scatter by {100 * found.noise:.2g} %")
    if runs is not None:
        last = found.points[-1]
        place = f"N={short_size(last.N)},D={short_size(last.D)}"
        spend = f"{0.6 * last.N * last.D:.2g}"  # a tenth of 6 N D
        print_next("which runs would make it narrower", "next", runs, "--at", place, "--spend", spend)
    print(found.meaning())
    print_table(
        "Back-test: fitted on the cheapest runs, the more expensive ones predicted",
        ["fitted on", "predicted", "inside 95 %", "rms error", "median width"],
        [
            [f"{100 * t.cutoff:.0f} % ({t.fitted})", str(t.runs)]
            + (
                [t.reason, "-", "-"]
                if t.reason
                else [_percent(t.covered), _percent(t.error), _percent(t.width)]
            )
            for t in found.backtest
        ],
    )
    print(f"width of the interval over that without a back-test: {found.widening:.2g}")
    print_table(
        "The coupled law",
        ["parameter", "value", "95 % interval"],
        [[name, number(v.best), v.ends()] for name, v in found.params.items()],
    )
    last = found.points[-1]
    print_table(
        f"Runs that pull most at N = {short_size(last.N)}, D = {short_size(last.D)}",
        ["N", "D", "loss", "moves the forecast by"],
        [[short_size(r.N), short_size(r.D), number(r.loss), f"{100 * r.moves:+.2g} %"] for r in last.pulls],
    )


def _percent(value: float) -> str:
    return f"{100 * value:.3g} %"
