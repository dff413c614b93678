"""Where batches run: worker processes on this machine, this very process, or a cluster with Dask.

Workers are started by "spawn", on every system alike. A forked child would inherit locks held by the
parent's threads, its BLAS threads and its open store; a spawned one starts clean, takes its thread settings
from the environment, and learns at once when its parent dies. It costs an import per worker, about a second,
which is why small sweeps run in this process.

Each worker is a pool of its own. When one dies (out of memory, say), the batch it was running is known and
the other workers go on undisturbed.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import re
import signal
import socket
import sys
import threading
import time
import types
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import connection, get_context, parent_process
from typing import Any, ParamSpec, TypeVar

from sparselaw.errors import InputError
from sparselaw.interrupts import ctrl_c_kept
from sparselaw.trials.task import ENGINE_VERSION, Record, Task

P = ParamSpec("P")
T = TypeVar("T")
_STARTS = 3
_LAST_WORDS = 1.0  # seconds for a pool to notice that its worker was killed; it takes milliseconds
_FILES_PER_WORKER = 10  # pipes, mostly
_OTHER_FILES = 256
MOST_WORKERS = 1000


class SweepExecutor(Executor):
    """An executor that knows how many batches it can use at once, and can drop all of them at once."""

    @abstractmethod
    def slots(self) -> int: ...

    @abstractmethod
    def abort(self) -> None:
        """Drop what is running and what waits, now."""

    def lost(self) -> Exception:
        """The error to raise when a batch was dropped although nobody asked for that."""
        return RuntimeError("a batch was dropped")


class InProcess(SweepExecutor):
    """Runs a batch when it is submitted, here."""

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        from sparselaw.trials.run import one_thread

        future: Future[T] = Future()
        with one_thread():
            future.set_result(function(*args, **kwargs))
        return future

    def slots(self) -> int:
        return 1

    def abort(self) -> None:
        pass


class WorkerPool(SweepExecutor):
    """A number of worker processes; one that dies is replaced by the next submit.

    However many are asked for, there are no more than the system has files for.
    """

    def __init__(self, workers: int, *, import_main: bool = False) -> None:
        workers = min(workers, MOST_WORKERS)
        allowed = _allow_open_files(_FILES_PER_WORKER * workers + _OTHER_FILES)
        workers = max(1, min(workers, (allowed - _OTHER_FILES) // _FILES_PER_WORKER))
        self._lanes = [_Lane(import_main) for _ in range(workers)]

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        lane = min(self._lanes, key=_Lane.load)
        return lane.submit(function, *args, **kwargs)

    def slots(self) -> int:
        return len(self._lanes)

    def abort(self) -> None:
        for lane in self._lanes:
            lane.kill()
        for lane in self._lanes:
            lane.join(_LAST_WORDS)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        for lane in self._lanes:
            lane.close(cancel_futures=cancel_futures)
        for lane in self._lanes if wait else []:
            lane.join()


class _Lane:
    """One worker process behind a pool of one."""

    def __init__(self, import_main: bool) -> None:
        self._import_main = import_main
        self._futures: list[Future[Any]] = []
        self._manager: threading.Thread | None = None
        self._open()

    def load(self) -> int:
        self._futures = [future for future in self._futures if not future.done()]
        return len(self._futures)

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        try:
            future = self._submit(function, *args, **kwargs)
        except BrokenProcessPool:
            self._reopen()
            future = self._submit(function, *args, **kwargs)
        self._futures.append(future)
        return future

    def kill(self) -> None:
        for process in list((self._pool._processes or {}).values()):
            process.kill()
        self.close(cancel_futures=True)

    def close(self, *, cancel_futures: bool) -> None:
        # The pool forgets its thread when it is told to close without waiting for it, so it is noted here.
        self._manager = getattr(self._pool, "_executor_manager_thread", None) or self._manager
        self._pool.shutdown(wait=False, cancel_futures=cancel_futures)

    def join(self, seconds: float | None = None) -> None:
        """Wait for the pool's thread: Python, if it ends while that thread does, may complain about it."""
        if self._manager is not None:
            self._manager.join(seconds)

    def _open(self) -> None:
        self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=start_worker)

    def _submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        if self._pool._processes:
            return self._pool.submit(function, *args, **kwargs)
        # It starts the process. Environment and main module belong to this one: one start at a time.
        with _starting, _as_a_child_wants(self._import_main):
            return self._pool.submit(function, *args, **kwargs)

    def _reopen(self) -> None:
        for _ in range(_STARTS):
            self._pool.shutdown(wait=False)
            self._open()
            try:
                self._submit(os.getpid).result()
                return
            except BrokenProcessPool:
                continue
        raise RuntimeError("worker processes die as soon as they are started")


_starting = threading.Lock()


@contextmanager
def _as_a_child_wants(import_main: bool) -> Iterator[None]:
    """What a spawned child inherits: one thread for linear algebra, and Ctrl-C blocked while it starts.

    Unless it needs the caller's script that is hidden from it, which would run again.
    """
    block = getattr(signal, "pthread_sigmask", None)  # not on Windows
    unblocked = block(signal.SIG_BLOCK, {signal.SIGINT}) if block else None
    main, before = sys.modules["__main__"], {name: os.environ.get(name) for name in ONE_THREAD}
    try:
        os.environ.update(ONE_THREAD)
        if not import_main:
            sys.modules["__main__"] = types.ModuleType("__main__")
        yield
    finally:
        sys.modules["__main__"] = main
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        if block:
            block(signal.SIG_SETMASK, unblocked)


