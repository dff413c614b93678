"""`sparselaw curve`: loss curves under learning-rate schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from sparselaw.cli import fit_options
from sparselaw.cli.options import FLOAT, INTEGER, JSON, MAX_SIZE, SIZES, grouped
from sparselaw.cli.output import note, print_json, print_next, print_table
from sparselaw.cli.pictures import PICTURES
from sparselaw.errors import InputError
from sparselaw.records import cells_of

if TYPE_CHECKING:
    from sparselaw.curves import CurveFit

SHAPES = "cosine:24000, wsd:20000,24000 or constant:72000 (also linear, wsd-exp, wsd-sqrt, step; lr=, end=)"


@grouped
def curve(
    curves: list[str] = typer.Argument(
        ..., metavar="FILE...", help="Logs with run, step, lr and loss: tables, or folders of logs."
    ),
    schedule: list[str] = typer.Option(
        [],
        metavar="FILE|SHAPE",
        help=f"A schedule to predict: a table of step and lr, or {SHAPES}; repeatable.",
    ),
    warmup: str = typer.Option(
        None, metavar=INTEGER, help="Steps of linear warm-up. [default: found in the logs]"
    ),
    lr: str = typer.Option(None, metavar=FLOAT, help="Peak rate, where the logs have no rates."),
    shape: str = typer.Option(
        None, metavar="SHAPE", help="What schedule the runs are on: cosine, wsd:20000,24000."
    ),
    steps: str = typer.Option(None, metavar=INTEGER, help="Planned steps of the runs, for --shape."),
    best: str = typer.Option(None, metavar=INTEGER, help="Look for a schedule to try, of so many steps."),
    sizes: str = typer.Option(
        None, "-N", "--N", metavar=SIZES, help="Sizes to predict for. [default: those of the curves]"
    ),
    present: str = typer.Option(None, metavar="RUN", help="The run that schedules are compared with."),
    columns: str = fit_options.ROWS["columns"],
    final: bool = typer.Option(False, "--final", help="Each run's annealed loss with its standard error."),
    out: str = typer.Option(
        None, metavar="FILE", help="With --final: write them to this .csv or .parquet file."
    ),
    max_size: str = MAX_SIZE,  # noqa: ARG001
    pictures: Any = PICTURES,
    json: bool = JSON,
) -> None:
    """The end of a run before it is over, and under a schedule never run."""
    from sparselaw import numbers
    from sparselaw.curves import fit_curves

    if out is not None:
        _check_out(final, out)
    found = fit_curves(
        curves,
        schedules=list(schedule),
        warmup=None if warmup is None else numbers.real("warmup", warmup),
        lr=None if lr is None else numbers.real("lr", lr),
        shape=shape,
        steps=None if steps is None else numbers.real("steps", steps),
        columns=fit_options.columns(columns),
        N=None if sizes is None else [float(n) for n in numbers.sizes("N", sizes)],
        best=None if best is None else numbers.real("best", best),
        present=present,
    )
    for warning in found.warnings:
        note(warning)
    if out is not None:
        _write(found, out)
    pictures.write("curve", found, first=2)
    if json:
        rows = {"finals": found.finals().to_dict("records")} if final else {}
        print_json(found.as_dict() | rows)
    elif final:
        print_table("Annealed losses", *cells_of(found.finals()))
        print(f"status {found.status}")
    else:
        _show(found, curves)


def _check_out(final: bool, out: str) -> None:
    from sparselaw.sweeps.store import check_out_file

    if not final:
        raise InputError("out", out, "is given without --final", "add --final")
    if not out.lower().endswith((".csv", ".parquet")):
        raise InputError("out", out, "has another ending", "let it end in .csv or .parquet")
    check_out_file("out", out)


def _write(found: CurveFit, out: str) -> None:
    from pathlib import Path

    from sparselaw.files import write_atomically
    from sparselaw.sweeps.store import writing

    frame = found.finals()
    with writing("out", out), write_atomically(Path(out)) as file:
        if out.lower().endswith(".csv"):
            file.write(frame.to_csv(index=False).encode())
        else:
            frame.to_parquet(file, index=False)
    if all(end.D is None for end in found.curves):
        note(f"D is in units of {found.clock}: no tokens, samples or batch are logged")
    note(f"written to {out}")


def _show(found: CurveFit, files: list[str]) -> None:
    tables = found.tables()
    print_table(*tables["runs"])
    if found.schedules:
        print_table(*tables["schedules"])
    if found.best is not None:
        print(found.best.words())
    print(f"status {found.status}")
    if found.best is None:
        steps = f"{max(end.steps for end in found.curves):.0f}"
        print_next("a schedule to try", "curve", *files, "--best", steps)
    else:
        print_next("annealed losses for fit", "curve", *files, "--final", "--out", "finals.csv")
    print_table(*tables["backtest"])
    print_table(*tables["law"])
