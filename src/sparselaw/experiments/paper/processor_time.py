"""The processor time that this process and its workers have used."""

from __future__ import annotations

import psutil


def processor_seconds() -> float:
    """User and system time, workers that are alive included: what a busy machine cannot stretch."""
    here = psutil.Process()
    total = 0.0
    for process in (here, *here.children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.Error:  # ended between the two calls
            continue
        total += times.user + times.system
    return total
