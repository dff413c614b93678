"""A progress bar on standard error: runs done, rate, time left."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import timedelta
from types import TracebackType
from typing import Self


class Progress:
    """The time left follows the estimated work and not the count, since the longest tasks run first."""

    def __init__(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("runs"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TextColumn("{task.fields[left]}"),
            console=Console(stderr=True),
        )
        self._work_done = 0.0
        self._work_left: float | None = None
        self._runs_done = 0
        self._start = time.monotonic()
        self._task = self._bar.add_task("", total=total, rate="", left="")

    def advance(self, index: int, costs: Mapping[int, float]) -> None:
        """One more run is there: one of those to be run, with their costs, or one that the store had."""
        if index in costs:
            if self._work_left is None:
                self._work_left = sum(costs.values())
            self._work_left -= costs[index]
            self._work_done += costs[index]
            self._runs_done += 1
        rate, left = self.pace(time.monotonic() - self._start)
        self._bar.update(self._task, advance=1, rate=rate, left=left)

    def pace(self, elapsed: float) -> tuple[str, str]:
        """How fast it goes and how long it will still take, in words."""
        if self._work_left is None or elapsed <= 0:
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
