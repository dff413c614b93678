"""What the commands print: one JSON object on standard output, or a table for people."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from sparselaw.cli.streams import say
from sparselaw.errors import one_line
from sparselaw.plain import strict_json


class Stopped(KeyboardInterrupt):
    """Ctrl-C, after the command has said what is kept."""


def print_json(result: Mapping[str, Any]) -> None:
    """One JSON object, strict: what is infinite or no number is null."""
    sys.stdout.write(f"{strict_json(result, indent=2)}\n")


def finite_or_none(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on standard output; numbers to the right. Plain when the output is not a terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for column in columns:
        table.add_column(column, justify="right" if column in {"N", "D", "K", "xi", "loss"} else "left")
    for row in rows:
        table.add_row(*row)

    class Output(Console):
        def on_broken_pipe(self) -> None:  # rich would end the program with code 1
            raise

    Output(width=None if sys.stdout.isatty() else 140).print(table)


def note(text: str) -> None:
    """A word to the person, on standard error."""
    say(f"sparselaw: {one_line(text)}")


def footnotes(texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """A mark for each text, and the notes that the marks refer to; equal texts share one, empty ones none.

    >>> footnotes(["near the peak", "", "near the peak"])
    (['[1]', '', '[1]'], ['[1]: near the peak'])
    """
    distinct = list(dict.fromkeys(text for text in texts if text))
    marks = [f"[{distinct.index(text) + 1}]" if text else "" for text in texts]
    return marks, [f"[{index}]: {text}" for index, text in enumerate(distinct, start=1)]


def number(value: float | None, digits: int = 4) -> str:
    return "-" if value is None else f"{value:.{digits}g}"
