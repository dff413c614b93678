"""Worker processes: one thread each, no second run of the caller's script, replaced when they die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool

import numpy as np
import pytest

from sparselaw.sweeps.executors import InProcess, WorkerPool

# No `if __name__ == "__main__"`: spawned workers must not run this again.
SCRIPT = """
print("hello")
import sweep_functions as functions
from sparselaw.sweeps.run import run_sweep
from sparselaw.sweeps.executors import WorkerPool
tasks = functions.study()
records = run_sweep(tasks, function=functions.plain, executor=WorkerPool(2))
print(records == [functions.plain(task) for task in tasks])
"""

OWN_FUNCTION = """
import sweep_functions as functions
from sparselaw.sweeps.run import run_sweep

def twice(task):
    return functions.plain(task)

if __name__ == "__main__":
    tasks = functions.study()
    records = run_sweep(tasks, function=twice, workers=2, cost=lambda task: 10.0)
    print(records == [functions.plain(task) for task in tasks])
"""


def blas_threads():
    from threadpoolctl import threadpool_info

    np.linalg.eigh(np.eye(3))
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.mark.parametrize("make", [InProcess, lambda: WorkerPool(1)])
def test_one_blas_thread(make, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with make() as executor:
        threads = executor.submit(blas_threads).result()
    assert threads
    assert set(threads) == {1}
    assert "OMP_NUM_THREADS" not in os.environ  # this process is as it was


@pytest.mark.parametrize(("script", "printed"), [(SCRIPT, "hello\nTrue\n"), (OWN_FUNCTION, "True\n")])
def test_from_a_script(tmp_path, script, printed):
    (tmp_path / "script.py").write_text(script)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "script.py")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, printed, "")


def test_a_dead_worker_is_replaced_and_the_other_goes_on():
    with WorkerPool(2) as pool:
        long = pool.submit(time.sleep, 1.0)
        first = pool.submit(os.getpid).result()
        dying = pool.submit(os.kill, first, signal.SIGKILL)
        with pytest.raises(BrokenProcessPool):
            dying.result()
        assert pool.submit(os.getpid).result() != first
        assert long.result() is None


def test_abort_ends_long_tasks():
    with WorkerPool(2) as pool:
        futures = [pool.submit(time.sleep, 600) for _ in range(2)]
        while not all(future.running() for future in futures):
            time.sleep(0.01)
        pool.abort()  # the test ends, which is what it tests
