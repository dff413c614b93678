"""Reads a table of runs from a file: CSV, JSON lines or Parquet, told apart by the ending."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparselaw.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "csv",
    ".jsonl": "json lines",
    ".ndjson": "json lines",
    ".json": "json lines",
    ".parquet": "parquet",
    ".pq": "parquet",
}


def read_table(path: str | Path) -> pd.DataFrame:
    """Every column as it is in the file; rows are judged later, where they can be counted."""
    file = Path(path)
    kind = ENDINGS.get(file.suffix.lower())
    if kind is None:
        raise InputError("file", path, f"ends in '{file.suffix}'", "give a .csv, .jsonl or .parquet file")
    if file.is_dir():
        raise InputError("file", path, "is a folder", "give a file")
    if not file.exists():
        raise InputError("file", path, "does not exist", "check the name")
    if file.stat().st_size == 0:
        raise InputError("file", path, "is empty", "give a table with N, D and loss")
    try:
        frame = _read(file, kind)
    except (PermissionError, IsADirectoryError):
        raise InputError("file", path, "may not be read", "check its permissions") from None
    except ImportError:
        raise InputError(
            "file", path, "needs pyarrow to be read", "pip install 'sparselaw[parquet]' or give a CSV"
        ) from None
    except (ValueError, TypeError, AttributeError, OSError, KeyError) as error:
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise InputError(
            "file", path, f"is not readable as {kind} ({reason})", "check its contents"
        ) from None
    if frame.shape[0] == 0:
        raise InputError("file", path, "has a header and no rows", "give at least a few runs")
    return frame


def _read(file: Path, kind: str) -> pd.DataFrame:
    import pandas as pd

    if kind == "parquet":
        return pd.read_parquet(file)
    if kind == "json lines":
        return pd.read_json(file, lines=True)
    form: dict[str, Any] = {
        "sep": "\t" if kind == "tsv" else ",",
        "skipinitialspace": True,
        "encoding": "utf-8-sig",
    }
    frame: pd.DataFrame = pd.read_csv(file, low_memory=False, **form)
    header = pd.read_csv(file, header=None, nrows=1, dtype=str, **form).iloc[0]
    if header.dropna().duplicated().any():  # pandas renames the second; a reader must be asked
        names = [name if pd.isna(text) else text for name, text in zip(frame.columns, header, strict=False)]
        frame.columns = pd.Index(names)
    return frame
