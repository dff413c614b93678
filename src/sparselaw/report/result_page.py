"""A page for one result: what it says, its tables and its pictures, in one file that needs nothing else."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import sparselaw
from sparselaw.report.page import write_html


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading with pictures (SVG files' bytes), sentences and a table, each if there is one.

    Pictures stand side by side where there is room, and one below the other on a phone.
    """

    title: str
    pictures: Sequence[bytes] = ()
    text: Sequence[str] = ()
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultPage:
    """What to show of a result. ``command`` is what makes it again."""

    title: str
    sections: Sequence[Section]
    lead: Sequence[str] = ()
    warnings: Sequence[str] = ()
    command: str = ""


def write_result(path: Path, page: ResultPage) -> None:
    pictures = [[base64.b64encode(p).decode() for p in section.pictures] for section in page.sections]
    write_html(path, "result.html", page=page, pictures=pictures, version=sparselaw.__version__)
