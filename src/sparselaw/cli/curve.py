"""`sparselaw curve`: loss curves under learning-rate schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from sparselaw.cli import fit_options
from sparselaw.cli.answer import SHOWN, Answer
from sparselaw.cli.options import INTEGER, MAX_SIZE, Options, flag, real, sizes, text, typed
from sparselaw.cli.output import note, print_next, print_table, tell
from sparselaw.errors import InputError
from sparselaw.records import cells_of

if TYPE_CHECKING:
    from sparselaw.curves import CurveFit

SHAPES = "cosine:24000, wsd:20000,24000 or constant:72000 (also linear, wsd-exp, wsd-sqrt, step; lr=, end=)"


READING = Options(  # how logs are read
    warmup=real(None, "Steps of linear warm-up. [default: found in the logs]", metavar=INTEGER),
    lr=real(None, "Peak rate, where the logs have no rates."),
    shape=text(None, "What schedule the runs are on: cosine, wsd:20000,24000.", "SHAPE"),
    steps=real(None, "Planned steps of the runs, for --shape.", metavar=INTEGER),
    columns=typed("NAME=COLUMN,...", fit_options.columns)(
        None, "Names of columns: step=...,lr=...,loss=... (also run, N, D, batch)."
    ),
)


def curve(
    curves: list[str] = typer.Argument(
        ..., metavar="FILE...", help="Logs with run, step, lr and loss: tables, or folders of logs."
    ),
    schedule: list[str] = text(
        [], f"A schedule to predict: a table of step and lr, or {SHAPES}; repeatable.", "FILE|SHAPE"
    ),
    reading: dict[str, Any] = READING,
    best: float | None = real(None, "Look for a schedule to try, of so many steps.", metavar=INTEGER),
    N: list[int] | None = sizes(None, "Sizes to predict for. [default: those of the curves]", "-N", "--N"),
    present: str | None = text(None, "The run that schedules are compared with.", "RUN"),
    final: bool = flag("--final", "Each run's annealed loss with its standard error."),
    out: str | None = text(None, "With --final: write them to this .csv or .parquet file."),
    max_size: str | None = MAX_SIZE,  # noqa: ARG001
    answer: Answer = SHOWN,
) -> None:
    """The end of a run before it is over, and under a schedule never run."""
    from sparselaw.curves import fit_curves

    if out is not None:
        _check_out(final, out)
    found = fit_curves(
        curves, schedules=list(schedule), best=best, present=present, **reading,
        N=None if N is None else [float(n) for n in N],
    )  # fmt: skip
    tell(found)
    if out is not None:
        _write(found, out)
    finals = {"finals": found.finals().to_dict("records")} if final else {}
    answer.give(
        "curve",
        found,
        lambda: _show(found, [*curves, *READING.retyped(reading)], final),
        first=2,
        also=finals,
    )


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


def _show(found: CurveFit, files: list[str], final: bool) -> None:
    if final:
        from sparselaw.numbers import short_size

        shown = found.finals()
        for size in shown.columns.intersection(["N", "D", "steps"]):
            shown[size] = shown[size].map(short_size)
        print_table("Annealed losses", *cells_of(shown))
        print(f"status {found.status}")
        return
    tables = found.tables()
    if found.schedules:  # what was asked for
        print_table(*tables["schedules"])
    print_table(*tables["runs"])
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