def _allow_open_files(count: int) -> int:
    """Ask the system for so many open files; how many it allows. The usual 1024 serve a hundred workers."""
    try:
        import resource
    except ImportError:  # not on Windows
        return count
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    if soft == unlimited or soft >= count:
        return count
    allowed = max(soft, count if hard == unlimited else min(count, hard))
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return allowed


def all_cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return multiprocessing.cpu_count()


# What runs inside a worker: a batch of tasks, each to a record. A trial takes one thread for linear algebra.

TaskFunction = Callable[[Task], Record]

_LIBRARIES = ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA")
# Read by the linear algebra libraries when they are loaded.
ONE_THREAD = dict.fromkeys([*(f"{name}_NUM_THREADS" for name in _LIBRARIES), "VECLIB_MAXIMUM_THREADS"], "1")


def run_batch(function: TaskFunction, tasks: Sequence[Task]) -> list[tuple[Record, float]]:
    """The record of each task and the seconds it took. A task that raises has a record that says so."""
    outcomes = []
    for task in tasks:
        start = time.perf_counter()
        try:
            with ctrl_c_kept():
                record = function(task)
        except Exception as error:  # whatever it is, it belongs to this cell and not to the sweep
            record = failure(" ".join(f"{type(error).__name__}: {error}".split()))
        outcomes.append((record, time.perf_counter() - start))
    return outcomes


def failure(reason: str) -> Record:
    return Record(loss=math.nan, status="failed", reason=reason)


def start_worker() -> None:
    """Leave Ctrl-C to the parent, and do not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


# A cluster behind a Dask scheduler, as an executor.


_PROTOCOLS = ("tcp", "tls", "ws", "wss")
_PATIENCE = 5  # seconds for a scheduler to answer
_PATIENCE_FOR_WORKERS = 30
_RECOUNT = 5.0
_AHEAD = 2  # batches per worker thread: one runs while the next is on its way


class DaskExecutor(SweepExecutor):
    """Batches go to the workers of the scheduler at ``address``; those of a dead worker go to another one."""

    def __init__(self, address: str) -> None:
        self._address = address
        if not (found := re.fullmatch(r"([a-z]+)://(.+):(\d+)", address)):
            raise self._refused("is not an address", "write tcp://host:port")
        if find_spec("distributed") is None:
            raise self._refused("needs dask.distributed", "pip install 'sparselaw[dask]'")
        protocol, host, port = found.groups()
        if protocol not in _PROTOCOLS:
            remedy = f"write {', '.join(_PROTOCOLS[:-1])} or {_PROTOCOLS[-1]} before ://"
            raise self._refused(f"{protocol} is no protocol of schedulers", remedy)
        try:
            _knock(protocol, host, int(port))
            self._client = _client(address)
        except Exception as error:  # dask's words for what does not talk as a scheduler does are many
            remedy = "start one with 'dask scheduler', or correct the address"
            raise self._refused(f"does not answer ({type(error).__name__})", remedy) from None
        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE_FOR_WORKERS)
            self._check_workers()
        except BaseException as error:
            _close(self._client)
            if isinstance(error, TimeoutError):
                remedy = f"start some with 'dask worker {address}'"
                raise self._refused("has no workers", remedy) from None
            raise
        self._executor = self._client.get_executor(pure=False)
        self._threads, self._counted = 0, -_RECOUNT

    def _refused(self, condition: str, remedy: str) -> InputError:
        return InputError("scheduler", self._address, condition, remedy)

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        try:
            future: Future[T] = self._executor.submit(function, *args, **kwargs)
        except Exception as error:
            raise self.lost() from error
        return future

    def slots(self) -> int:
        if time.monotonic() > self._counted + _RECOUNT:  # workers come and go
            try:
                self._threads = sum(self._client.nthreads().values())
            except Exception as error:
                raise self.lost() from error
            self._counted = time.monotonic()
        return _AHEAD * max(1, self._threads)

    def lost(self) -> Exception:
        remedy = "start it and run the same command again: what is committed is kept"
        return self._refused("the connection was lost", remedy)

    def abort(self) -> None:
        self._executor.shutdown(wait=False)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._executor.shutdown(wait=wait and not cancel_futures)
        _close(self._client)

    def _check_workers(self) -> None:
        """Every worker must have the same engine, or the cells would not be comparable."""
        try:
            versions: dict[str, Any] = self._client.run(engine_version)
        except ImportError:
            raise self._refused("its workers do not have sparselaw", "install sparselaw on them") from None
        for worker, version in versions.items():
            if version != ENGINE_VERSION:
                condition = f"worker {worker} has engine {version}, this one is {ENGINE_VERSION}"
                raise self._refused(condition, "install the same version of sparselaw everywhere")


def _knock(protocol: str, host: str, port: int) -> None:
    """Raise OSError unless something listens there that greets as a scheduler does.

    Dask's own client would go on trying for its whole patience where nothing listens, and would wait for
    ever for the greeting of something else.
    """
    with socket.create_connection((host.strip("[]"), port), timeout=_PATIENCE) as line:
        if protocol == "tcp" and not line.recv(1):
            raise ConnectionError


def _client(address: str) -> Any:
    """Dask's client. One that cannot be made is closed at once: at the program's end it would complain."""
    distributed: Any = import_module("distributed")
    client = distributed.Client.__new__(distributed.Client)
    try:
        client.__init__(address, timeout=_PATIENCE, set_as_default=False)
    except BaseException:
        _close(client)
        raise
    return client


def _close(client: Any) -> None:
    """Close the client quietly, even where the scheduler has gone away."""
    with suppress(Exception):
        client.close()


def engine_version() -> int:
    return ENGINE_VERSION
