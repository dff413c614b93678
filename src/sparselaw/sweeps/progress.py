"""A progress bar on standard error: runs done, rate, time left."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Self

from sparselaw.task import Task


class Progress:
    """Silent unless standard error is a terminal.

    The time left follows the estimated work and not the count: the longest tasks run first.
    """

    def __init__(self, tasks: Sequence[Task], cost: Callable[[Task], float]) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bar

        console = Console(stderr=True)
        self._bar = Bar(
            TextColumn("runs"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TextColumn("{task.fields[left]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._costs = [cost(task) for task in tasks]
        self._work_left = sum(self._costs)
        self._work_done = 0.0
        self._runs_done = 0
        self._start = time.monotonic()
        self._task = self._bar.add_task("", total=len(tasks), rate="", left="")

    def advance(self, index: int, *, was_stored: bool) -> None:
        """One more run is there: finished now, or found in the store."""
        self._work_left -= self._costs[index]
        if not was_stored:
            self._runs_done += 1
            self._work_done += self._costs[index]
        rate, left = self.pace(time.monotonic() - self._start)
        self._bar.update(self._task, advance=1, rate=rate, left=left)

    def pace(self, elapsed: float) -> tuple[str, str]:
        """How fast it goes and how long it will still take, in words."""
        if not self._runs_done or elapsed <= 0:
            return "", ""
        seconds = elapsed * max(self._work_left, 0.0) / self._work_done
        left = timedelta(seconds=round(seconds)) if seconds < 1e8 else "years"
        return f"{self._runs_done / elapsed:.3g}/s", f"{left} left"

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
