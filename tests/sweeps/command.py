"""A sweep as a program of its own, for tests that kill it: store, CSV, function, cells, workers."""

from __future__ import annotations

import sys
from pathlib import Path

from sparselaw.errors import InputError
from sparselaw.sweeps import sweep
from sparselaw.sweeps.executors import WorkerPool
from sparselaw.sweeps.runs_table import row_of, write_table
from sparselaw.sweeps.sweep import SweepStopped, run_sweep
from sweeps import functions

if __name__ == "__main__":
    store, out, name, cells, workers = sys.argv[1:]
    tasks = functions.study(cells=int(cells))
    sweep.MOST_IN_BATCH = 4  # many commits, and little to lose with a worker
    pool = WorkerPool(int(workers))
    try:
        records = run_sweep(tasks, function=getattr(functions, name), store=store, executor=pool)
        write_table(
            Path(out), [row_of(task.identity(), record) for task, record in zip(tasks, records, strict=True)]
        )
    except InputError as error:
        print(f"sparselaw: error: {error}", file=sys.stderr)
        sys.exit(2)
    except SweepStopped as stopped:
        print(stopped, file=sys.stderr)
        sys.exit(130)
    finally:
        pool.shutdown()
