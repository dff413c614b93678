"""The progress display of every command: one bar on standard error, with the time left.

It appears when the work has lasted for half a second, goes away when the work ends, however it ends, and
is not there at all where standard error is no terminal.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Protocol

APPEARS_AFTER = 0.5  # seconds: shorter work needs no bar, and no import of rich
_BETWEEN = 0.1  # seconds from one change to the next
_YEARS = 1e8  # seconds left that no one wants to see written out


class Show(Protocol):
    """Moves the bar to ``done`` of ``of``, in any unit in which the pace is steady, with ``text`` beside it.

    Without ``of`` nobody knows how long it will take.
    """

    def __call__(self, done: float, of: float | None = None, text: str = "") -> None: ...


@contextmanager
def progress(label: str, *, shown: bool = True) -> Iterator[Show]:
    """Shows how far the work in this block has come, by calls of what it gives."""
    if not (shown and sys.stderr.isatty()):
        yield _silent
        return
    bar = Bar(label)
    try:
        yield bar.show
    finally:
        bar.close()


def time_left(elapsed: float, done: float, of: float | None) -> str:
    """In words, at the pace so far; empty where that says nothing.

    >>> time_left(100.0, done=10.0, of=12.0)
    '0:00:20 left'
    """
    if of is None or done <= 0.0 or elapsed <= 0.0:
        return ""
    seconds = elapsed * max(of - done, 0.0) / done
    return f"{timedelta(seconds=round(seconds)) if seconds < _YEARS else 'years'} left"


class Bar:
    """The bar itself, made when it first has something to show."""

    def __init__(self, label: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._label, self._clock = label, clock
        self._start = self._changed = clock()
        self._bar: Any = None
        self._task: Any = None

    def show(self, done: float, of: float | None = None, text: str = "") -> None:
        now = self._clock()
        if now - self._start < APPEARS_AFTER or now - self._changed < _BETWEEN:
            return
        self._changed = now
        if self._bar is None:
            self._open()
        left = time_left(now - self._start, done, of)
        self._bar.update(self._task, completed=done, total=of, text=text, left=left)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[text]}"))
        left = TextColumn("{task.fields[left]}")
        self._bar = Progress(*columns, left, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(self._label, total=None, text="", left="")
        self._bar.start()


def _silent(done: float, of: float | None = None, text: str = "") -> None:
    """Where nobody looks."""
