"""The progress bar: counts, pace, and silence."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

from sparselaw.sweeps.progress import Progress

SCRIPT = """
from sweeps import functions
from sparselaw.sweeps.run import run_sweep
run_sweep(functions.study(), function=functions.slow, progress=True)
"""


def test_silent_where_standard_error_is_no_terminal():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_shown_on_a_terminal():
    parent, child = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen([sys.executable, "-c", SCRIPT], stderr=child, env=environment)
    os.close(child)
    shown = b""
    while True:
        try:
            shown += os.read(parent, 4096)
        except OSError:  # the terminal of a finished program
            break
    assert process.wait() == 0
    last = (
        re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", shown).replace(b"\r", b"\n").decode().strip().splitlines()[-1]
    )
    assert "60/60" in last
    assert re.search(r"[\d.]+/s\s+0:00:00 left", last)


def test_time_left_follows_the_work_and_not_the_count():
    bar = Progress(4)
    costs = {0: 10.0, 1: 1.0, 2: 1.0}
    bar.advance(3, costs)
    assert bar.pace(5.0) == ("", "")  # what was stored says nothing about the pace
    bar.advance(0, costs)
    assert bar.pace(100.0) == ("0.01/s", "0:00:20 left")  # 2 of 10 are left
