"""Runs what is missing, keeps what is finished: a stream of records, and all of them in order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from pathlib import Path

from sparselaw.progress import progress as display
from sparselaw.sweeps.cost import cost_of
from sparselaw.sweeps.loop import Sweep
from sparselaw.sweeps.store import Store, open_store
from sparselaw.sweeps.worker import TaskFunction
from sparselaw.trials.task import Record, Task


def stream(
    tasks: Sequence[Task],
    *,
    function: TaskFunction | None = None,
    store: Store | str | Path | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    retry: bool = False,
    progress: bool = False,
    stop: threading.Event | None = None,
    cost: Callable[[Task], float] = cost_of,
) -> Iterator[tuple[Task, Record]]:
    """Each task with its record as it finishes, in no particular order; those in the store come first.

    What the store has is not run again, except failures with ``retry``. Without a store nothing is kept.
    ``workers`` is a number of processes (all cores by default); ``executor`` replaces them.
    Setting ``stop``, from any thread, ends the stream within a second, after what is finished by then.
    Closing it, or leaving the loop over it, does so too. Ctrl-C raises SweepStopped.
    """
    with ExitStack() as stack:
        if store is not None and not isinstance(store, Store):
            store = stack.enter_context(open_store(store))
        show = stack.enter_context(display("runs", shown=progress))
        sweep = Sweep(tasks, function, store, executor, workers, retry, cost, stop)
        for count, (index, record) in enumerate(sweep.finish(), start=1):
            show(sweep.work_done, sweep.work, f"{count}/{len(tasks)}")
            yield tasks[index], record


def run_sweep(
    tasks: Sequence[Task],
    *,
    function: TaskFunction | None = None,
    store: Store | str | Path | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    retry: bool = False,
    progress: bool = False,
    cost: Callable[[Task], float] = cost_of,
) -> list[Record]:
    """The record of every task, in the order of the tasks: ``stream``, to its end."""
    runs = stream(
        tasks, function=function, store=store, executor=executor, workers=workers, retry=retry,
        progress=progress, cost=cost,
    )  # fmt: skip
    records = dict(runs)
    return [records[task] for task in tasks]
