"""Trials whose records are kept: the options of the commands that run some, and the way they run them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from sparselaw.cli.options import Options, flag, size, text, whole
from sparselaw.cli.output import Stopped, note
from sparselaw.interrupts import no_more_ctrl_c

if TYPE_CHECKING:
    from sparselaw.trials.task import Record, Task

SEED = whole("0", "Of the first trial; then the next numbers.")
TRIALS = Options(  # where records are kept, and who runs the trials
    out=text(None, "Write one row a trial to this .csv or .parquet file."),
    store=text(None, "Keep the runs here. [default: in your data folder]"),
    workers=size(None, "Number of processes. [default: all cores]"),
    scheduler=text(None, "Run on the Dask scheduler at this address.", "tcp://HOST:PORT"),
    retry=flag("--retry", "Run failed runs again."),
    quiet=flag("--quiet", "No progress bar."),
)


def run_kept(
    tasks: Sequence[Task], *, out: str | None, store: str | None, retry: bool, quiet: bool, **workers: Any
) -> list[tuple[Task, Record]]:
    """The tasks with their records, from the store or run now; also one row a run in ``out``."""
    from sparselaw.sweeps.runs_table import check_out
    from sparselaw.sweeps.store import default_store, open_store
    from sparselaw.sweeps.sweep import run_sweep

    path = store or default_store()
    if out is not None:
        check_out(out, path)
    running = {**workers, "retry": retry, "progress": not quiet}
    with open_store(path) as kept:
        try:
            done = list(zip(tasks, run_sweep(tasks, store=kept, **running), strict=True))
            write_runs(out, done)
        except KeyboardInterrupt:  # once or more often
            with no_more_ctrl_c():
                found = kept.find([task.id for task in tasks])
                finished = [(task, found[task.id]) for task in tasks if task.id in found]
                write_runs(out, finished)
                count = len(finished) - (count_failed(finished) if retry else 0)
                where = f"they are in {kept.path}: the same command goes on from there"
                note(f"stopped with {count} of {len(tasks)} runs done; {where}")
            raise Stopped from None
    return done


def count_failed(done: Sequence[tuple[Task, Record]]) -> int:
    return sum(record.status == "failed" for _, record in done)


def leave_failed(done: Sequence[tuple[Task, Record]]) -> None:
    """Say how many failed, and end with code 1 where some did."""
    if failed := count_failed(done):
        note(f"{failed} of {len(done)} runs failed; --retry runs them again, --out names the reasons")
        raise typer.Exit(1)


def write_runs(out: str | None, runs: list[tuple[Task, Record]]) -> None:
    """One row a run, to the file named by --out if there is one and anything is finished."""
    from pathlib import Path

    from sparselaw.sweeps.runs_table import row_of, write_table

    if out is not None and runs:
        write_table(Path(out), [row_of(task.identity(), record) for task, record in runs])
