"""Tables with separators: commas, semicolons, tabs or bars between cells, points or commas in numbers."""

from __future__ import annotations

import csv
import re
from contextlib import nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from sparselaw.errors import InputError
from sparselaw.files import open_unpacked

if TYPE_CHECKING:
    import pandas as pd

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
LOOKED_AT = 30  # lines
HELD = 4  # times over, text that is made into a table
THOUSANDS = re.compile(r"^[+-]?\d{1,3}(,\d{3})+(\.\d*)?$")
DECIMAL_COMMA = re.compile(r"^[+-]?\d*,\d+([eE][+-]?\d+)?$")


def read_separated(source: Path | IO[bytes], separator: str | None = None) -> pd.DataFrame:
    """Every column as it is; the separator and the decimal sign are read off the first lines."""
    import pandas as pd

    lines = _head(source)
    separator = separator or separator_of(lines)
    cells = _cells(lines, separator)
    form: dict[str, Any] = {
        "sep": separator,
        "skipinitialspace": True,
        "encoding": "utf-8-sig",
        "decimal": "," if separator != "," and has_decimal_commas(cells[1:]) else ".",
    }
    try:
        with (
            open_unpacked(source, lines=True, held=HELD)
            if isinstance(source, Path)
            else nullcontext(source) as file
        ):
            frame: pd.DataFrame = pd.read_csv(file, low_memory=False, **form)
    except pd.errors.ParserError as error:
        raise _ragged(str(error), separator, cells) from None
    if separator == "," and cells and len(cells[0]) > 1 and not isinstance(frame.index, pd.RangeIndex):
        raise _ragged(f"Expected {len(cells[0])} fields, saw {len(cells[1])}", separator, cells)
    header = pd.Series(cells[0], dtype=str) if cells else pd.Series(dtype=str)
    named = header[header.str.strip() != ""]
    if named.duplicated().any():  # pandas renames the second; a reader must be asked
        names = [text or name for name, text in zip(frame.columns, header, strict=False)]
        frame.columns = pd.Index(names)
    return frame


def separator_of(lines: list[str]) -> str:
    """The one that gives the header and the rows the same number of cells, most cells first.

    >>> separator_of(["N;D;loss", "1;2;3,5"])
    ';'
    """
    best, most = ",", (0, 0, 0)
    for separator in SEPARATORS:
        rows = [len(row) for row in _cells(lines, separator)]
        if not rows or rows[0] < 2:
            continue
        alike = sum(n == rows[0] for n in rows[1:])
        score = (int(alike == len(rows) - 1), rows[0], alike)
        if score > most:
            best, most = separator, score
    return best


def has_decimal_commas(rows: list[list[str]]) -> bool:
    """Is a comma in a number its decimal sign? 1,000,000 and 3,5 tell; 1,234 alone is taken as a decimal."""
    commas = [cell.strip() for row in rows for cell in row if "," in cell]
    commas = [c for c in commas if THOUSANDS.match(c) or DECIMAL_COMMA.match(c)]
    if not commas or any(c.count(",") > 1 or "." in c for c in commas):
        return False
    points = any(re.match(r"^[+-]?\d+\.\d+", cell.strip()) for row in rows for cell in row)
    return any(not THOUSANDS.match(c) for c in commas) or not points


def _cells(lines: list[str], separator: str) -> list[list[str]]:
    try:
        return list(csv.reader(filter(str.strip, lines), delimiter=separator, skipinitialspace=True))
    except csv.Error:  # no table at all: pandas will say so
        return []


def _ragged(message: str, separator: str, cells: list[list[str]]) -> InputError:
    """A row with more cells than the header: most often a decimal comma among separating ones."""
    found = re.search(r"Expected (\d+) fields(?: in line (\d+))?, saw (\d+)", message)
    if found is None:
        reason = " ".join(message.split())[:120]
        return InputError("file", "", f"is not readable as csv ({reason})", "check its contents")
    expected, line, saw = found.groups()
    where = f"line {line}" if line else "a row"
    condition = (
        f"is not readable as csv: {where} has {saw} cells and the header {expected}, "
        f"with {SEPARATORS[separator]} as separators"
    )
    digits = any(re.fullmatch(r"\d+", cell.strip()) for row in cells[1:] for cell in row[-1:])
    advice = "put semicolons or tabs between the columns" if separator == "," and digits else "check that row"
    if separator == "," and digits:
        advice += " if numbers have decimal commas, or quote them"
    return InputError("file", "", condition, advice)


def _head(source: Path | IO[bytes]) -> list[str]:
    """The first lines as text; what is not text shows when the whole is read."""
    if isinstance(source, Path):
        with open_unpacked(source, lines=True) as opened:
            raw = [opened.readline(1_000_000) for _ in range(LOOKED_AT)]
    else:
        raw = [source.readline(1_000_000) for _ in range(LOOKED_AT)]
        source.seek(0)
    return [line.decode("utf-8-sig", errors="replace").rstrip("\r\n") for line in raw if line]
