"""`--plot` and `--report`, for the commands that start from runs or features."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from sparselaw.cli.options import Options
from sparselaw.cli.output import note
from sparselaw.errors import InputError, one_line

ENDINGS = {"plot": (".svg", ".png", ".pdf"), "report": (".html",)}


@dataclass(frozen=True, slots=True)
class Pictures:
    """The files asked for. Made before anything is computed: can they be written?"""

    plot: str | None
    panels: bool
    report: str | None

    def __post_init__(self) -> None:
        for name, path in self.asked():
            if Path(path).suffix.lower() not in ENDINGS[name]:
                raise InputError(
                    name, path, "has another ending", f"let it end in {' or '.join(ENDINGS[name])}"
                )
            from sparselaw.sweeps.store import check_out_file

            check_out_file(name, path)

    def asked(self) -> list[tuple[str, str]]:
        """Each with the option that names it."""
        both = (("plot", self.plot), ("report", self.report))
        return [(name, path) for name, path in both if path is not None]

    def write(self, what: str, *found: Any, page: tuple[Any, ...] = (), first: int = 1) -> None:
        """Make what was asked for, of ``found``; ``page`` is what the report alone takes besides.

        Without --panels the picture has the ``first`` panels, one below the other; a report has them all.
        """
        from sparselaw.sweeps.store import writing

        if self.plot is not None:
            from sparselaw.files import write_atomically
            from sparselaw.plotting import figures

            drawn = getattr(figures, f"{what}_panels")(*found)[: None if self.panels else first]
            kind, stacked = Path(self.plot).suffix.lower().lstrip("."), not self.panels and first > 1
            content = figures.draw(drawn, kind, stacked=stacked)
            with writing("plot", self.plot), write_atomically(Path(self.plot)) as file:
                file.write(content)
            note(f"drawn in {self.plot}")
        if self.report is not None:
            from sparselaw.report import results, write_result

            made = getattr(results, f"{what}_page")(*found, *page)
            command = one_line(shlex.join(["sparselaw", *sys.argv[1:]]))
            with writing("report", self.report):
                write_result(Path(self.report), replace(made, command=command))
            note(f"written to {self.report}")


PICTURES = Options(
    Pictures,
    plot=typer.Option(None, metavar="FILE", help="Draw it: an .svg, .png or .pdf file."),
    panels=typer.Option(False, "--panels", help="With --plot: every panel, not the first alone."),
    report=typer.Option(None, metavar="FILE", help="Write a page with tables and pictures: an .html file."),
)
