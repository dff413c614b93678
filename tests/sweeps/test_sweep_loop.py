"""The loop: same records whatever the workers, the order and the interruptions."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

import sweep_functions as functions
from sparselaw.errors import InputError
from sparselaw.sweeps.executors import InProcess, WorkerPool
from sparselaw.sweeps.run import SweepStopped, run_sweep, stream
from sparselaw.sweeps.runs_table import columns_of, csv_text, row_of
from sparselaw.sweeps.store import Store


def as_csv(tasks, records):
    rows = [row_of(task.identity(), record) for task, record in zip(tasks, records, strict=True)]
    return csv_text(columns_of(rows), rows)


@pytest.fixture
def log(tmp_path, monkeypatch):
    path = tmp_path / "log"
    monkeypatch.setenv("SWEEP_LOG", str(path))
    return lambda: path.read_text().split() if path.exists() else []


class Shuffled(ThreadPoolExecutor):
    """Finishes batches in a random order."""

    def __init__(self, seed):
        super().__init__(4)
        self._random = random.Random(seed)

    def submit(self, function, /, *args, **kwargs):
        pause = self._random.uniform(0, 0.02)
        return super().submit(_after, pause, function, *args, **kwargs)


def _after(pause, function, *args):
    time.sleep(pause)
    return function(*args)


@pytest.mark.parametrize(
    "make", [InProcess, lambda: WorkerPool(1), lambda: WorkerPool(3), lambda: Shuffled(1)]
)
def test_same_bytes_whatever_runs_it(make, tmp_path):
    tasks = functions.study()
    plain_loop = as_csv(tasks, [functions.plain(task) for task in tasks])
    executor = make()
    with executor:
        assert as_csv(tasks, run_sweep(tasks, function=functions.plain, executor=executor)) == plain_loop
        kept = run_sweep(tasks, function=functions.plain, executor=executor, store=tmp_path / "s.sqlite")
    assert as_csv(tasks, kept) == plain_loop
    again = run_sweep(tasks, function=functions.fragile, store=tmp_path / "s.sqlite")  # all are there
    assert as_csv(tasks, again) == plain_loop


def test_any_executor_will_do():
    tasks = functions.study()
    with ThreadPoolExecutor(2) as threads:
        records = run_sweep(tasks, function=functions.plain, executor=threads)
    assert records == [functions.plain(task) for task in tasks]


def test_what_is_stored_is_not_run_again(tmp_path, log):
    tasks = functions.study()
    with Store(tmp_path / "s.sqlite") as store:
        run_sweep(tasks[10:30], function=functions.noted, store=store)
        assert Counter(log()) == Counter(task.id for task in tasks[10:30])
        records = run_sweep(tasks, function=functions.noted, store=store)
    assert sorted(log()) == sorted(task.id for task in tasks)  # each exactly once
    assert records == [functions.plain(task) for task in tasks]


def test_the_same_task_twice_runs_once(log):
    tasks = functions.study()[:4]
    records = run_sweep([*tasks, *tasks[::-1]], function=functions.noted)
    assert len(log()) == 4
    assert records == [functions.plain(task) for task in [*tasks, *tasks[::-1]]]


def test_no_tasks():
    assert run_sweep([], function=functions.plain) == []


@pytest.mark.parametrize("workers", [0, -1, 1.5])
def test_bad_number_of_workers(workers):
    with pytest.raises(InputError, match="workers"):
        run_sweep(functions.study(), function=functions.plain, workers=workers)


def test_a_failing_cell_does_not_end_the_sweep(tmp_path, log, monkeypatch):
    tasks = functions.study()
    path = tmp_path / "s.sqlite"
    records = run_sweep(tasks, function=functions.fragile, store=path)
    failed = [record for record in records if record.status == "failed"]
    assert len(failed) == 3
    assert {record.reason for record in failed} == {"ArithmeticError: no luck with 13"}
    others = [(r, functions.plain(t)) for t, r in zip(tasks, records, strict=True) if t.N != functions.FAILS]
    assert all(got == expected for got, expected in others)
    text = as_csv(tasks, records)
    assert f"{functions.FAILS},100,,0," in text  # no loss, not "nan"
    assert as_csv(tasks, run_sweep(tasks, function=functions.fragile, store=path)) == text
    assert len(log()) == len(tasks)  # failures are not tried again unasked
    run_sweep(tasks, function=functions.fragile, store=path, retry=True)
    assert len(log()) == len(tasks) + 3
    monkeypatch.setenv("SWEEP_MENDED", "1")
    mended = run_sweep(tasks, function=functions.fragile, store=path, retry=True)
    assert as_csv(tasks, mended) == as_csv(tasks, [functions.plain(task) for task in tasks])


def test_a_task_that_kills_its_worker_is_a_failure_and_its_neighbours_are_not():
    tasks = functions.study(cells=functions.KILLS, seeds=2)
    with WorkerPool(2) as pool:
        records = run_sweep(tasks, function=functions.deadly, executor=pool)
    for task, record in zip(tasks, records, strict=True):
        if task.N == functions.KILLS:
            assert (record.status, "died 3 times" in record.reason) == ("failed", True)
        else:
            assert record == functions.plain(task)


def test_a_second_command_takes_over_what_the_first_has_committed(tmp_path, log):
    """Tasks that appear in the store while the sweep runs are not run again."""
    tasks = functions.study()
    with Store(tmp_path / "s.sqlite") as store, Store(tmp_path / "s.sqlite") as other:
        seen = []
        for task, record in stream(
            tasks, function=functions.noted, store=store, cost=lambda _: 10.0, executor=InProcess()
        ):
            if not seen:
                other.add([(late, functions.plain(late), 0.0) for late in tasks[-30:]])
            seen.append((task, record))
    assert sorted(task.id for task, _ in seen) == sorted(task.id for task in tasks)
    assert len(log()) < len(tasks) - 20


def test_stream_can_be_left_early(tmp_path):
    tasks = functions.study()
    with WorkerPool(2) as pool, Store(tmp_path / "s.sqlite") as store:
        for count, _ in enumerate(stream(tasks, function=functions.slow, executor=pool, store=store)):
            if count == 5:
                break
        kept = store.find([task.id for task in tasks])
    assert 5 <= len(kept) < len(tasks)
    assert all(kept[task.id] == functions.plain(task) for task in tasks if task.id in kept)


def test_work_that_was_thought_small_moves_to_workers(monkeypatch, log):
    monkeypatch.setattr("sparselaw.sweeps.run._WORTH_WORKERS", 0.1)
    tasks = functions.study(cells=50)
    pids = run_sweep(tasks, function=functions.whereabouts, workers=2, cost=lambda _: 1e-5)
    assert {record.seen == os.getpid() for record in pids} == {True, False}  # some here, the others elsewhere
    assert len(log()) == len(tasks)


def test_ctrl_c_in_a_task_that_runs_here(tmp_path):
    tasks = functions.study()
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(SweepStopped) as stopped:
        run_sweep(tasks, function=functions.interrupted, store=tmp_path / "s.sqlite", executor=InProcess())
    with Store(tmp_path / "s.sqlite", read_only=True) as store:
        assert len(store.runs()) == stopped.value.done
    assert 0 < stopped.value.done < len(tasks)
    assert signal.getsignal(signal.SIGINT) is before
