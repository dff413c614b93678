"""A cluster behind a Dask scheduler, as an executor."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ParamSpec, TypeVar

from sparselaw.errors import InputError
from sparselaw.sweeps.executors import SweepExecutor
from sparselaw.trials.task import ENGINE_VERSION

P = ParamSpec("P")
T = TypeVar("T")
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
