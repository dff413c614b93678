"""One HTML file with everything inside it: opens with no network, on a phone, in print, light and dark."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from sparselaw.files import write_atomically


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportClaim:
    """A statement of the paper with the one number that decides it, already in words."""

    words: str
    formula: str  # MathML, without the outer element
    label: str
    item: str
    quantity: str
    sentence: str
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRow:
    """One line of the summary table, already in words."""

    quantity: str
    paper: str
    measured: str
    theory: str
    verdict: str
    reason: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportItem:
    """A figure or table with its numbers, its picture and how to make it again."""

    name: str
    title: str
    caption: str
    rows: Sequence[ReportRow]
    notes: Sequence[str]
    picture: Path  # an SVG file, put into the page
    table: str  # name of the CSV beside the report
    command: str
    seconds: float
    quick: bool
    processor_seconds: float | None = None
    tables: Sequence[Mapping[str, Any]] = ()  # each a title, columns and rows, in words


def write_report(
    path: Path, items: Sequence[ReportItem], facts: Mapping[str, str], claims: Sequence[ReportClaim]
) -> None:
    """Write the page: the claims first; ``facts`` are versions, machine, seeds and time, shown at its end."""
    verdicts = Counter(row.verdict for item in items for row in item.rows)
    titles = {item.name: item.title for item in items}
    pictures = {item.name: base64.b64encode(item.picture.read_bytes()).decode() for item in items}
    write_html(
        path,
        "page.html",
        claims=claims,
        claim_verdicts=Counter(claim.verdict for claim in claims),
        titles=titles,
        items=items,
        facts=facts,
        verdicts=verdicts,
        pictures=pictures,
    )


def write_html(path: Path, template: str, **values: object) -> None:
    """Fill one of the templates of this room and write it, all at once."""
    room = files("sparselaw.report")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    style = room.joinpath("style.css").read_text("utf-8")
    page = environment.from_string(room.joinpath(template).read_text("utf-8")).render(style=style, **values)
    with write_atomically(path) as file:
        file.write(page.encode("utf-8", "backslashreplace"))
