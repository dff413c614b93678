"""The loop that runs what is missing, keeps what is finished, and answers in the order of the tasks."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import ExitStack
from pathlib import Path

from sparselaw.errors import check_size
from sparselaw.sweeps.batches import Pending
from sparselaw.sweeps.cost import cost_of, kind_of
from sparselaw.sweeps.encoding import decode_record, encode_record
from sparselaw.sweeps.executors import InProcess, SweepExecutor, WorkerPool, all_cores
from sparselaw.sweeps.progress import Progress
from sparselaw.sweeps.stop import StopRequest
from sparselaw.sweeps.store import Store
from sparselaw.sweeps.worker import TaskFunction, failure, run_batch, run_batch_in_worker
from sparselaw.trials.task import Record, Task

_WORTH_WORKERS = 1.0  # seconds of estimated work below which starting workers takes longer than the work
_DEATHS = 3  # of its worker, each time alone, before a task counts as failed
_POLL = 0.1
_GRACE = 0.5  # seconds that running batches get to finish after Ctrl-C

Batch = list[tuple[Record, float]]


class SweepStopped(KeyboardInterrupt):
    """Ctrl-C during a sweep: how far it came. What is finished is in the store."""

    def __init__(self, done: int, total: int) -> None:
        super().__init__(f"stopped with {done} of {total} runs done")
        self.done, self.total = done, total


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
    """The record of every task, in the order of the tasks.

    What the store has is not run again, except failures with ``retry``. Without a store nothing is kept.
    ``workers`` is a number of processes (all cores by default); ``executor`` replaces them.
    """
    records: dict[int, Record] = {}
    with ExitStack() as stack:
        if store is not None and not isinstance(store, Store):
            store = stack.enter_context(Store(store))
        bar = stack.enter_context(Progress(len(tasks))) if progress and sys.stderr.isatty() else None
        sweep = _Sweep(tasks, function, store, executor, workers, retry, cost)
        for index, record in sweep.finish():
            records[index] = record
            if bar is not None:
                bar.advance(index, sweep.costs)
    return [records[index] for index in range(len(tasks))]


def stream(
    tasks: Sequence[Task],
    *,
    function: TaskFunction | None = None,
    store: Store | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    retry: bool = False,
    cost: Callable[[Task], float] = cost_of,
) -> Iterator[tuple[Task, Record]]:
    """Each task with its record as it finishes, in no particular order; those in the store come first."""
    for index, record in _Sweep(tasks, function, store, executor, workers, retry, cost).finish():
        yield tasks[index], record


class _Sweep:
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
    ) -> None:
        self._tasks, self._store, self._retry = tasks, store, retry
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
        self.costs: dict[int, float] = {}  # estimated seconds of what has to be run

    def finish(self) -> Iterator[tuple[int, Record]]:
        found = self._store.find(list(self._places)) if self._store else {}
        kept = {name: r for name, r in found.items() if not (self._retry and r.status == "failed")}
        for name, record in kept.items():
            yield from self._everywhere(name, record)
        first_places = [places[0] for name, places in self._places.items() if name not in kept]
        if not first_places:
            return
        self.costs = {index: self._cost(self._tasks[index]) for index in first_places}
        self._pending = Pending(self.costs, {index: kind_of(self._tasks[index]) for index in first_places})
        if self._executor is None:
            self._executor = self._choose_executor(sum(self.costs.values()))
        ended = False
        try:
            with StopRequest() as stop:
                yield from self._loop(stop)
            ended = True
        except SweepStopped:
            raise
        except KeyboardInterrupt:
            raise SweepStopped(self._done, len(self._tasks)) from None
        finally:
            self._leave(self._executor, ended)

    def _loop(self, stop: StopRequest) -> Iterator[tuple[int, Record]]:
        start = time.monotonic()
        while self._pending or self._running:
            here = isinstance(self._executor, InProcess)
            if here and self._own_executor and time.monotonic() > start + 2 * _WORTH_WORKERS:
                self._executor, here = self._worker_pool(), False  # the estimate was too low
            stop.at_once = here  # a task that runs here can only be interrupted
            ready = self._fill()
            done, _ = wait(self._running, timeout=0 if ready else _POLL, return_when=FIRST_COMPLETED)
            fresh = self._collect(done)
            if not here:
                ready += self._fill()  # before committing, so that no worker waits for the disk
            self._commit(fresh)
            for index, record in ready + [(index, record) for index, record, _ in fresh]:
                yield from self._everywhere(self._ids[index], record)
            if stop.raised:
                self._stop()

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
        """What came back; what was lost with its worker waits again."""
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
        for index in self._places[name]:
            self._done += 1
            yield index, record

    def _stop(self) -> None:
        done, _ = wait(self._running, timeout=_GRACE)
        fresh = self._collect(done)
        self._commit(fresh)
        self._done += sum(len(self._places[self._ids[index]]) for index, _, _ in fresh)
        raise SweepStopped(self._done, len(self._tasks))

    def _choose_executor(self, seconds: float) -> SweepExecutor:
        return InProcess() if seconds < _WORTH_WORKERS else self._worker_pool()

    def _worker_pool(self) -> WorkerPool:
        import_main = getattr(self._function, "__module__", None) == "__main__"
        return WorkerPool(max(1, min(self._workers, len(self._pending))), import_main=import_main)

    def _leave(self, executor: Executor, ended: bool) -> None:
        for future in self._running:
            future.cancel()
        if not ended and isinstance(executor, SweepExecutor):
            executor.abort()
        if self._own_executor:
            executor.shutdown(wait=ended)
