"""`--plot` and `--report`, for the commands that start from runs."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sparselaw.errors import InputError, one_line

if TYPE_CHECKING:
    from sparselaw.plotting.figures import Panel
    from sparselaw.report import ResultPage

PLOT: Any = typer.Option(None, metavar="FILE", help="Draw it: an .svg, .png or .pdf file.")
PANELS: Any = typer.Option(False, "--panels", help="With --plot: every panel, not the first alone.")
REPORT: Any = typer.Option(None, metavar="FILE", help="Write a page with tables and pictures: an .html file.")
KINDS = (".svg", ".png", ".pdf")


def check(plot: str | None, report: str | None, of_one_fit: bool = True) -> None:
    """Before anything is computed: is there something to draw, and can the files be written?"""
    for name, path, endings in (("plot", plot, KINDS), ("report", report, (".html",))):
        if path is None:
            continue
        if not of_one_fit:
            raise InputError(name, path, "draws one fit, and several are asked for", f"leave out --{name}")
        if Path(path).suffix.lower() not in endings:
            raise InputError(name, path, "has another ending", f"let it end in {' or '.join(endings)}")
        from sparselaw.sweeps.store import check_out_file

        check_out_file(name, path)


def write(
    plot: str | None,
    report: str | None,
    panels: Callable[[Any], Sequence[Panel]],
    page: Callable[[Any], ResultPage],
    every: bool,
    first: int = 1,
) -> None:
    """Make what was asked for. ``panels`` is given plotting.figures, ``page`` report.results.

    Without ``every`` the picture has the ``first`` panels, one below the other; a report has them all.
    """
    from sparselaw.cli.output import note

    if plot is not None:
        from sparselaw.files import write_atomically
        from sparselaw.plotting import figures
        from sparselaw.sweeps.store import writing

        drawn = panels(figures)[: None if every else first]
        content = figures.draw(drawn, Path(plot).suffix.lower().lstrip("."), stacked=not every and first > 1)
        with writing("plot", plot), write_atomically(Path(plot)) as file:
            file.write(content)
        note(f"drawn in {plot}")
    if report is not None:
        from sparselaw.report import results, write_result
        from sparselaw.sweeps.store import writing

        command = one_line(shlex.join(["sparselaw", *sys.argv[1:]]))
        made = replace(page(results), command=command)
        with writing("report", report):
            write_result(Path(report), made)
        note(f"written to {report}")
