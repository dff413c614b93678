"""Reads a table of runs from what people have: a file of any common kind, a folder, or standard input.

In tables with separators these are commas, semicolons, tabs or bars, and numbers have points or commas.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from sparselaw.errors import InputError
from sparselaw.files import MAX_SIZE, check_archive, check_bytes, open_unpacked, read_unpacked

if TYPE_CHECKING:
    import pandas as pd

KINDS = {
    "csv": (".csv", ".txt"),
    "tsv": (".tsv", ".tab"),
    "json": (".jsonl", ".ndjson", ".json"),
    "parquet": (".parquet", ".pq"),
    "excel": (".xlsx", ".xls"),
    "wandb": (".wandb",),
}
EXTRAS = {"parquet": ("pyarrow", "parquet"), "excel": ("openpyxl", "excel")}
STDIN = "-"
HELD = 4  # times over, text that is made into a table
CELL_BYTES = 50  # of a sheet while it is read
PLACE = re.compile(rb'<c [^>]*?r="([A-Z]{1,3})([0-9]{1,7})"')
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
LOOKED_AT = 30  # lines
THOUSANDS = re.compile(r"^[+-]?\d{1,3}(,\d{3})+(\.\d*)?$")
DECIMAL_COMMA = re.compile(r"^[+-]?\d*,\d+([eE][+-]?\d+)?$")


def read_table(path: str | Path) -> pd.DataFrame:
    """Every column as it is in the file; rows are judged later, where they can be counted.

    ``-`` is standard input. A folder holds one run in each file: see trackers.py.
    """
    if str(path) == STDIN:
        return _checked(path, "standard input", _read_standard_input)
    file = Path(path)
    if file.is_dir():
        from sparselaw.fitting.trackers import read_folder

        return read_folder(file, read_table)
    kind = kind_of_file(file)
    if kind is None:
        known = ".csv, .tsv, .json, .jsonl, .parquet or .xlsx file (also .gz), or a folder"
        raise InputError("file", path, f"ends in '{file.suffix}'", f"give a {known}")
    if not file.exists():
        raise InputError("file", path, "does not exist", "check the name")
    if file.stat().st_size == 0:
        raise InputError("file", path, "is empty", "give a table with N, D and loss")
    return _checked(path, kind, lambda: _read(file, kind))


def kind_of_file(file: Path) -> str | None:
    """By its ending, before .gz where there is one."""
    name = file.with_suffix("") if file.suffix.lower() == ".gz" else file
    return next((kind for kind, endings in KINDS.items() if name.suffix.lower() in endings), None)


def _checked(path: str | Path, kind: str, read: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """What ``read`` gives, with at least one row; whatever a library says against it is one line."""
    package, extra = EXTRAS.get(kind, ("a package", "all"))
    try:
        frame = read()
    except InputError as error:  # a part of the file is named: say of which
        raise InputError("file", path, error.condition, error.remedy) from None
    except (PermissionError, IsADirectoryError):
        raise InputError("file", path, "may not be read", "check its permissions") from None
    except ImportError:
        remedy = f"pip install 'sparselaw[{extra}]' or give a CSV"
        raise InputError("file", path, f"needs {package} to be read", remedy) from None
    except MemoryError:
        raise InputError("file", path, "asks for more memory than there is", "give less of it") from None
    except Exception as error:
        deep = "nested too deeply" if isinstance(error, RecursionError) else ""
        reason = deep or " ".join(str(error).split())[:120] or type(error).__name__
        condition = f"is not readable as {kind} ({reason})"
        raise InputError("file", path, condition, "check its contents, or save it as CSV") from None
    if len(frame) == 0:
        raise InputError("file", path, "has a header and no rows", "give at least a few runs")
    return frame


def _read(file: Path, kind: str) -> pd.DataFrame:
    import pandas as pd

    if kind == "parquet":
        _check_parquet(file)
        return pd.read_parquet(file)
    if kind == "excel":
        return _read_sheet(file)
    if kind == "wandb":
        from sparselaw.fitting.trackers import read_wandb

        return read_wandb(file)
    if kind == "json":
        return read_json(read_unpacked(file, HELD))
    return read_separated(file, "\t" if kind == "tsv" else None)


def _read_standard_input() -> pd.DataFrame:
    """JSON where it begins like it, else a table with separators."""
    content = sys.stdin.buffer.read(MAX_SIZE.get() // HELD + 1)
    check_bytes(STDIN, HELD * len(content), "what is piped in")
    if not content.strip():
        raise InputError("file", STDIN, "is empty", "pipe a table with N, D and loss")
    if content.lstrip()[:1] in (b"[", b"{"):
        return read_json(content)
    return read_separated(io.BytesIO(content))


def _check_parquet(file: Path) -> None:
    """A column of one value packs to nothing: what it will be in memory is in the file's own summary."""
    from importlib import import_module

    told = import_module("pyarrow.parquet").ParquetFile(file).metadata
    cells = float(told.num_rows) * told.num_columns
    check_bytes(file, 8.0 * cells, f"its table of {told.num_rows} rows", file.stat().st_size)


