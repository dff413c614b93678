"""The progress display: on a terminal and nowhere else, and gone however the work ends."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import numpy as np
import pytest

from sparselaw import progress as module
from sparselaw.progress import progress

SCRIPT = """
from sparselaw import progress
progress.APPEARS_AFTER = 0.0
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
    assert b"0:00:00" in shown  # the time left
    assert shown.count(b"\x1b[?25l") == shown.count(b"\x1b[?25h") == 1  # the cursor is there again


def test_silent_where_standard_error_is_no_terminal():
    done = subprocess.run(
        [sys.executable, "-c", "HOW = 'finished'" + SCRIPT], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize(
    ("wanted", "seconds", "shown"), [(True, 1.0, [3, 4]), (True, 0.1, []), (False, 1.0, [])]
)
def test_a_bar_for_long_work_where_it_is_wanted(monkeypatch, wanted, seconds, shown):
    """Four steps, the bar from the third on: half a second after the beginning."""
    times = iter(np.array([0.0, 0.3, 0.45, 0.6]) * seconds)
    monkeypatch.setattr(module.sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(module.time, "monotonic", lambda: next(times))
    monkeypatch.setattr(module, "_bar", Recorder)
    Recorder.shown = []
    with progress("runs", shown=wanted) as show:
        for done in range(1, 5):
            if done < 4 or shown:
                show(done, 4)
    assert Recorder.shown == shown


class Recorder:
    task_ids = (0,)

    def __init__(self, label):
        assert label == "runs"

    def update(self, _, completed, **_more):
        self.shown.append(completed)

    def stop(self):
        pass
