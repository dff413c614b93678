"""Runs what is missing, keeps what is finished: a stream of records, and all of them in order.

The longest first, so that no worker is left with a minute of work when the others have none. Short ones
together, so that sending them costs little beside running them; but no batch is so long that the end of the
sweep waits for it. A task that might have killed its worker goes alone.
"""

from __future__ import annotations

import functools
import math
import signal
import threading
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import ExitStack, contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from statistics import median
from types import FrameType
from typing import Any

from sparselaw.errors import check_size
from sparselaw.interrupts import no_more_ctrl_c
from sparselaw.progress import progress as display
from sparselaw.sweeps.executors import (
    DaskExecutor,
    InProcess,
    SweepExecutor,
    TaskFunction,
    WorkerPool,
    all_cores,
    failure,
    run_batch,
)
from sparselaw.sweeps.store import Store, open_store
from sparselaw.sweeps.store.base import decode_record, encode_record
from sparselaw.trials import run as trial
from sparselaw.trials.task import Record, Task


def stream(
    tasks: Sequence[Task],
    *,
    function: TaskFunction | None = None,
    store: Store | str | Path | None = None,
    executor: Executor | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    retry: bool = False,
    progress: bool = False,
    stop: threading.Event | None = None,
    cost: Callable[[Task], float] | None = None,
) -> Iterator[tuple[Task, Record]]:
    """Each task with its record as it finishes, in no particular order; those in the store come first.

    What the store has is not run again, except failures with ``retry``. Without a store nothing is kept.
    ``workers`` is a number of processes (all cores by default); those of a Dask ``scheduler``, or an
    ``executor``, replace them. A trial that cannot fit in memory is refused at once, before any is run.
    Setting ``stop``, from any thread, ends the stream within a second, after what is finished by then.
    Closing it, or leaving the loop over it, does so too. Ctrl-C raises SweepStopped.
    """
    workers = check_size("workers", all_cores() if workers is None else workers)
    if function is None and executor is None and scheduler is None:
        workers = _workers_that_fit(tasks, workers)

    def streamed() -> Iterator[tuple[Task, Record]]:
        with ExitStack() as stack:
            used, kept = executor, store
            if scheduler is not None:
                used = stack.enter_context(DaskExecutor(scheduler))
            if kept is not None and not isinstance(kept, Store):
                kept = stack.enter_context(open_store(kept))
            show = stack.enter_context(display("runs", shown=progress))
            sweep = Sweep(tasks, function or trial.run, kept, used, workers, retry, cost or cost_of, stop)
            for count, (index, record) in enumerate(sweep.finish(), start=1):
                show(sweep.work_done, sweep.work, f"{count}/{len(tasks)}")
                yield tasks[index], record

    return streamed()


def run_sweep(tasks: Sequence[Task], **running: Any) -> list[Record]:
    """The record of every task, in the order of the tasks: ``stream`` with these arguments, to its end."""
    records = dict(stream(tasks, **running))
    return [records[task] for task in tasks]


def cost_of(task: Task) -> float:
    """The estimated seconds of one task."""
    return trial.needs_of(task).seconds


def _workers_that_fit(tasks: Sequence[Task], workers: int) -> int:
    """As many as can each hold the largest trial in memory at once."""
    cells = {(task.inputs, task.N, task.D): task for task in tasks}  # the seed changes no size
    for inputs in {task.inputs for task in cells.values()}:
        inputs.check_drawable()
    largest = max((trial.check_fits(task).memory for task in cells.values()), default=0.0)
    room = trial.MEMORY_SHARE * trial.available_memory()
    return workers if largest * workers <= room else max(1, int(room / largest))


# What to run next.

LONGEST_BATCH = 0.25  # seconds
MOST_IN_BATCH = 500
_SHARE = 4  # at the end of the sweep each worker still gets about this many batches
_REMEMBERED = 31  # tasks whose measured time corrects the estimates


class Pending:
    """The tasks (numbered) that wait for a worker, with their estimated seconds."""

    def __init__(self, costs: Mapping[int, float]) -> None:
        self._costs = costs
        self._queue = deque(sorted(costs, key=lambda index: (-costs[index], index)))
        self._alone: deque[int] = deque()
        self._left = sum(costs.values())  # estimated seconds waiting
        self._ratios: deque[float] = deque(maxlen=_REMEMBERED)  # measured over estimated

    def __len__(self) -> int:
        return len(self._queue) + len(self._alone)

    def learn(self, index: int, seconds: float) -> None:
        """Note how long a task took; the estimates of the others are corrected by it."""
        self._ratios.append(seconds / self._costs[index])

    def put_back_alone(self, index: int) -> None:
        """Put a task back into the queue, to be run in a batch of its own."""
        self._alone.append(index)

    def next_batch(self, workers: int) -> list[int]:
        """Take the tasks for one worker: those that fill a batch, or one that is longer than a batch."""
        if self._alone:
            return [self._alone.popleft()]
        if not self._ratios:  # nothing was measured yet: an estimate may be far too low
            return self._take(1)
        ratio = median(self._ratios)
        room = min(LONGEST_BATCH, ratio * self._left / (_SHARE * workers))
        count = 0
        for index in islice(self._queue, MOST_IN_BATCH):
            room -= ratio * self._costs[index]
            if room < 0.0:
                break
            count += 1
        return self._take(max(count, 1))

    def _take(self, count: int) -> list[int]:
        batch = [self._queue.popleft() for _ in range(min(count, len(self._queue)))]
        self._left -= sum(self._costs[index] for index in batch)
        return batch


