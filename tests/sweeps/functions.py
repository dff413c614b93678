"""Cheap tasks for the tests of sweeps: module-level, so that worker processes find them.

Nothing here or in the tests takes a fixed time. What has to last, lasts until a file says that it may end.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from sparselaw.inputs import SparseInputs
from sparselaw.sweeps.simulate import grid
from sparselaw.trials.task import Record, Task

INPUTS = SparseInputs(alpha1=1.0, alpha2=0.3)
FAILS, KILLS, INTERRUPTS = 13, 66, 3  # the values of N at which a run fails, kills its worker, is interrupted
HANGS = 600  # seconds after which a test gives up: only where something is broken
_LINE = 33  # bytes of an id and the end of its line


def study(cells: int = 20, seeds: int = 3) -> list[Task]:
    return grid(INPUTS, N=range(1, cells + 1), D=[100], seeds=seeds)


def plain(task: Task) -> Record:
    """A number that depends on every size, with digits to lose."""
    return Record(loss=task.D / (3.0 * task.N + task.seed / 7.0), status="ok", averaged=("u",), seen=task.N)


def noted(task: Task) -> Record:
    """The same, after adding the id to the file named in the environment."""
    note(task)
    return plain(task)


def gated(task: Task) -> Record:
    """The same, but only the first so many of all runs that were ever begun may end: see ``allow``."""
    place = note(task)
    wait_until(lambda: place <= allowed())
    return plain(task)


def whereabouts(task: Task) -> Record:
    """Says in which process it ran."""
    note(task)
    return Record(loss=1.0, status="ok", seen=os.getpid())


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


def interrupted(task: Task) -> Record:
    """Someone types Ctrl-C while the last but a few runs."""
    if task.N == INTERRUPTS:
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("the signal is handled before this line")
    return plain(task)


def touch_and_wait(started: str, end: str) -> int:
    """Says that it is running, and runs until it may end."""
    Path(started).touch()
    wait_until(Path(end).exists)
    return os.getpid()


def note(task: Task) -> int:
    """Add the id to the log, if there is one; the number of lines up to here."""
    path = os.environ.get("SWEEP_LOG")
    if not path:
        return 0
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, f"{task.id}\n".encode())
    place = os.lseek(handle, 0, os.SEEK_CUR) // _LINE
    os.close(handle)
    return place


def allow(count: int) -> None:
    """Let the first ``count`` runs in the log end."""
    gate = Path(os.environ["SWEEP_LOG"] + ".gate")
    fresh = gate.with_suffix(".new")
    fresh.write_text(str(count))
    os.replace(fresh, gate)


def allowed() -> int:
    gate = Path(os.environ["SWEEP_LOG"] + ".gate")
    return int(gate.read_text()) if gate.exists() else 0


def wait_until(condition) -> None:
    """Wait for an event that another process brings about."""
    deadline = time.monotonic() + HANGS
    while not condition():
        assert time.monotonic() < deadline, "something hangs"
        time.sleep(0.005)
