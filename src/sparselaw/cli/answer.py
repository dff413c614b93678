"""What becomes of a result: kept in a file, drawn, put on a page, printed as JSON or as a screen."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sparselaw.cli.options import FILE, JSON, Options, flag, text
from sparselaw.cli.output import note, print_json
from sparselaw.errors import InputError, one_line

ENDINGS = {"plot": (".svg", ".png", ".pdf"), "report": (".html",)}
KEPT = {
    "FittedLaw": "law",
    "Forecast": "forecast",
    "Plan": "plan",
    "Plans": "plan",
    "Comparison": "comparison",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """Where the result goes. Made before anything is computed: can the files be written?"""

    plot: str | None
    panels: bool
    report: str | None
    json: bool
    out: str | None = None
    from_: str | None = None

    def __post_init__(self) -> None:
        for name, path in self.pictures():
            from sparselaw.sweeps.store import check_out_file

            if Path(path).suffix.lower() not in ENDINGS[name]:
                remedy = f"let it end in {' or '.join(ENDINGS[name])}"
                raise InputError(name, path, "has another ending", remedy)
            check_out_file(name, path)

    def pictures(self) -> list[tuple[str, str]]:
        """Those asked for, each with the option that names it."""
        both = (("plot", self.plot), ("report", self.report))
        return [(name, path) for name, path in both if path is not None]

    def kept(self, runs: Any, *kinds: str) -> Any:
        """The result kept in --from, which must be of one of these kinds; None where there is none."""
        if (self.from_ is None) == (not runs):
            condition = "is missing" if self.from_ is None else "is given together with a kept result"
            raise InputError("runs", runs or "", condition, "give a table of runs, or --from FILE")
        if self.from_ is None:
            return None
        from sparselaw.deciding import load

        found = load(self.from_)
        name = type(found).__name__
        if name not in kinds:
            wanted = " or ".join(dict.fromkeys(KEPT[kind] for kind in kinds))
            raise InputError("from", self.from_, f"is a kept {KEPT[name]}", f"give a kept {wanted}")
        return found

    def give(
        self,
        what: str,
        found: Any,
        show: Callable[[], None],
        *drawn: Any,
        page: tuple[Any, ...] = (),
        first: int = 1,
        also: Mapping[str, Any] | None = None,
    ) -> None:
        """Do with ``found`` what was asked for.

        Pictures are of ``drawn`` where that is something else; ``page`` is what the report alone takes
        besides. Without --panels the picture has the ``first`` panels, one below the other; a report has them
        all. ``also`` joins the JSON.
        """
        if self.out is not None:
            found.save(self.out)
        drawn = drawn or (found,)
        if self.pictures():
            from sparselaw.sweeps.store import writing
        if self.plot is not None:
            from sparselaw.files import write_atomically
            from sparselaw.plotting import figures

            panels = getattr(figures, f"{what}_panels")(*drawn)[: None if self.panels else first]
            kind, stacked = Path(self.plot).suffix.lower().lstrip("."), not self.panels and first > 1
            content = figures.draw(panels, kind, stacked=stacked)
            with writing("plot", self.plot), write_atomically(Path(self.plot)) as file:
                file.write(content)
            note(f"drawn in {self.plot}")
        if self.report is not None:
            from sparselaw.report import results, write_result

            made = getattr(results, f"{what}_page")(*drawn, *page)
            command = one_line(shlex.join(["sparselaw", *sys.argv[1:]]))
            with writing("report", self.report):
                write_result(Path(self.report), replace(made, command=command))
            note(f"written to {self.report}")
        if self.json:
            print_json(found.as_dict() | dict(also or {}))
        else:
            show()


ANSWER: Any = Options(
    Answer,
    out=text(None, "Keep the result in this JSON file; --from reads it."),
    from_=text(None, "A kept result in place of the table.", FILE, "--from"),
    plot=text(None, "Draw it: an .svg, .png or .pdf file."),
    panels=flag("--panels", "With --plot: every panel, not the first alone."),
    report=text(None, "Write a page with tables and pictures: an .html file."),
    json=JSON,
)
SHOWN: Any = ANSWER.only("plot", "panels", "report", "json")  # of results that are not kept
