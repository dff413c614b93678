"""Ctrl-C as a flag, so that the loop stops where nothing is half done."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self


class StopRequest:
    """While open, Ctrl-C or SIGTERM only raises the flag; the second one interrupts as usual.

    With ``at_once`` the first one does.
    """

    def __init__(self) -> None:
        self.raised = self.at_once = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self.raised or self.at_once:
            raise KeyboardInterrupt
        self.raised = True
