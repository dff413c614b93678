"""The progress display of every command: one bar on standard error, with the time left.

It appears when the work has lasted for half a second, goes away when the work ends, however it ends, and
is not there at all where standard error is no terminal.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

APPEARS_AFTER = 0.5  # seconds: shorter work needs no bar, and no import of rich


class Show(Protocol):
    """Moves the bar to ``done`` of ``of``, in any unit in which the pace is steady, with ``text`` beside it.

    Without ``of`` nobody knows how long it will take.
    """

    def __call__(self, done: float, of: float | None = None, text: str = "") -> None: ...


@contextmanager
def progress(label: str, *, shown: bool = True) -> Iterator[Show]:
    """Shows how far the work in this block has come, by calls of what it gives."""
    shown, start = shown and sys.stderr.isatty(), time.monotonic()
    bar: Any = None

    def show(done: float, of: float | None = None, text: str = "") -> None:
        nonlocal bar
        if bar is None and shown and time.monotonic() - start >= APPEARS_AFTER:
            bar = _bar(label)
        if bar is not None:
            bar.update(bar.task_ids[0], completed=done, total=of, text=text)

    try:
        yield show
    finally:
        if bar is not None:
            bar.stop()


def _bar(label: str) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[text]}"))
    bar = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
    bar.add_task(label, total=None, text="")
    bar.start()
    return bar
