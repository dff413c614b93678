"""What the commands print: one JSON object on standard output, or a table for people."""

from __future__ import annotations

import errno
import io
import os
import re
import shlex
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TextIO

from sparselaw.errors import Notice, one_line
from sparselaw.files import check_not_read
from sparselaw.numbers import short_number
from sparselaw.records import dropped_words, strict_json


class Stopped(KeyboardInterrupt):
    """Ctrl-C, after the command has said what is kept."""


def print_json(result: Mapping[str, Any]) -> None:
    """One JSON object, strict: what is infinite or no number is null."""
    sys.stdout.write(f"{strict_json(result, indent=2)}\n")


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on standard output; numbers to the right. Plain when the output is not a terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for column in columns:
        table.add_column(column, justify="right" if column in {"N", "D", "K", "xi", "loss"} else "left")
    for row in rows:
        table.add_row(*row)

    class Output(Console):
        def on_broken_pipe(self) -> None:  # rich would end the program with code 1
            raise

    print(title)
    Output(width=None if sys.stdout.isatty() else 140).print(table)


def note(text: str) -> None:
    """A word to the person, on standard error."""
    say(f"sparselaw: {one_line(text)}")


def typed(*command: str) -> str:
    """A command of ours as it is typed."""
    return "sparselaw " + re.sub(r"(?<=\d)e\+0*(?=\d)", "e", shlex.join(command))


def print_next(words: str, *command: str) -> None:
    """What to do with the answer: a word, and the command for it."""
    print(f"next: {one_line(words)}" + (f": {typed(*command)}" if command else ""))


def footnotes(texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """A mark for each text, and the notes that the marks refer to; equal texts share one, empty ones none.

    >>> footnotes(["near the peak", "", "near the peak"])
    (['[1]', '', '[1]'], ['[1]: near the peak'])
    """
    distinct = list(dict.fromkeys(text for text in texts if text))
    marks = [f"[{distinct.index(text) + 1}]" if text else "" for text in texts]
    return marks, [f"[{index}]: {text}" for index, text in enumerate(distinct, start=1)]


def number(value: float | None, digits: int = 4) -> str:
    return "-" if value is None else short_number(value, digits)


def percent(value: float | None) -> str:
    return "-" if value is None else f"{short_number(100 * value, 3)} %"


def tell(found: Any, said: Sequence[str] = (), of: str = "") -> None:
    """What a result says of its rows and of itself, where it is not ``said`` already."""
    for words in [*dropped_words(getattr(found, "dropped", {})), *found.warnings]:
        if words not in said:
            note(of + words)


# Standard output and standard error: closed, full, or of another encoding, and the warnings of libraries.


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
        import threading

        # From a thread, a moment later: given at once it would be raised in here, where nobody catches it.
        again = threading.Timer(0.01, _thread.interrupt_main)
        again.daemon = True
        again.start()


# No output over an input: looked at for every command, before it runs, by what the paths lead to.

OUTPUTS = ("out", "plot", "report")
STDIN = "-"


def check_outputs(given: Mapping[str, Any]) -> None:
    """Refuse an output that is a file, or lies in a folder, named by any other argument."""
    read = [path for name, value in given.items() if name not in OUTPUTS for path in _paths(value)]
    outputs = [(name, str(given[name])) for name in OUTPUTS if given.get(name) is not None]
    for index, (name, out) in enumerate(outputs):
        others = [path for _, path in outputs[:index]]
        check_not_read(name, out, read, any_ending=given.get("format") is not None)
        check_not_read(name, out, [path for path in others if not os.path.isdir(path)])


def _paths(value: Any) -> Iterator[str]:
    """The files and folders that an argument may name: anything that is there."""
    for text in value if isinstance(value, (list, tuple)) else [value]:
        if not isinstance(text, (str, os.PathLike)):
            continue
        path = "/dev/stdin" if str(text) == STDIN else os.fspath(text)
        if os.path.isfile(path) or os.path.isdir(path):
            yield path
