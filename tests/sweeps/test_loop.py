"""The loop: same records whatever the workers, the order and the interruptions."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from sparselaw.errors import InputError
from sparselaw.sweeps import sweep as loop
from sparselaw.sweeps.executors import InProcess, SweepExecutor, WorkerPool
from sparselaw.sweeps.runs_table import columns_of, csv_text, row_of
from sparselaw.sweeps.store import open_store
from sparselaw.sweeps.sweep import SweepStopped, run_sweep, stream
from sweeps import functions


def as_csv(tasks, records):
    rows = [row_of(task.identity(), record) for task, record in zip(tasks, records, strict=True)]
    return csv_text(columns_of(rows), rows)


class Shuffled(SweepExecutor):
    """Finishes batches in a random order: one of those that wait, whenever it is asked how many may wait."""

    def __init__(self, seed):
        self._random, self._waiting = random.Random(seed), []

    def submit(self, function, /, *args):
        future = Future()
        self._waiting.append((future, function, args))
        return future

    def slots(self):
        if self._waiting:
            future, function, args = self._waiting.pop(self._random.randrange(len(self._waiting)))
            future.set_result(function(*args))
        return 4

    def abort(self):
        self._waiting.clear()


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
    with open_store(tmp_path / "s.sqlite") as store:
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
    with open_store(tmp_path / "s.sqlite") as store, open_store(tmp_path / "s.sqlite") as other:
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
    with WorkerPool(2) as pool, open_store(tmp_path / "s.sqlite") as store:
        for count, _ in enumerate(stream(tasks, function=functions.plain, executor=pool, store=store)):
            if count == 5:
                break
        kept = store.find([task.id for task in tasks])
    assert 5 <= len(kept) < len(tasks)  # a batch is at most an eighth of what is left
    assert all(kept[task.id] == functions.plain(task) for task in tasks if task.id in kept)


@pytest.mark.parametrize("how", ["event", "close"])
def test_cancelled_while_tasks_run_that_never_end(tmp_path, log, how):
    tasks = functions.study(cells=2)
    functions.allow(3)
    stop = threading.Event()
    with open_store(tmp_path / "s.sqlite") as store:
        runs = stream(tasks, function=functions.gated, store=store, workers=2, cost=lambda _: 10.0, stop=stop)
        seen = [next(runs) for _ in range(3)]
        functions.wait_until(lambda: len(log()) == 5)  # two more are running
        if how == "event":
            threading.Thread(target=stop.set).start()
            seen += runs  # ends, although the tasks do not
        else:
            runs.close()
        kept = store.find([task.id for task in tasks])
    assert sorted(task.id for task, _ in seen) == sorted(kept)
    assert len(kept) == 3


def test_cancelled_before_it_starts_and_between_batches(log):
    tasks = functions.study()
    stop = threading.Event()
    runs = stream(tasks, function=functions.noted, stop=stop)  # in this process
    next(runs)
    stop.set()
    assert len(list(runs)) < len(tasks) - 1
    assert list(stream(tasks, function=functions.noted, stop=stop)) == []
    assert len(log()) < len(tasks)


def test_a_long_task_that_may_be_cancelled_runs_elsewhere(log):
    """Here nothing could end it; a sweep that nobody can cancel keeps to the process."""
    (task,) = functions.study(cells=1, seeds=1)
    settings = {"function": functions.whereabouts, "workers": 1, "cost": lambda _: 0.5}
    ((_, record),) = stream([task], stop=threading.Event(), **settings)
    assert record.seen != os.getpid()
    ((_, record),) = stream([task], **settings)
    assert record.seen == os.getpid()
    assert len(log()) == 2


class Clock:
    """A second passes whenever someone looks."""

    def __init__(self):
        self._now = 0.0

    def monotonic(self):
        self._now += 1.0
        return self._now


def test_work_that_was_thought_small_moves_to_workers(monkeypatch, log):
    monkeypatch.setattr(loop, "time", Clock())
    tasks = functions.study(cells=50)
    pids = run_sweep(tasks, function=functions.whereabouts, workers=2, cost=lambda _: 1e-5)
    assert {record.seen == os.getpid() for record in pids} == {True, False}  # some here, the others elsewhere
    assert len(log()) == len(tasks)


def test_loading_libraries_in_the_first_task_is_no_reason_for_workers(monkeypatch, log):
    clock = Clock()
    monkeypatch.setattr(loop, "time", clock)

    def slow_at_first(task):
        clock._now += 0.0 if log() else 100.0
        return functions.whereabouts(task)

    records = run_sweep(functions.study(cells=1, seeds=2), function=slow_at_first, workers=2)
    assert [record.seen for record in records] == [os.getpid()] * 2


class Impatient(Shuffled):
    """Someone types Ctrl-C once more while the batches are dropped."""

    def abort(self):
        os.kill(os.getpid(), signal.SIGINT)
        super().abort()
        self.aborted = True


def test_ctrl_c_once_more_while_it_stops(tmp_path):
    executor = Impatient(1)
    before = signal.getsignal(signal.SIGINT)

    def typed(task):
        if task.N == functions.INTERRUPTS:
            os.kill(os.getpid(), signal.SIGINT)
        return functions.plain(task)

    with pytest.raises(SweepStopped):
        run_sweep(functions.study(), function=typed, store=tmp_path / "s.sqlite", executor=executor)
    assert executor.aborted
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_that_numba_makes_an_error_of_is_no_failed_task(tmp_path):
    def interrupted(_task):
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    path = tmp_path / "s.sqlite"
    with pytest.raises(SweepStopped):
        run_sweep(functions.study(), function=interrupted, store=path, executor=InProcess())
    with open_store(path, read_only=True) as store:
        assert store.runs() == []


def test_ctrl_c_in_a_task_that_runs_here(tmp_path):
    tasks = functions.study()
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(SweepStopped) as stopped:
        run_sweep(tasks, function=functions.interrupted, store=tmp_path / "s.sqlite", executor=InProcess())
    with open_store(tmp_path / "s.sqlite", read_only=True) as store:
        assert len(store.runs()) == stopped.value.done
    assert 0 < stopped.value.done < len(tasks)
    assert signal.getsignal(signal.SIGINT) is before
