"""What runs inside a worker: a batch of tasks, each to a record, with one thread for linear algebra."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache
from multiprocessing import connection, parent_process

from sparselaw.interrupts import ctrl_c_kept
from sparselaw.trials.task import Record, Task

TaskFunction = Callable[[Task], Record]

# Read by the linear algebra libraries when they are loaded.
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "BLIS_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}


def run_batch(function: TaskFunction, tasks: Sequence[Task]) -> list[tuple[Record, float]]:
    """The record of each task and the seconds it took. A task that raises has a record that says so."""
    outcomes = []
    for task in tasks:
        start = time.perf_counter()
        record = _run(function, task)
        outcomes.append((record, time.perf_counter() - start))
    return outcomes


def run_batch_in_worker(function: TaskFunction, tasks: Sequence[Task]) -> list[tuple[Record, float]]:
    """The same, in a process that does nothing else: it keeps to one thread from here on."""
    _use_one_thread()
    return run_batch(function, tasks)


def start_worker() -> None:
    """Leave Ctrl-C to the parent, and do not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def failure(reason: str) -> Record:
    return Record(loss=math.nan, status="failed", reason=reason)


def _run(function: TaskFunction, task: Task) -> Record:
    try:
        with ctrl_c_kept():
            return function(task)
    except Exception as error:  # whatever it is, it belongs to this cell and not to the sweep
        return failure(" ".join(f"{type(error).__name__}: {error}".split()))


@cache
def _use_one_thread() -> None:
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
