"""Full curves in a process of their own: while one is computed, sketches are drawn as fast as ever.

In threads of one process they would share its interpreter, and a curve that nobody waits for any more would
slow down every later one.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, cast

from sparselaw.errors import InputError
from sparselaw.explore.call import Call, refusal
from sparselaw.sweeps.executors import WorkerPool

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
