"""Claim: on heavy cells two workers are at least 1.8 times as fast as one, given two free cores.

Each cell is a number of eigendecompositions. Workers are warm before the clock starts, as in a long sweep.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from sparselaw.inputs import SparseInputs
from sparselaw.sweeps.executors import WorkerPool
from sparselaw.sweeps.simulate import grid
from sparselaw.sweeps.sweep import run_sweep
from sparselaw.trials.task import Record, Task


def heavy(task: Task) -> Record:
    rng = np.random.default_rng(task.seed)
    matrix = rng.standard_normal((task.N, task.N))
    return Record(loss=float(np.linalg.eigvalsh(matrix @ matrix.T).sum()), status="ok")


def seconds(workers: int, tasks: list[Task]) -> tuple[float, list[Record]]:
    with WorkerPool(workers, import_main=True) as pool:
        run_sweep(tasks[:workers], function=heavy, executor=pool)
        start = time.perf_counter()
        records = run_sweep(tasks, function=heavy, executor=pool)
        return time.perf_counter() - start, records


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--cells", type=int, default=40)
    options.add_argument("--size", type=int, default=1000)
    given = options.parse_args()
    tasks = grid(SparseInputs(alpha1=1.0, alpha2=0.3), N=[given.size], D=[1000], seeds=given.cells)
    one, records = seconds(1, tasks)
    two, same = seconds(2, tasks)
    assert records == same
    print(f"{given.cells} cells: one worker {one:.2f} s, two workers {two:.2f} s, ratio {one / two:.2f}")


if __name__ == "__main__":
    main()