# The loop that gives batches to idle workers, commits what comes back, and hands it on.

_WORTH_WORKERS = 1.0  # seconds of estimated work below which starting workers takes longer than the work
_DEATHS = 3  # of its worker, each time alone, before a task counts as failed
_POLL = 0.1
_GRACE = 0.5  # seconds that running batches get to finish when the sweep is stopped

Fresh = list[tuple[int, Record, float]]  # tasks by their number, with the seconds each took


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
        function: TaskFunction,
        store: Store | None,
        executor: Executor | None,
        workers: int,
        retry: bool,
        cost: Callable[[Task], float],
        cancel: threading.Event | None,
    ) -> None:
        self._tasks, self._store, self._retry, self._cancel = tasks, store, retry, cancel
        self._function, self._cost, self._workers = function, cost, workers
        self._executor, self._own_executor = executor, executor is None
        self._ids = [task.id for task in tasks]
        self._places: dict[str, list[int]] = {}
        for index, name in enumerate(self._ids):
            self._places.setdefault(name, []).append(index)
        self._deaths: Counter[int] = Counter()
        self._running: dict[Future[list[tuple[Record, float]]], list[int]] = {}
        self._done = 0
        self._costs: dict[int, float] = {}  # estimated seconds of what has to be run
        self.work = self.work_done = 0.0  # in these seconds: the pace is steadier than that of the count

    def finish(self) -> Iterator[tuple[int, Record]]:
        found = self._store.find(list(self._places)) if self._store else {}
        kept = {name: r for name, r in found.items() if not (self._retry and r.status == "failed")}
        yield from self._hand_on([(self._places[name][0], record) for name, record in kept.items()])
        missing = [places[0] for name, places in self._places.items() if name not in kept]
        if not missing:
            return
        self._costs = {index: self._cost(self._tasks[index]) for index in missing}
        self.work = sum(self._costs.values())
        self._pending = Pending(self._costs)
        if self._executor is None:
            # This process if the work is short, and each task too where someone may cancel; else workers.
            here = self.work < _WORTH_WORKERS
            if here and self._cancel is not None:
                here = max(self._costs.values()) < LONGEST_BATCH
            self._executor = InProcess() if here or self._bound_to_script else self._worker_pool()
        ended = False
        try:
            stop = StopRequest()
            with stop.heard():
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
            if self._cancel is not None and self._cancel.is_set():
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
            yield from self._hand_on(ready + [(index, record) for index, record, _ in fresh])
            if stop.raised:
                yield from self._last()
                raise SweepStopped(self._done, len(self._tasks))

    def _fill(self) -> list[tuple[int, Record]]:
        """Give every idle worker a batch. Returns what another command has finished in the meantime."""
        theirs: list[tuple[int, Record]] = []
        executor = self._executor
        assert executor is not None
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
                self._running[executor.submit(run_batch, self._function, tasks)] = batch
        return theirs

    def _collect(self, done: set[Future[list[tuple[Record, float]]]]) -> Fresh:
        """The records that workers returned. Tasks whose worker died are put back, to be run again."""
        fresh: Fresh = []
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

    def _lost(self, batch: list[int], error: BaseException) -> Fresh:
        """After a worker died: each task of its batch runs again alone, to find the one that kills."""
        died = isinstance(error, BrokenExecutor)
        if len(batch) == 1:
            self._deaths[batch[0]] += 1
            if not died or self._deaths[batch[0]] == _DEATHS:
                reason = f"its worker failed ({type(error).__name__})"
                if died:
                    reason = f"its worker process died {_DEATHS} times (out of memory?)"
                return [(batch[0], failure(reason), 0.0)]
        for index in batch:
            self._pending.put_back_alone(index)
        return []

    def _commit(self, fresh: Fresh) -> None:
        if self._store is not None and fresh:
            self._store.add((self._tasks[index], record, seconds) for index, record, seconds in fresh)

    def _hand_on(self, found: list[tuple[int, Record]]) -> Iterator[tuple[int, Record]]:
        """Yield each record for every place in the list that holds the same task."""
        for first, record in found:
            self.work_done += self._costs.get(first, 0.0)
            for index in self._places[self._ids[first]]:
                self._done += 1
                yield index, record

    def _last(self) -> Iterator[tuple[int, Record]]:
        """When the sweep is stopped: the records that running batches finish within half a second."""
        done, _ = wait(self._running, timeout=_GRACE)
        fresh = self._collect(done)
        self._commit(fresh)
        yield from self._hand_on([(index, record) for index, record, _ in fresh])

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
    """While heard, Ctrl-C or SIGTERM only raises the flag; the second one interrupts as usual.

    With ``at_once`` the first one does.
    """

    raised = at_once = False

    @contextmanager
    def heard(self) -> Iterator[None]:
        before: dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():
            before = {number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self.raised or self.at_once:
            raise KeyboardInterrupt
        self.raised = True
