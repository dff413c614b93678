"""`sparselaw forecast`: the loss of runs not yet made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from sparselaw.cli import fit_options as options
from sparselaw.cli import pictures
from sparselaw.cli.options import FILE, JSON, MAX_SIZE
from sparselaw.cli.output import note, number, print_json, print_next, print_table
from sparselaw.costs import cost_names
from sparselaw.errors import InputError

if TYPE_CHECKING:
    from sparselaw.forecasting import Forecast


def forecast(
    runs: str = typer.Argument(None, metavar=FILE, help=f"{options.RUNS}."),
    at: list[str] = typer.Option([], metavar="N=..,D=..", help="Sizes of a run not yet made; repeatable."),
    budget: str = typer.Option(
        None, metavar="C,...", help="Budgets, in place of --at: the best N and D at each."
    ),
    cost: str = typer.Option(
        "6nd", metavar="|".join(cost_names()), autocompletion=cost_names, help="What a budget pays for."
    ),
    level: str = options.LEVEL,
    group: str = options.GROUP,
    where: list[str] = options.WHERE,
    columns: str = options.COLUMNS,
    by: str = options.BY,
    best: bool = options.BEST,
    final: bool = options.FINAL,
    count: str = options.COUNT,
    out: str = options.OUT,
    from_: str = options.FROM,
    max_size: str = MAX_SIZE,  # noqa: ARG001
    plot: str = pictures.PLOT,
    panels: bool = pictures.PANELS,
    report: str = pictures.REPORT,
    json: bool = JSON,
) -> None:
    """The loss of runs not yet made, with an interval (how often it held: docs/forecast.md)."""
    from sparselaw import numbers
    from sparselaw.planning import forecast as forecast_of

    kept = options.kept(runs, from_, "Forecast", "FittedLaw")
    shown = kept if hasattr(kept, "points") and not at and budget is None else None
    if shown is None and bool(at) == (budget is not None):
        raise InputError(
            "at", "", "is missing" if not at else "is given together with a budget",
            "give --at N=..,D=.. or --budget",
        )  # fmt: skip
    pictures.check(plot, report)
    asked: dict[str, Any] = {
        "at": [point(text) for text in at] or None,
        "budget": None if budget is None else [numbers.real("budget", part) for part in budget.split(",")],
        "cost": cost,
        "level": numbers.real("level", level),
    }
    rows: dict[str, Any] = {"group": group, "columns": options.columns(columns), "best": best, "final": final}
    where = list(where or ())
    if by is not None:
        if kept is not None or out is not None:
            raise InputError("by", by, "keeps no parts", "select one with --where")
        if plot or report:
            raise InputError("by", by, "has no picture of its parts", "select one with --where")
        _each(runs, by, where, {**asked, **rows, "count": count}, json)
        return
    rows["where"] = tuple(where)
    if kept is None:
        found = forecast_of(runs, **asked, **rows, count=count)
        options.say_both_counts(runs, found.warnings, law="coupled", **rows)
    else:
        found = forecast_of(kept, **asked) if shown is None else shown
    _tell(found)
    if out is not None:
        found.save(out)
    pictures.write(
        plot,
        report,
        lambda room: room.forecast_panels(found),
        lambda room: room.forecast_page(found),
        every=panels,
    )
    if json:
        print_json(found.as_dict())
    else:
        _show(found, runs)


def _each(runs: str, by: str, where: list[str], settings: dict[str, Any], json: bool) -> None:
    """One forecast for each value of the column ``by``; why not, where there is none."""
    from sparselaw.planning import forecast_by

    parts, refused = forecast_by(runs, by, where=tuple(where), **settings)
    for value, found in parts.items():
        _tell(found, f"{by} = {value}: ")
    for value, why in refused.items():
        note(f"{by} = {value}: no forecast ({why})")
    if json:
        every = [{"by_value": value, **found.as_dict()} for value, found in parts.items()]
        print_json({"by": by, "forecasts": every, "refused": {str(v): why for v, why in refused.items()}})
        return
    for value, found in parts.items():
        print(f"{by} = {value}")
        _show(found)


def _tell(found: Forecast, of: str = "") -> None:
    for reason, gone in found.dropped.items():
        note(f"{of}{gone} row{'s' * (gone != 1)} dropped: {reason}")
    for warning in found.warnings:
        note(of + warning)


def point(text: str) -> tuple[float, float]:
    """N=7e9,D=4e12 as a pair.

    >>> point("D=4T, N=7B")
    (7000000000.0, 4000000000000.0)
    """
    from sparselaw import numbers

    pairs = [part.partition("=")[::2] for part in text.split(",")]
    given = {name.strip(): value.strip() for name, value in pairs}
    if set(given) != {"N", "D"} or len(pairs) != 2:
        raise InputError("at", text, "is not a pair of sizes", "write --at N=7e9,D=4e12")
    return numbers.amount("N", given["N"]), numbers.amount("D", given["D"])


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
