"""`sparselaw reproduce`: every figure and table of the paper, and a report."""

from __future__ import annotations

from pathlib import Path

import typer

from sparselaw.cli.options import JSON, flag, names_in, size, text
from sparselaw.cli.output import Stopped, note, print_json, print_table
from sparselaw.errors import InputError


def reproduce(
    names: list[str] = typer.Argument(
        None,
        metavar="ITEM",
        autocompletion=names_in("experiments.paper.item", "NAMES"),
        help="figure-1 ... figure-6, table-3, table-4, checks, beyond-networks, beyond-passes. [all]",
    ),
    out: str = text("reproduction", "Folder for report.html, summary.json, pictures and tables.", "FOLDER"),
    quick: bool = flag("--quick", "Fewer seeds and smaller sizes than the paper; says so on every figure."),
    workers: int | None = size(None, "Processes. [default: all cores]"),
    quiet: bool = flag("--quiet", "No progress."),
    json: bool = JSON,
) -> None:
    """The paper's figures and tables beside its printed numbers.

    Each comes with a verdict.
    """
    from sparselaw.experiments.paper.reproduce import COLUMNS
    from sparselaw.experiments.paper.reproduce import reproduce as run

    if not out.strip():
        raise InputError("out", "", "is empty", "name a folder for the report")
    say = None if quiet else note
    try:
        summary = run(names or [], out=Path(out), quick=quick, workers=workers, progress=not quiet, say=say)
    except KeyboardInterrupt:
        note(f"stopped; what is finished is in {out}: the same command goes on from there")
        raise Stopped from None
    for name in summary.lost:
        command = f"sparselaw reproduce {name} --out {out}{' --quick' if quick else ''}"
        note(f"{name} cannot be read and is left out: run '{command}' again")
    if json:
        print_json(summary.as_dict())
    else:
        print_table("Reproduction", ["item", *COLUMNS[1:]], summary.table())
    if not quiet:
        note(f"report: {summary.report} ({summary.seconds:.0f} s)")
