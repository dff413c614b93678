"""Cheap tasks for the tests of sweeps: module-level, so that worker processes find them."""

from __future__ import annotations

import os
import signal
import time

from sparselaw.inputs import SparseInputs
from sparselaw.sweeps.grid import grid
from sparselaw.trials.task import Record, Task

MODEL = SparseInputs(alpha1=1.0, alpha2=0.3)
FAILS, KILLS = 13, 66  # the values of N at which a run fails, or kills its worker


def study(cells: int = 20, seeds: int = 3) -> list[Task]:
    return grid(MODEL, N=range(1, cells + 1), D=[100], seeds=seeds)


def plain(task: Task) -> Record:
    """A number that depends on every size, with digits to lose."""
    return Record(loss=task.D / (3.0 * task.N + task.seed / 7.0), status="ok", averaged=("u",), seen=task.N)


def noted(task: Task) -> Record:
    """The same, after adding the id to the file named in the environment."""
    note(task)
    return plain(task)


def slow(task: Task) -> Record:
    """The same, in some milliseconds that differ from task to task."""
    note(task)
    time.sleep(0.002 * (1 + (7 * task.N + task.seed) % 11))
    return plain(task)


def very_slow(task: Task) -> Record:
    note(task)
    time.sleep(300)
    return plain(task)


def fragile(task: Task) -> Record:
    """Fails at one size, unless the environment says that it is mended."""
    note(task)
    if task.N == FAILS and "SWEEP_MENDED" not in os.environ:
        raise ArithmeticError(f"no luck\nwith {task.N}")
    return plain(task)


def deadly(task: Task) -> Record:
    note(task)
    if task.N == KILLS:
        os.kill(os.getpid(), signal.SIGKILL)
    return plain(task)


def note(task: Task) -> None:
    path = os.environ.get("SWEEP_LOG")
    if path:
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, f"{task.id}\n".encode())
        os.close(handle)


def whereabouts(task: Task) -> Record:
    """Slow, and says in which process it ran."""
    slow(task)
    return Record(loss=1.0, status="ok", seen=os.getpid())


def interrupted(task: Task) -> Record:
    """Someone types Ctrl-C while the last but a few runs."""
    if task.N == 3:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)
    return plain(task)
