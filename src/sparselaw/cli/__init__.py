"""The command `sparselaw`: one file per command; each parses, calls one library function, prints.

This file is what the command loads first, and it loads nothing else before it can take a Ctrl-C.
"""

from __future__ import annotations

import os
import signal
import sys

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run one command. 0 done; 2 bad input, in one line; 1 a failure of ours; 130 on Ctrl-C."""
    if arguments is None:  # the process is ours: while it loads, nothing is open and it may end at once
        before = signal.signal(signal.SIGINT, _stop_at_once)
    from sparselaw.cli.app import run

    if arguments is None:
        signal.signal(signal.SIGINT, before)
    sys.exit(run(arguments))


def _stop_at_once(_number: int, _frame: object) -> None:
    os.write(2, b"sparselaw: stopped; nothing was written: the same command begins anew\n")
    os._exit(130)
