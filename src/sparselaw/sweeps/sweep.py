"""Runs what is missing, keeps what is finished: a stream of records, and all of them in order."""

from __future__ import annotations

import functools
import math
import signal
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import ExitStack, nullcontext
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Self

from sparselaw.errors import check_size
from sparselaw.interrupts import no_more_ctrl_c
from sparselaw.progress import progress as display
from sparselaw.sweeps.batches import LONGEST_BATCH, Pending, cost_of
from sparselaw.sweeps.executors import (
    InProcess,
    SweepExecutor,
    TaskFunction,
    WorkerPool,
    all_cores,
    failure,
    run_batch,
    run_batch_in_worker,
)
from sparselaw.sweeps.store import Store, open_store
from sparselaw.sweeps.store.base import decode_record, encode_record
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


def run_sweep(tasks: Sequence[Task], **running: Any) -> list[Record]:
    """The record of every task, in the order of the tasks: ``stream`` with these arguments, to its end."""
    records = dict(stream(tasks, **running))
    return [records[task] for task in tasks]


# The loop that gives batches to idle workers, commits what comes back, and hands it on.

_WORTH_WORKERS = 1.0  # seconds of estimated work below which starting workers takes longer than the work
_DEATHS = 3  # of its worker, each time alone, before a task counts as failed
_POLL = 0.1
_GRACE = 0.5  # seconds that running batches get to finish when the sweep is stopped

Batch = list[tuple[Record, float]]


class SweepStopped(KeyboardInterrupt):
    """Ctrl-C during a sweep: how far it came. What is finished is in the store."""

    def __init__(self, done: int, total: int) -> None:
        super().__init__(f"stopped with {done} of {total} runs done")
        self.done, self.total = done, total


