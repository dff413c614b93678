"""Small and plain CSV files without pandas, which takes longer to import than they take to be fitted."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

from sparselaw.fitting.run_table import Cells, Table, typed
from sparselaw.fitting.separated import LOOKED_AT, has_decimal_commas, separator_of

LARGE = 5_000_000  # bytes from which on pandas is worth its import
# What pandas takes for an empty cell.
EMPTY = frozenset(
    {
        "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>",
        "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
    }
)  # fmt: skip


def plain_csv(file: Path, separator: str | None) -> Table | None:
    """The table as pandas would read it; None where there is anything to it that needs more thought."""
    if file.stat().st_size > LARGE:
        return None
    try:
        text = file.read_text(encoding="utf-8-sig")
        separator = separator or separator_of(text.split("\n", LOOKED_AT)[:LOOKED_AT])
        read = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
        rows = [row for row in read if len(row) > 1 or any(row)]  # a line of separators is a row
    except (OSError, UnicodeDecodeError, csv.Error):
        return None
    broken = any(len(row) > len(rows[0]) for row in rows) or '"' in text
    if len(rows) < 2 or broken or (separator != "," and has_decimal_commas(rows[1:LOOKED_AT])):
        return None
    header = tuple(name or f"Unnamed: {i}" for i, name in enumerate(rows[0]))
    filled = [row + [""] * (len(header) - len(row)) for row in rows[1:]]
    columns = tuple(_parsed([row[i] for row in filled]) for i in range(len(header)))
    return Table(header, columns, np.arange(len(filled)))


def _parsed(cells: list[str]) -> Cells:
    """Numbers where every cell is one or empty; otherwise text, with None for the empty ones."""
    filled = [None if cell.strip() in EMPTY else cell for cell in cells]
    try:
        if any("_" in cell for cell in filled if cell is not None):  # Python alone reads 1_000
            raise ValueError
        if all(cell is not None and cell.strip().lstrip("+-").isdecimal() for cell in filled):
            return np.array([int(cell) for cell in cells], dtype=np.int64)
        return np.array([np.nan if cell is None else float(cell) for cell in filled])
    except (ValueError, OverflowError):
        return typed(filled)
