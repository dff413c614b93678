"""The progress display: on a terminal and nowhere else, and gone however the work ends."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from sparselaw import progress as module
from sparselaw.progress import Bar, progress, time_left

SCRIPT = """
from sparselaw import progress
progress.APPEARS_AFTER = progress._BETWEEN = 0.0
with progress.progress("runs") as show:
    for done in range(1, 61):
        show(done, 60, f"{done}/60")
    if HOW == "interrupted":
        raise KeyboardInterrupt
"""


def run_on_a_terminal(how):
    parent, child = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(
        [sys.executable, "-c", f"HOW = {how!r}" + SCRIPT], stderr=child, env=environment
    )
    os.close(child)
    shown = b""
    while True:
        try:
            shown += os.read(parent, 4096)
        except OSError:  # the terminal of a finished program
            break
    os.close(parent)
    process.wait()
    return shown


@pytest.mark.parametrize("how", ["finished", "interrupted"])
def test_shown_on_a_terminal_and_cleared(how):
    shown = run_on_a_terminal(how)
    assert b"runs" in shown
    assert b"60/60" in shown
    assert b"0:00:00 left" in shown
    assert shown.count(b"\x1b[?25l") == shown.count(b"\x1b[?25h") == 1  # the cursor is there again


def test_silent_where_standard_error_is_no_terminal():
    done = subprocess.run(
        [sys.executable, "-c", "HOW = 'finished'" + SCRIPT], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_not_shown_where_not_wanted(monkeypatch):
    monkeypatch.setattr(module.sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(module, "Bar", None)
    with progress("runs", shown=False) as show:
        show(1, 2)


def test_short_work_has_no_bar():
    times = iter([0.0, 0.4, 0.9, 0.95, 1.1])
    bar = Bar("runs", clock=lambda: next(times))
    opened = []
    bar._open = lambda: opened.append(len(opened)) or setattr(bar, "_bar", Recorder())
    for done in range(1, 5):
        bar.show(done, 4)
    assert opened == [0]
    assert [shown["completed"] for shown in bar._bar.shown] == [2, 4]  # neither too soon nor too often


class Recorder:
    def __init__(self):
        self.shown = []

    def update(self, _, **shown):
        self.shown.append(shown)


def test_time_left():
    assert time_left(100.0, done=10.0, of=12.0) == "0:00:20 left"
    assert time_left(1e6, done=1e-6, of=12.0) == "years left"
    assert time_left(100.0, done=0.0, of=12.0) == time_left(100.0, done=3.0, of=None) == ""
