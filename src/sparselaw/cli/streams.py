"""Standard output and standard error: closed, full, or of another encoding, and the warnings of libraries."""

from __future__ import annotations

import errno
import io
import os
import sys
import warnings
from contextlib import suppress
from typing import Any, TextIO

from sparselaw.errors import Notice, one_line


def own_streams() -> None:
    """For a process that is ours: no text that cannot be shown, and no warnings of libraries."""
    for number in range(3):  # a file that is opened later must not become standard output
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = _Closed()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", Notice)
        warnings.showwarning = _show
        os.environ.setdefault("PYTHONWARNINGS", "ignore")  # of worker processes
    sys.unraisablehook = _unraisable


def say(line: str) -> None:
    """One line on standard error; where that cannot be written, nobody can be told."""
    with suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)


def throw_away(*streams: TextIO) -> None:
    """What is still in the buffers of these goes nowhere, so that the end of the program does not fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        with suppress(OSError, ValueError):
            stream.flush()
            continue
        with suppress(OSError, ValueError):
            os.dup2(nowhere, stream.fileno())


class _Closed(io.TextIOBase):
    """Standard output that was closed before we began."""

    def write(self, _text: str) -> int:
        raise OSError(errno.EBADF, "Bad file descriptor")


def _show(message: Warning | str, category: type[Warning], *_rest: Any, **_more: Any) -> None:
    if issubclass(category, Notice):
        say(f"sparselaw: {one_line(message)}")


def _unraisable(problem: sys.UnraisableHookArgs) -> None:
    """What is raised where nobody can catch it; a Ctrl-C there is given once more."""
    if isinstance(problem.exc_value, KeyboardInterrupt):
        import _thread

        _thread.interrupt_main()
