"""What the questions of one page or widget share: workers, uploads, and how much may run at once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Self

from sparselaw.errors import InputError, one_line
from sparselaw.explore.call import Call, refusal
from sparselaw.explore.uploads import Uploads
from sparselaw.explore.workers import Bench, LongAnswers
from sparselaw.files import limited_to

MOST_AT_ONCE = 3
LARGEST_UNPACKED = 200 << 20  # bytes of memory that a dropped file may ask for
_LAST_WORDS = 3.0  # seconds that jobs get to end their workers

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
        for name, given in FIRST:
            VALUES[name](Call(given=given, session=self))

    def values(self, name: str, given: dict[str, str]) -> dict[str, Any]:
        """The answer to a question that takes milliseconds. KeyError where there is no such question."""
        from sparselaw.explore.views import VALUES

        answer = VALUES[name]
        try:
            with limited_uploads():
                return answer(Call(given=given, session=self))
        except InputError as error:
            return refusal(error)
        except Exception as error:
            return _failure(name, error)

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
        except InputError as error:
            yield {"end": "refused", **refusal(error)}
        except Exception as error:
            yield {"end": "failed", **_failure(name, error)}

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


def _failure(name: str, error: Exception) -> dict[str, Any]:
    _log.error("the answer to %s failed", name, exc_info=error)
    return {"refused": one_line(f"a failure of ours: {type(error).__name__}: {error}")[:500], "name": name}


FIRST: tuple[tuple[str, dict[str, str]], ...] = (
    ("phase", {"alpha1": "1", "alpha2": "0.3"}),
    ("surface", {"alpha1": "1", "alpha2": "0.3", "surface": "leading"}),
)
