"""Killed at random moments, stopped by Ctrl-C, two at once: nothing lost, nothing done twice, same bytes."""

from __future__ import annotations

import functools
import random
import signal
import subprocess
import sys

import psutil
import pytest

from sparselaw.sweeps.runs_table import columns_of, csv_text, row_of
from sparselaw.sweeps.store import open_store
from sweeps import functions
from sweeps.functions import HANGS, wait_until

EVERYTHING = 10**6
CELLS = 200  # with 3 seeds each


def start(folder, function="gated", cells=CELLS, workers=2):
    arguments = [folder / "s.sqlite", folder / "out.csv", function, cells, workers]
    return subprocess.Popen(
        [sys.executable, "-m", "sweeps.command", *map(str, arguments)], stderr=subprocess.PIPE, text=True
    )


@functools.cache
def undisturbed(cells=CELLS):
    tasks = functions.study(cells=cells)
    rows = [row_of(task.identity(), functions.plain(task)) for task in tasks]
    return csv_text(columns_of(rows), rows).encode()


def committed(folder):
    if not (folder / "s.sqlite").exists():
        return set()
    with open_store(folder / "s.sqlite", read_only=True) as store:
        return set(store.find(names()))


@functools.cache
def names():
    return [task.id for task in functions.study(cells=CELLS)]


def workers_of(process):
    """The processes that run tasks; the other child tracks resources."""
    try:
        children = psutil.Process(process.pid).children()
        return [child for child in children if "spawn_main" in " ".join(child.cmdline())]
    except psutil.NoSuchProcess:
        return []


def ended(process):
    try:
        return process.status() == psutil.STATUS_ZOMBIE  # dead; whoever adopted it has not looked yet
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize(
    ("kills", "seed"), [(2, 0), *(pytest.param(10, seed, marks=pytest.mark.slow) for seed in range(3))]
)
def test_killed_again_and_again_and_resumed(tmp_path, log, kills, seed):
    """SIGKILL to the parent, then to a worker, in turn; each after a random number of further runs.

    The runs that may end are always fewer than there are, so that no sweep ends before it is killed.
    """
    rng = random.Random(seed)
    kept_when_killed = []
    process = start(tmp_path)
    for kill in range(kills):
        target = len(log()) + rng.randrange(1, 40)
        functions.allow(target + rng.randrange(10))
        wait_until(lambda target=target: len(log()) >= target)
        assert process.poll() is None, process.stderr.read()
        if kill % 2 == 0:
            workers = workers_of(process)
            process.kill()
            process.wait()
            wait_until(lambda ending=workers: all(map(ended, ending)))  # they do not outlive their parent
            process = start(tmp_path)
        else:
            wait_until(lambda running=process: workers_of(running))
            rng.choice(workers_of(process)).kill()
        kept = committed(tmp_path)
        kept_when_killed.append((len(log()), kept))
    functions.allow(EVERYTHING)
    assert process.wait(HANGS) == 0, process.stderr.read()
    assert (tmp_path / "out.csv").read_bytes() == undisturbed()
    executed = log()
    for length, kept in kept_when_killed:
        assert not kept & set(executed[length:])
    assert len(kept_when_killed[-1][1]) > 5 * kills  # it means something only if much was committed by then


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_keeps_what_is_finished(tmp_path, log, number):
    process = start(tmp_path)
    functions.allow(60)
    wait_until(lambda: len(committed(tmp_path)) > 30)
    workers = workers_of(process)
    for each in [psutil.Process(process.pid), *workers] if number == signal.SIGINT else [process]:
        each.send_signal(number)  # a terminal sends Ctrl-C to the whole group
    assert process.wait(HANGS) == 130
    wait_until(lambda: all(map(ended, workers)))
    line = process.stderr.read().strip()
    kept = committed(tmp_path)
    assert line == f"stopped with {len(kept)} of {3 * CELLS} runs done"
    assert 30 < len(kept) <= 60
    if number == signal.SIGTERM:
        return  # it goes on as after the other
    executed = len(log())
    functions.allow(EVERYTHING)
    assert start(tmp_path).wait(HANGS) == 0
    assert (tmp_path / "out.csv").read_bytes() == undisturbed()
    assert not kept & set(log()[executed:])


def test_ctrl_c_does_not_wait_for_a_task_that_never_ends(tmp_path, log):
    process = start(tmp_path, cells=2)
    wait_until(lambda: len(log()) == 2)
    workers = workers_of(process)
    process.send_signal(signal.SIGINT)
    assert process.wait(HANGS) == 130
    assert len(workers) == 2
    wait_until(lambda: all(map(ended, workers)))


def test_two_commands_on_one_store(tmp_path, log):
    """Two start with no store at all, so that they also race to make it; a third comes when some is done."""
    folders = [tmp_path / "a", tmp_path / "b", tmp_path / "c"]
    for folder in folders:
        folder.mkdir()
        (folder / "s.sqlite").symlink_to(tmp_path / "shared.sqlite")
    functions.allow(60)
    processes = [start(folder, workers=1) for folder in folders[:2]]
    wait_until(lambda: len(committed(folders[0])) > 20)
    processes.append(start(folders[2], workers=1))
    functions.allow(EVERYTHING)
    for process, folder in zip(processes, folders, strict=True):
        assert process.wait(HANGS) == 0, process.stderr.read()
        assert process.stderr.read() == ""
        assert (folder / "out.csv").read_bytes() == undisturbed()
    with open_store(tmp_path / "shared.sqlite", read_only=True) as store:
        (study,) = store.studies()
        assert (study.runs, len(store.runs())) == (3 * CELLS, 3 * CELLS)
    assert len(log()) < 3 * 3 * CELLS - 20  # they share the work


def test_many_small_commits_from_several_programs(tmp_path):
    """One commit per row, four programs at once, half of the rows the same."""
    script = (
        "import sys, sweeps.functions as f\nfrom sparselaw.sweeps.store import open_store\n"
        "with open_store(sys.argv[1]) as store:\n"
        "    for task in f.study(cells=200)[int(sys.argv[2]) * 100 :][:200]:\n"
        "        store.add([(task, f.plain(task), 0.0)])\n"
    )
    arguments = [[sys.executable, "-c", script, str(tmp_path / "s.sqlite"), str(part)] for part in range(4)]
    processes = [subprocess.Popen(each, stderr=subprocess.PIPE, text=True) for each in arguments]
    for process in processes:
        assert process.wait(HANGS) == 0, process.stderr.read()
    with open_store(tmp_path / "s.sqlite", read_only=True) as store:
        assert len(store.runs()) == 500
