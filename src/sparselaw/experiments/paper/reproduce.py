"""Runs the items one after the other, writes what each gives, and builds the report from them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psutil
from threadpoolctl import threadpool_limits

from sparselaw.errors import InputError, check_size
from sparselaw.experiments.paper.item import Context, chosen, item
from sparselaw.experiments.paper.saved_items import KEPT, Summary, remember, save_item, write_summary
from sparselaw.interrupts import no_more_ctrl_c
from sparselaw.sweeps.executors import WorkerPool, all_cores
from sparselaw.sweeps.store import Store, open_store
from sparselaw.sweeps.sweep import run_sweep
from sparselaw.trials.task import Record, Task

STORE = "runs.sqlite"


def reproduce(
    names: Sequence[str] = (),
    *,
    out: Path,
    quick: bool = False,
    workers: int | None = None,
    progress: bool = False,
    say: Callable[[str], None] | None = None,
) -> Summary:
    """Make the named items (all by default) in the folder ``out``. What its store has is not run again."""
    wanted = chosen(names)
    count = all_cores() if workers is None else check_size("workers", workers)
    folder = _folder(out)
    started = time.perf_counter()
    # One BLAS thread here as in the workers, so that they do not get in each other's way.
    with (
        _no_other_store(),
        open_store(folder / STORE) as store,
        WorkerPool(count) as pool,
        threadpool_limits(1),
    ):
        context = Context(
            quick=quick,
            run=partial(_run, store=store, pool=pool, progress=progress),
            remember=partial(remember, folder / KEPT),
            map=pool.map,
        )
        try:
            for place, name in enumerate(wanted, start=1):
                if say is not None:
                    say(f"{name} ({place} of {len(wanted)}): {item(name).title}")
                begun, used = time.perf_counter(), processor_seconds()
                result = item(name).make(context)
                spent = (time.perf_counter() - begun, processor_seconds() - used)
                save_item(folder, item(name), result, quick, spent)
        except BaseException:  # Ctrl-C above all: do not wait for what the workers are at
            with no_more_ctrl_c():
                pool.abort()
            raise
    return write_summary(folder, time.perf_counter() - started)


@contextmanager
def _no_other_store() -> Iterator[None]:
    """Refusals of the store name --out as the remedy, since the store is a file of that folder."""
    try:
        yield
    except InputError as error:
        remedy = re.sub("name .*--store", "name another folder with --out", error.remedy)
        raise InputError(error.name, error.value, error.condition, remedy) from None


def _run(tasks: Sequence[Task], store: Store, pool: WorkerPool, progress: bool) -> list[Record]:
    """The records of trials that an item needs; one that failed before is tried again."""
    records = run_sweep(tasks, store=store, executor=pool, progress=progress, retry=True)
    failed = [record.reason for record in records if record.status == "failed"]
    if failed:
        raise RuntimeError(f"{len(failed)} of {len(records)} trials failed: {failed[0]}")
    return records


def _folder(out: Path) -> Path:
    try:
        (out / KEPT).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            "out", out, f"cannot be made ({error.strerror})", "name a folder you can write"
        ) from None
    return out


def processor_seconds() -> float:
    """Processor time so far, that of living workers included; a busy machine does not change it."""
    here = psutil.Process()
    total = 0.0
    for process in (here, *here.children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.Error:  # ended between the two calls
            continue
        total += times.user + times.system
    return total
