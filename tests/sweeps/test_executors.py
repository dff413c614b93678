"""Worker processes: one thread each, no second run of the caller's script, replaced when they die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures.process import BrokenProcessPool

import numpy as np
import pytest

from sparselaw.sweeps import executors
from sparselaw.sweeps.executors import InProcess, WorkerPool
from sweeps import functions

# No `if __name__ == "__main__"`: spawned workers must not run this again.
SCRIPT = """
print("hello")
from sweeps import functions
from sparselaw.sweeps.sweep import run_sweep
from sparselaw.sweeps.executors import WorkerPool
tasks = functions.study()
records = run_sweep(tasks, function=functions.plain, executor=WorkerPool(2))
print(records == [functions.plain(task) for task in tasks])
"""

OWN_FUNCTION = """
from sweeps import functions
from sparselaw.sweeps.sweep import run_sweep

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


def test_workers_started_side_by_side_all_have_one_thread(monkeypatch):
    """The environment is the process's: a start must not take away what another has just set."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    seen, together = [], threading.Barrier(4)

    def submit(*_):  # the first one starts the process
        time.sleep(0.01)  # long enough for the others to come in, if they could
        seen.append(os.environ.get("OMP_NUM_THREADS"))

    monkeypatch.setattr(executors.ProcessPoolExecutor, "submit", submit)

    def one():
        lane = executors._Lane(import_main=False)
        together.wait()
        lane.submit(print)

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == ["1"] * 4
    assert "OMP_NUM_THREADS" not in os.environ


@pytest.mark.parametrize(("script", "printed"), [(SCRIPT, "hello\nTrue\n"), (OWN_FUNCTION, "True\n")])
def test_from_a_script(tmp_path, script, printed):
    (tmp_path / "script.py").write_text(script)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "script.py")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, printed, "")


def test_a_dead_worker_is_replaced_and_the_other_goes_on(tmp_path):
    started, end = str(tmp_path / "started"), tmp_path / "end"
    with WorkerPool(2) as pool:
        long = pool.submit(functions.touch_and_wait, started, str(end))
        first = pool.submit(os.getpid).result()
        dying = pool.submit(os.kill, first, signal.SIGKILL)
        with pytest.raises(BrokenProcessPool):
            dying.result()
        second = pool.submit(os.getpid).result()
        assert not long.done()
        end.touch()
        assert len({long.result(), first, second}) == 3


@pytest.mark.parametrize(("files", "workers"), [(256 + 35, 3), (100, 1), (10**9, 4)])
def test_no_more_workers_than_files_for_them(files, workers, monkeypatch):
    monkeypatch.setattr(executors, "MOST_WORKERS", 4)
    monkeypatch.setattr(executors, "_allow_open_files", lambda _: files)
    with WorkerPool(1_000_000) as pool:
        assert pool.slots() == workers


def test_abort_ends_tasks_that_never_end(tmp_path):
    started = [tmp_path / "first", tmp_path / "second"]
    with WorkerPool(2) as pool:
        for path in started:
            pool.submit(functions.touch_and_wait, str(path), str(tmp_path / "never"))
        functions.wait_until(lambda: all(path.exists() for path in started))
        pool.abort()  # the test ends, which is what it tests
