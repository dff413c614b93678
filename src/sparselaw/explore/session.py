"""What the questions of one page or widget share: workers, uploads, and how much may run at once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Self, cast

from sparselaw.errors import InputError, one_line
from sparselaw.explore.call import Call, refusal
from sparselaw.explore.uploads import Uploads
from sparselaw.files import limited_to
from sparselaw.sweeps.executors import WorkerPool, all_cores

MOST_AT_ONCE = 3
LARGEST_UNPACKED = 200 << 20  # bytes of memory that a dropped file may ask for
SLOW_QUESTIONS = frozenset(
    {"surface", "budget", "budget/frontier"}
)  # questions whose answers may take a while
FIRST = {
    "phase": {"alpha1": "1", "alpha2": "0.3"},
    "surface": {"alpha1": "1", "alpha2": "0.3", "surface": "leading"},
}
_LAST_WORDS = 3.0  # seconds that jobs get to end their workers
_POLL = 0.1  # seconds between two looks at whether somebody cancelled

_log = logging.getLogger("sparselaw.explore")


class Session:
    """Answers calls by the views that are registered, whoever carries them: HTTP or a notebook's messages."""

    def __init__(self) -> None:
        self.bench, self.uploads, self.long = Bench(), Uploads(), LongAnswers()
        self._running: set[threading.Event] = set()
        self.idle = threading.Event()  # set while nothing runs
        self.idle.set()
        self._lock = threading.Lock()

    def prepare(self) -> None:
        """Load the library and start the workers, while the person still looks at an empty page."""
        from sparselaw.explore.views import VALUES

        self.long.prepare()
        self.bench.prepare()
        for name, given in FIRST.items():
            VALUES[name](Call(given=given, session=self))

    def values(self, name: str, given: dict[str, str]) -> dict[str, Any]:
        """The answer to a question that takes milliseconds. KeyError where there is no such question."""
        from sparselaw.explore.views import VALUES

        view = VALUES[name]
        try:
            with limited_uploads():
                return view(Call(given=given, session=self))
        except Exception as error:
            return _said(name, error)

    def ask(self, name: str, given: dict[str, str]) -> Future[dict[str, Any]]:
        """The same without waiting: from the process for full curves, or from here where that fails.

        To cancel it gives up what has not begun there.
        """
        found: Future[dict[str, Any]] = Future()

        def here() -> None:
            if found.set_running_or_notify_cancel():
                found.set_result(self.values(name, given))

        if not self.long.takes(name, given):
            # not of a pool: its threads would hold up the end of the program
            threading.Thread(target=here, daemon=True).start()
            return found
        there = self.long.submit(name, given)

        def settle(_: object) -> None:
            if there.cancelled() or there.exception() is not None:
                here()
            elif found.set_running_or_notify_cancel():
                found.set_result(there.result())

        found.add_done_callback(lambda _: there.cancel())
        there.add_done_callback(settle)
        return found

    def lines(
        self, name: str, given: dict[str, str], body: bytes, stop: threading.Event
    ) -> Iterator[dict[str, Any]]:
        """The answer to one that takes longer, line by line; the last one has ``end``: how it ended."""
        from sparselaw.explore.views import STREAMS

        stream = STREAMS[name]
        try:
            with self._place(stop), limited_uploads():
                yield from stream(Call(given=given, session=self, body=body, stop=stop))
            yield {"end": "cancelled" if stop.is_set() else "done"}
        except Exception as error:
            yield {"end": "refused" if isinstance(error, InputError) else "failed", **_said(name, error)}

    def close(self) -> None:
        with self._lock:
            for stop in self._running:
                stop.set()
        try:
            self.idle.wait(_LAST_WORDS)
            self.long.close()
            self.bench.close()
        finally:
            self.uploads.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @contextmanager
    def _place(self, stop: threading.Event) -> Iterator[None]:
        with self._lock:
            if len(self._running) >= MOST_AT_ONCE:
                raise InputError(
                    "running", len(self._running), "jobs are already under way", "cancel one first"
                )
            self._running.add(stop)
            self.idle.clear()
        try:
            yield
        finally:
            with self._lock:
                self._running.discard(stop)
                if not self._running:
                    self.idle.set()


def limited_uploads() -> AbstractContextManager[None]:
    """The limit of memory for dropped files: after unpacking, whatever their packed size."""
    return limited_to(LARGEST_UNPACKED, packing=1)


def _said(name: str, error: Exception) -> dict[str, Any]:
    """Why there is no answer."""
    if isinstance(error, InputError):
        return refusal(error)
    _log.error("the answer to %s failed", name, exc_info=error)
    return {"refused": one_line(f"a failure of ours: {type(error).__name__}: {error}")[:500], "name": name}


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
            if not self._closed and not self._idle:
                self._idle.append(pool)
                return
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


class LongAnswers:
    """Full curves, in a process of their own: while one is computed, sketches are drawn as fast as ever.

    In threads of one process they would share its interpreter, and a curve that nobody waits for any more
    would slow down every later one. Takes questions once it has been prepared.
    """

    def __init__(self) -> None:
        self._pool: WorkerPool | None = None
        self._closed, self._starting = False, threading.Lock()

    def prepare(self) -> None:
        """Start the process and let it answer the first question, which loads what it needs."""
        with self._starting:
            if self._closed:
                return
            pool = WorkerPool(1)
            pool.submit(answer, "surface", FIRST["phase"])
            self._pool = pool

    def takes(self, name: str, given: Mapping[str, str]) -> bool:
        """Whether the answer takes long, and needs nothing that only the session has: uploads and fits."""
        if self._pool is None or self._closed or name not in SLOW_QUESTIONS or given.get("draft") == "yes":
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