def _check_sheets(file: Path) -> None:
    """A sheet is read as the whole rectangle that its cells reach: one cell far out asks for gigabytes."""
    import zipfile

    check_archive(file)
    with zipfile.ZipFile(file) as archive:
        for name in archive.namelist():
            if not name.startswith("xl/worksheets/"):
                continue
            rows = columns = 0
            with archive.open(name) as sheet:
                rest = b""
                while piece := sheet.read(1 << 20):
                    for letters, row in PLACE.findall(rest + piece):
                        column = 0
                        for letter in letters:
                            column = 26 * column + letter - 64
                        rows, columns = max(rows, int(row)), max(columns, column)
                    rest = piece[-200:]
            size = f"a sheet of {rows} rows and {columns} columns"
            check_bytes(file, CELL_BYTES * float(rows) * columns, size)


def _read_sheet(file: Path) -> pd.DataFrame:
    """The first sheet; a name that stands twice stays so, for pandas would rename the second."""
    import pandas as pd

    if file.suffix.lower() == ".xlsx":
        _check_sheets(file)
    cells = pd.read_excel(file, header=None)
    names = [f"column {i}" if pd.isna(name) else str(name) for i, name in enumerate(cells.iloc[0])]
    return cells.iloc[1:].set_axis(names, axis=1).reset_index(drop=True).infer_objects()


def read_json(content: bytes) -> pd.DataFrame:
    """An array of objects, JSON lines, an object of columns, {columns, data}, or one that holds an array.

    Objects within objects (the config and summary of a tracker) become columns of their own.
    """
    import json

    import pandas as pd

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError("file", "", f"has an object that names {twice} twice", "rename one of them")
        return dict(pairs)

    try:
        found = json.loads(content, object_pairs_hook=once)
    except json.JSONDecodeError:
        found = [json.loads(line, object_pairs_hook=once) for line in content.splitlines() if line.strip()]
    if isinstance(found, dict):
        if set(found) == {"columns", "data"}:  # a table logged with wandb
            return pd.DataFrame(found["data"], columns=found["columns"])
        lists = [v for v in found.values() if isinstance(v, list) and v and isinstance(v[0], dict)]
        if len(lists) != 1 and all(isinstance(v, (list, dict)) for v in found.values()):
            return pd.DataFrame(found)
        found = lists[0] if len(lists) == 1 else [found]
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise ValueError("not an array of objects")
    frame = pd.json_normalize(found)
    short = [str(name).rsplit(".", 1)[-1] for name in frame.columns]
    names = [s if short.count(s) == 1 else str(n) for s, n in zip(short, frame.columns, strict=True)]
    return frame.set_axis(names, axis=1)


def read_separated(source: Path | IO[bytes], separator: str | None = None) -> pd.DataFrame:
    """Every column as it is; the separator and the decimal sign are read off the first lines."""
    import pandas as pd

    lines = _first_lines(source)
    separator = separator or separator_of(lines)
    cells = _cells(lines, separator)
    decimal = "," if separator != "," and has_decimal_commas(cells[1:]) else "."
    opened: Any = nullcontext(source)
    if isinstance(source, Path):
        opened = open_unpacked(source, lines=True, held=HELD)
    try:
        with opened as file:
            frame: pd.DataFrame = pd.read_csv(
                file, sep=separator, decimal=decimal, skipinitialspace=True, encoding="utf-8-sig",
                low_memory=False,
            )  # fmt: skip
    except pd.errors.ParserError as error:
        raise _ragged(str(error), separator, cells) from None
    if separator == "," and cells and len(cells[0]) > 1 and not isinstance(frame.index, pd.RangeIndex):
        raise _ragged(f"Expected {len(cells[0])} fields, saw {len(cells[1])}", separator, cells)
    header = cells[0] if cells else []
    named = [name for name in header if name.strip()]
    if len(set(named)) < len(named):  # pandas renames the second; a reader must be asked
        frame.columns = pd.Index([text or name for name, text in zip(frame.columns, header, strict=False)])
    return frame


def separator_of(lines: list[str]) -> str:
    """The one that gives the header and the rows the same number of cells, most cells first.

    >>> separator_of(["N;D;loss", "1;2;3,5"])
    ';'
    """
    scores = {",": (0, 0, 0)}
    for separator in SEPARATORS:
        header, *rows = [len(row) for row in _cells(lines, separator)] or [0]
        alike = sum(n == header for n in rows)
        if header > 1:
            scores[separator] = (int(alike == len(rows)), header, alike)
    return max(scores, key=scores.__getitem__)


def has_decimal_commas(rows: list[list[str]]) -> bool:
    """Is a comma in a number its decimal sign? 1,000,000 and 3,5 tell; 1,234 alone is taken as a decimal."""
    every = [cell.strip() for row in rows for cell in row]
    commas = [c for c in every if THOUSANDS.match(c) or DECIMAL_COMMA.match(c)]
    if not commas or any(c.count(",") > 1 or "." in c for c in commas):
        return False
    points = any(re.match(r"^[+-]?\d+\.\d+", c) for c in every)
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
    if separator == "," and any(re.fullmatch(r"\d+", row[-1].strip()) for row in cells[1:] if row):
        advice = "put semicolons or tabs between the columns if numbers have decimal commas, or quote them"
        return InputError("file", "", condition, advice)
    return InputError("file", "", condition, "check that row")


def _first_lines(source: Path | IO[bytes]) -> list[str]:
    """As text; what is not text shows when the whole is read."""
    if isinstance(source, Path):
        with open_unpacked(source, lines=True) as opened:
            raw = [opened.readline(1_000_000) for _ in range(LOOKED_AT)]
    else:
        raw = [source.readline(1_000_000) for _ in range(LOOKED_AT)]
        source.seek(0)
    return [line.decode("utf-8-sig", errors="replace").rstrip("\r\n") for line in raw if line]
