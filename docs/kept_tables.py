"""Tables that a benchmark or a slow test printed, kept cell by cell in ``results/tables``.

``quote_results.py`` writes them into the pages.
"""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

KEPT = Path(__file__).parent / "results" / "tables"
CELLS = re.compile(r"(?<!\\)\|")
RULE = re.compile(r"[-|: ]+")
Table = tuple[list[str], list[list[str]]]  # head and rows, cells as they are shown


def kept(name: str) -> Table:
    with (KEPT / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    return head, rows


def write_kept(name: str, table: Table) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([table[0], *table[1]])


def keep(names: list[str], printed: str) -> None:
    """The tables of what a command printed, to the file of each name."""
    found = printed_tables(printed)
    if len(found) != len(names):
        sys.exit(f"{len(found)} tables were printed for {len(names)} names: nothing is kept")
    tables = [
        (head if head is not None else kept(name)[0], rows)
        for name, (head, rows) in zip(names, found, strict=True)
    ]
    for name, (head, rows) in zip(names, tables, strict=True):
        if wrong := [row for row in rows if len(row) != len(head)]:
            sys.exit(f"{name}: {' | '.join(wrong[0])} has not {len(head)} cells: nothing is kept")
    for name, table in zip(names, tables, strict=True):
        write_kept(name, table)


def printed_tables(text: str) -> list[tuple[list[str] | None, list[list[str]]]]:
    """Head (None where there is none) and rows of each Markdown table, other lines left out.

    A row may stand behind the dots that pytest prints for tests that passed.
    """
    tables: list[tuple[list[str] | None, list[list[str]]]] = []
    for line in (line.strip().lstrip(".") for line in text.splitlines()):
        if not line.startswith("|"):
            continue
        if RULE.fullmatch(line):
            if not tables or not tables[-1][1]:
                sys.exit(f"{line} stands below no head: nothing is kept")
            head = tables[-1][1].pop()
            if tables[-1] == (None, []):
                tables.pop()
            tables.append((head, []))
            continue
        if not tables:
            tables.append((None, []))
        tables[-1][1].append([cell.strip() for cell in CELLS.split(line.removeprefix("|").removesuffix("|"))])
    return tables


def markdown(table: Table) -> str:
    head, rows = table
    return "\n".join([line_of(head), "|---" * len(head) + "|", *map(line_of, rows)])


def line_of(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
