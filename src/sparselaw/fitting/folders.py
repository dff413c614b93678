"""A folder of runs: TensorBoard event files, wandb's own, or the exported history of one run in each file."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sparselaw.errors import InputError
from sparselaw.files import files_below

if TYPE_CHECKING:
    import pandas as pd

TABLES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".csv.gz", ".jsonl.gz")
PANEL = re.compile(r"^(?P<run>.+) - (?P<metric>.+?)(?P<end>__MIN|__MAX)?$")  # a chart exported from wandb
STEPS = ("Step", "_step", "step")


def read_folder(folder: Path, read_table: Callable[[Path], pd.DataFrame]) -> pd.DataFrame:
    """One table with the column ``run``: every step of every run that has a loss or what its columns are.

    Quantities that are logged less often than the loss, such as the number of parameters, are carried along
    the run.
    """
    import pandas as pd

    from sparselaw.fitting.event_files import event_files, read_events

    events = event_files(folder)
    if events:
        parts = [
            read_events(files).assign(run=_run_name(folder, where)) for where, files in sorted(events.items())
        ]
        return _carried(pd.concat(parts, ignore_index=True))
    every = files_below(folder)
    kept = [file for file in every if file.name.endswith(".wandb")]
    if kept:
        return _carried(pd.concat([read_table(file) for file in kept], ignore_index=True))
    files = [file for file in every if file.name.lower().endswith(TABLES)]
    if not files:
        raise InputError(
            "file", folder, "is a folder without event files or tables", "give a file, or exported runs"
        )
    tables = [(file, from_panel(_each_once(file, read_table(file)))) for file in files]
    if any("run" in table for _, table in tables):  # charts: one metric in each file, all runs in it
        joined = pd.concat([table for _, table in tables], ignore_index=True)
        step = next((name for name in STEPS if name in joined), None)
        if step is not None and "run" in joined:
            joined = joined.groupby(["run", step], as_index=False, sort=False).first()
        return _carried(joined)
    parts = [table.assign(run=file.name.split(".")[0]) for file, table in tables]
    return _carried(pd.concat(parts, ignore_index=True))


def from_panel(table: pd.DataFrame) -> pd.DataFrame:
    """A chart exported from wandb has a column "run - metric" for each run: here one row for run and step."""
    import pandas as pd

    table = _each_once("", table)
    found = {name: PANEL.match(str(name)) for name in table.columns}
    step = next((name for name in STEPS if name in table.columns), None)
    if step is None or not any(found.values()):
        return table
    parts = []
    for name, match in found.items():
        if match is not None and match["end"] is None:
            part = pd.DataFrame({"run": match["run"], step: table[step], match["metric"]: table[name]})
            parts.append(part.dropna())
    whole = pd.concat(parts, ignore_index=True)
    return whole.groupby(["run", step], as_index=False, sort=False).first()


def _each_once(file: Path | str, table: pd.DataFrame) -> pd.DataFrame:
    """A table whose columns all have different names: which of two is meant cannot be told."""
    twice = table.columns[table.columns.duplicated()]
    if twice.size:
        raise InputError("file", file, f"has the column {str(twice[0])[:60]} twice", "rename one of them")
    return table


def _carried(table: pd.DataFrame) -> pd.DataFrame:
    """Gaps filled within a run, but not in losses: only steps where one was measured are rows."""
    losses = [name for name in table.columns if "loss" in str(name).lower()]
    others = [name for name in table.columns if name not in losses and name != "run"]
    filled = table.copy()
    filled[others] = table.groupby("run", sort=False)[others].transform(lambda c: c.ffill().bfill())
    held_out = [name for name in losses if "train" not in str(name).lower()] or losses
    return filled.dropna(subset=held_out, how="all").reset_index(drop=True) if held_out else filled


def _run_name(folder: Path, where: Path) -> str:
    name = str(where.relative_to(folder))
    return folder.name if name == "." else name
