"""A finished item in the folder: its picture, its table, and what the report says of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sparselaw.files import write_atomically
from sparselaw.interval import Interval
from sparselaw.paper.contents import NAMES
from sparselaw.paper.item import Item, Quantity, Result, Row
from sparselaw.paper.kept import read_json, write_text
from sparselaw.sweeps.runs_table import write_table

KEPT = "kept"
# The row of an item that has no number, so that the summary lists it too.
PICTURE = Quantity(quantity="a picture, no number to compare", printed=None, measured=None).as_dict()


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What is kept of an item besides its picture and its table."""

    title: str
    caption: str
    notes: list[str]
    quick: bool
    seconds: float
    processor_seconds: float | None = None  # not kept by earlier versions
    quantities: list[Row]
    tables: list[dict[str, Any]] = field(default_factory=list)  # title, columns, rows

    @property
    def rows(self) -> list[Row]:
        """Its rows in the summary: at least one, so that every item is listed."""
        return self.quantities or [PICTURE]


def write_made(folder: Path, item: Item, result: Result, quick: bool, spent: tuple[float, float]) -> None:
    """Picture and table first: what is kept says that they are there. ``spent``: clock, processor (s)."""
    _write_pictures(folder, item.name, result, quick)
    write_table(folder / f"{item.name}.csv", list(result.rows), always=())
    made = Made(
        title=item.title,
        caption=result.caption,
        notes=list(result.notes),
        quick=quick,
        seconds=spent[0],
        processor_seconds=spent[1],
        quantities=[quantity.as_dict() for quantity in result.quantities],
        tables=[asdict(table) for table in result.tables],
    )
    write_text(folder / KEPT / f"{item.name}.json", json.dumps(asdict(made), indent=1, allow_nan=False))


def read_made(folder: Path) -> tuple[dict[str, Made], list[str]]:
    """The finished items of the folder in the paper's order, and the names of those that cannot be read."""
    made: dict[str, Made] = {}
    lost = []
    for name in NAMES:
        path = folder / KEPT / f"{name}.json"
        if path.exists():
            found = read_json(path, _made)
            if found is None or not (folder / f"{name}.svg").is_file():
                lost.append(name)
            else:
                made[name] = found
    return made, lost


def _made(content: Mapping[str, Any]) -> Made:
    made = Made(**content)
    for row in made.quantities:
        if not {key for key in PICTURE if not key.endswith("_reason")} <= row.keys():
            raise ValueError("a row without its keys")
        if row["measured"] is not None:
            Interval(**row["measured"])
    return made


def _write_pictures(folder: Path, name: str, result: Result, quick: bool) -> None:
    from matplotlib.figure import Figure

    from sparselaw.plotting import style

    with style():
        figure = Figure(figsize=result.size, layout="constrained")
        result.draw(figure)
        if quick:
            words = "quick run: fewer seeds and smaller sizes than the paper"
            figure.suptitle(words, fontsize="small", x=0.99, ha="right")
        for ending, dated in (("svg", "Date"), ("png", "Software")):
            with write_atomically(folder / f"{name}.{ending}") as file:
                figure.savefig(file, format=ending, metadata={dated: None})
