"""Processes that answer for the page: a pool for its simulations, and one process for full curves."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from typing import Any, cast

from sparselaw.errors import InputError
from sparselaw.explore.call import Call, refusal
from sparselaw.sweeps.executors import WorkerPool, all_cores

# Worker processes that are started and warmed up before anybody asks for them.

_POLL = 0.1  # seconds between two looks at whether somebody cancelled


class Bench:
    """Pools of workers; one is kept ready. A cancelled one is ended, and another takes its place."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or max(1, all_cores() - 1)  # one core stays for the page
        self._idle: list[WorkerPool] = []
        self._lock, self._starting = threading.Lock(), threading.Lock()
        self._closed = False

    def prepare(self) -> None:
        """Start a pool and let each of its workers run the first, slow trials."""
        with self._starting:
            if self._closed:
                return
            pool = WorkerPool(self.workers)
            for _ in range(self.workers):
                pool.submit(warm_up)
            self._put_back(pool)

    @contextmanager
    def pool(self, stop: threading.Event) -> Iterator[WorkerPool]:
        """A pool for one job. When the job ends early its processes are ended within a second."""
        with self._lock:
            pool = self._idle.pop() if self._idle else None
        pool = pool or WorkerPool(self.workers)
        ended = False
        try:
            yield pool
            ended = not stop.is_set()
        finally:
            if ended:
                self._put_back(pool)
            else:
                pool.abort()
                if not self._closed:
                    threading.Thread(target=self.prepare, daemon=True).start()

    def map(
        self, stop: threading.Event, function: Callable[..., Any], items: Iterable[Any]
    ) -> Iterator[tuple[Any, Any]]:
        """Each item with its result as it is ready; ends at once when ``stop`` is set.

        ``function`` lives in a module, and takes and gives what can be pickled.
        """
        with self.pool(stop) as pool:
            waiting = {pool.submit(function, item): item for item in items}
            while waiting and not stop.is_set():
                done, _ = wait(waiting, timeout=_POLL, return_when=FIRST_COMPLETED)
                for future in done:
                    yield waiting.pop(future), future.result()

    def close(self) -> None:
        self._closed = True
        with self._starting, self._lock:  # what is being started is ended too
            idle, self._idle = self._idle, []
        for pool in idle:
            pool.abort()

    def _put_back(self, pool: WorkerPool) -> None:
        with self._lock:
            keep = not self._closed and not self._idle
            if keep:
                self._idle.append(pool)
        if not keep:
            pool.abort()


def warm_up() -> None:
    """The first trial of each kind loads its libraries and compiled code; later ones need not."""
    from sparselaw.inputs import DenseInputs, SparseInputs
    from sparselaw.solvers import MinNorm, Ridge
    from sparselaw.trials.run import run
    from sparselaw.trials.task import Task

    sparse, dense = SparseInputs(alpha1=1.0, alpha2=0.3), DenseInputs(alpha=2.3, dimension=50)
    for inputs in (sparse, dense):
        for N, D in ((4, 200), (64, 30)):
            for solver in (MinNorm(), Ridge(ridge=0.1)):
                run(Task(inputs=inputs, N=N, D=D, solver=solver))


# Full curves in a process of their own: while one is computed, sketches are drawn as fast as ever.
#
# In threads of one process they would share its interpreter, and a curve that nobody waits for any more would
# slow down every later one.

LONG = frozenset({"surface", "budget", "budget/frontier"})
WARM = ("surface", {"alpha1": "1", "alpha2": "0.3"})


class LongAnswers:
    """Takes questions once it has been prepared."""

    def __init__(self) -> None:
        self._pool: WorkerPool | None = None
        self._closed, self._starting = False, threading.Lock()

    def prepare(self) -> None:
        """Start the process and let it answer the first question, which loads what it needs."""
        with self._starting:
            if self._closed:
                return
            pool = WorkerPool(1)
            pool.submit(answer, *WARM)
            self._pool = pool

    def takes(self, name: str, given: Mapping[str, str]) -> bool:
        """Whether the answer takes long, and needs nothing that only the session has: uploads and fits."""
        if self._pool is None or self._closed or name not in LONG or given.get("draft") == "yes":
            return False
        if given.get("inputs") == "measured" or given.get("from") == "runs":
            return False
        trained = given.get("solver", "min-norm") == "min-norm"
        return given.get("surface") != "leading" or given.get("along") in ("D", "xi") or not trained

    def submit(self, name: str, given: Mapping[str, str]) -> Future[dict[str, Any]]:
        assert self._pool is not None
        return self._pool.submit(answer, name, dict(given))

    def close(self) -> None:
        self._closed = True
        with self._starting:  # what is being started is ended too
            if self._pool is not None:
                self._pool.abort()


def answer(name: str, given: dict[str, str]) -> dict[str, Any]:
    """In the other process: the answer, or why it is refused. Any other failure is raised."""
    from sparselaw.explore.views import VALUES

    try:
        return VALUES[name](Call(given=given, session=cast(Any, None)))
    except InputError as error:
        return refusal(error)
