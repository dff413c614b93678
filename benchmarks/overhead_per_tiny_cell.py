"""Claim: a sweep adds well under a millisecond to each of 10,000 tiny cells, kept in a store.

Against a plain loop in one process. Also: how long such a study takes to list, export and resume.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sparselaw.inputs import SparseInputs
from sparselaw.sweeps.executors import InProcess, WorkerPool
from sparselaw.sweeps.runs_table import row_of, write_table
from sparselaw.sweeps.simulate import grid
from sparselaw.sweeps.store import open_store
from sparselaw.sweeps.sweep import run_sweep
from sparselaw.trials.task import Record, Task


def tiny(task: Task) -> Record:
    return Record(loss=1.0 / (task.N + task.D + task.seed / 3), status="ok")


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--cells", type=int, default=10_000)
    cells = options.parse_args().cells
    tasks = grid(SparseInputs(alpha1=1.0, alpha2=0.3), N=range(1, cells + 1), D=[1000], seeds=1)
    loop, expected = timed(lambda: [tiny(task) for task in tasks])
    print(f"plain loop:                {loop:6.2f} s")

    def report(name: str, seconds: float) -> None:
        print(f"{name:<26} {seconds:6.2f} s, {1e6 * (seconds - loop) / cells:.0f} us per cell above the loop")

    with tempfile.TemporaryDirectory() as folder:
        seconds, records = timed(lambda: run_sweep(tasks, function=tiny, executor=InProcess()))
        assert records == expected
        report("in process, no store:", seconds)
        here, there = Path(folder, "here.sqlite"), Path(folder, "there.sqlite")
        seconds, _ = timed(lambda: run_sweep(tasks, function=tiny, executor=InProcess(), store=here))
        report("in process, store:", seconds)
        with WorkerPool(2, import_main=True) as pool:
            run_sweep(tasks[:2], function=tiny, executor=pool)  # the workers are up
            seconds, records = timed(lambda: run_sweep(tasks, function=tiny, executor=pool, store=there))
        assert records == expected
        report("two workers, store:", seconds)
        with open_store(there, read_only=True) as store:
            print(f"list:                      {timed(store.studies)[0]:6.2f} s")
            seconds, _ = timed(
                lambda: write_table(Path(folder, "out.csv"), [row_of(*run) for run in store.runs()])
            )
            print(f"export to CSV:             {seconds:6.2f} s")
        seconds, _ = timed(lambda: run_sweep(tasks, function=tiny, store=there))
        print(f"resume, nothing left:      {seconds:6.2f} s")


if __name__ == "__main__":
    main()