class Sweep:
    """The state of one run of the loop. The same task given twice is run once."""

    def __init__(
        self,
        tasks: Sequence[Task],
        function: TaskFunction | None,
        store: Store | None,
        executor: Executor | None,
        workers: int | None,
        retry: bool,
        cost: Callable[[Task], float],
        cancel: threading.Event | None,
    ) -> None:
        self._tasks, self._store, self._retry, self._cancel = tasks, store, retry, cancel
        if function is None:
            from sparselaw.trials import run as trial

            function = trial.run
        self._function = function
        self._workers = check_size("workers", all_cores() if workers is None else workers)
        self._executor, self._own_executor = executor, executor is None
        self._cost = cost
        self._ids = [task.id for task in tasks]
        self._places: dict[str, list[int]] = {}
        for index, name in enumerate(self._ids):
            self._places.setdefault(name, []).append(index)
        self._deaths: Counter[int] = Counter()
        self._running: dict[Future[Batch], list[int]] = {}
        self._done = 0
        self._costs: dict[int, float] = {}  # estimated seconds of what has to be run
        self.work = self.work_done = 0.0  # in these seconds: the pace is steadier than that of the count

    def finish(self) -> Iterator[tuple[int, Record]]:
        found = self._store.find(list(self._places)) if self._store else {}
        kept = {name: r for name, r in found.items() if not (self._retry and r.status == "failed")}
        for name, record in kept.items():
            yield from self._everywhere(name, record)
        first_places = [places[0] for name, places in self._places.items() if name not in kept]
        if not first_places:
            return
        self._costs = {index: self._cost(self._tasks[index]) for index in first_places}
        self.work = sum(self._costs.values())
        self._pending = Pending(self._costs)
        if self._executor is None:
            self._executor = self._choose_executor()
        ended = False
        try:
            with StopRequest() as stop:
                yield from self._loop(stop)
            ended = not self._running
        except SweepStopped:
            raise
        except KeyboardInterrupt:
            raise SweepStopped(self._done, len(self._tasks)) from None
        finally:
            self._leave(self._executor, ended)

    def _loop(self, stop: StopRequest) -> Iterator[tuple[int, Record]]:
        patient_until = math.inf
        while self._pending or self._running:
            if self._cancelled():
                return (yield from self._last())
            here = isinstance(self._executor, InProcess)
            if here and self._own_executor and time.monotonic() > patient_until and not self._bound_to_script:
                self._executor, here = self._worker_pool(), False  # the estimate was too low
            stop.at_once = here  # a task that runs here can only be interrupted
            ready = self._fill()
            stop.at_once = False
            done, _ = wait(self._running, timeout=0 if ready else _POLL, return_when=FIRST_COMPLETED)
            fresh = self._collect(done)
            if not here:
                ready += self._fill()  # before committing, so that no worker waits for the disk
            self._commit(fresh)
            if math.isinf(patient_until):  # the first batch is over: it also had to load libraries
                patient_until = time.monotonic() + 2 * _WORTH_WORKERS
            for index, record in ready + [(index, record) for index, record, _ in fresh]:
                self.work_done += self._costs[index]
                yield from self._everywhere(self._ids[index], record)
            if stop.raised:
                yield from self._last()
                raise SweepStopped(self._done, len(self._tasks))

    def _cancelled(self) -> bool:
        return self._cancel is not None and self._cancel.is_set()

    def _fill(self) -> list[tuple[int, Record]]:
        """Give every idle worker a batch. Returns what another command has finished in the meantime."""
        theirs: list[tuple[int, Record]] = []
        executor = self._executor
        assert executor is not None
        run = run_batch if isinstance(executor, InProcess) else run_batch_in_worker
        slots = executor.slots() if isinstance(executor, SweepExecutor) else all_cores()
        while self._pending and len(self._running) < slots:
            batch = self._pending.next_batch(slots)
            if self._store is not None:
                found = self._store.find([self._ids[index] for index in batch])
                good = {name: record for name, record in found.items() if record.status != "failed"}
                theirs += [(i, good[self._ids[i]]) for i in batch if self._ids[i] in good]
                batch = [i for i in batch if self._ids[i] not in good]
            if batch:
                tasks = [self._tasks[index] for index in batch]
                self._running[executor.submit(run, self._function, tasks)] = batch
        return theirs

    def _collect(self, done: set[Future[Batch]]) -> list[tuple[int, Record, float]]:
        """The records that workers returned. Tasks whose worker died are put back, to be run again."""
        fresh: list[tuple[int, Record, float]] = []
        for future in done:
            batch = self._running.pop(future)
            try:
                outcomes = future.result()
            except CancelledError:
                executor = self._executor
                raise executor.lost() if isinstance(executor, SweepExecutor) else RuntimeError from None
            except Exception as error:
                fresh += self._lost(batch, error)
                continue
            for index, (record, seconds) in zip(batch, outcomes, strict=True):
                self._pending.learn(index, seconds)
                # The spelling of the store: a record is the same whether it was just run or read back.
                fresh.append((index, decode_record(encode_record(record)), seconds))
        return fresh

    def _lost(self, batch: list[int], error: BaseException) -> list[tuple[int, Record, float]]:
        """After a worker died: each task of its batch runs again alone, to find the one that kills."""
        if len(batch) > 1:
            for index in batch:
                self._pending.put_back_alone(index)
            return []
        (index,) = batch
        self._deaths[index] += 1
        if isinstance(error, BrokenExecutor) and self._deaths[index] < _DEATHS:
            self._pending.put_back_alone(index)
            return []
        reason = f"its worker failed ({type(error).__name__})"
        if isinstance(error, BrokenExecutor):
            reason = f"its worker process died {_DEATHS} times (out of memory?)"
        return [(index, failure(reason), 0.0)]

    def _commit(self, fresh: list[tuple[int, Record, float]]) -> None:
        if self._store is not None and fresh:
            self._store.add((self._tasks[index], record, seconds) for index, record, seconds in fresh)

    def _everywhere(self, name: str, record: Record) -> Iterator[tuple[int, Record]]:
        """Yield the record for every place in the list that holds the same task."""
        for index in self._places[name]:
            self._done += 1
            yield index, record

    def _last(self) -> Iterator[tuple[int, Record]]:
        """When the sweep is stopped: the records that running batches finish within half a second."""
        done, _ = wait(self._running, timeout=_GRACE)
        fresh = self._collect(done)
        self._commit(fresh)
        for index, record, _ in fresh:
            yield from self._everywhere(self._ids[index], record)

    def _choose_executor(self) -> SweepExecutor:
        """This process if the work is short, and each task too where someone may cancel; else workers."""
        soon = self.work < _WORTH_WORKERS
        if soon and self._cancel is not None:
            soon = max(self._costs.values()) < LONGEST_BATCH
        return InProcess() if soon or self._bound_to_script else self._worker_pool()

    @functools.cached_property
    def _bound_to_script(self) -> bool:
        """Whether tasks have parts that only the running script or notebook defines.

        A worker could find them by running the script again, which not every script survives.
        """
        if not any("__main__" in task.modules for task in self._tasks):
            return False
        warnings.warn(
            "inputs, features or a solver are defined in the script itself: one process runs all; "
            "define them in a module of their own to use all cores",
            stacklevel=2,
        )
        return True

    def _worker_pool(self) -> WorkerPool:
        import_main = getattr(self._function, "__module__", None) == "__main__"
        return WorkerPool(max(1, min(self._workers, len(self._pending))), import_main=import_main)

    def _leave(self, executor: Executor, ended: bool) -> None:
        with nullcontext() if ended else no_more_ctrl_c():
            for future in self._running:
                future.cancel()
            if not ended and isinstance(executor, SweepExecutor):
                executor.abort()
            if self._own_executor:
                executor.shutdown(wait=ended)


class StopRequest:
    """While open, Ctrl-C or SIGTERM only raises the flag; the second one interrupts as usual.

    With ``at_once`` the first one does.
    """

    def __init__(self) -> None:
        self.raised = self.at_once = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self.raised or self.at_once:
            raise KeyboardInterrupt
        self.raised = True
