"""`sparselaw simulate` as a sweep: real trials, kept, stopped, resumed, failing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pandas as pd
import pytest

from sparselaw.cli import kept_runs
from sparselaw.inputs import DenseInputs, SparseInputs
from sparselaw.solvers import SGD, GradientDescent
from sparselaw.sweeps.executors import InProcess, WorkerPool
from sparselaw.sweeps.simulate import grid, simulate
from sparselaw.sweeps.store import SqliteStore, open_store
from sparselaw.sweeps.sweep import run_sweep, stream
from sparselaw.trials import run as trial
from sweeps import functions

STUDY = ["simulate", "--alpha1", "1", "--alpha2", "0.3", "-N", "4,8,16", "-D", "50,200", "--seeds", "3"]


def some_of_everything():
    sparse, dense = SparseInputs(alpha1=1.0, alpha2=0.3), DenseInputs(alpha=1.3, dimension=200)
    return [
        task
        for model in (sparse, dense)
        for features in ("linear", "relu")
        for settings in ("min-norm", GradientDescent(steps=50), SGD(passes=2))
        for task in grid(model, N=[3, 20], D=[40], seeds=2, features=features, solver=settings)
    ]


def test_real_trials_are_the_same_bytes_in_workers_and_here(tmp_path):
    tasks = some_of_everything()
    expected = [repr(trial.run(task)) for task in tasks]
    assert all("failed" not in text for text in expected)
    assert [repr(record) for record in run_sweep(tasks, executor=InProcess())] == expected
    with WorkerPool(1) as pool:
        kept = run_sweep(tasks, executor=pool, store=tmp_path / "s.sqlite")
    assert [repr(record) for record in kept] == expected
    assert [repr(record) for record in run_sweep(tasks, store=tmp_path / "s.sqlite")] == expected


def test_command_writes_the_same_bytes_however_it_is_run(sparselaw, tmp_path):
    first, second, export = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "c.csv"
    code, out, _ = sparselaw(*STUDY, "--store", tmp_path / "a.sqlite", "--out", first, "--json")
    assert (code, json.loads(out)["failed"], len(json.loads(out)["cells"])) == (0, 0, 6)
    halves = [*STUDY[:6], "16,8", *STUDY[7:]]
    assert sparselaw(*halves, "--store", tmp_path / "b.sqlite", "--workers", "1", "--quiet")[0] == 0
    code, again, _ = sparselaw(*STUDY, "--store", tmp_path / "b.sqlite", "--out", second, "--json")
    assert (code, again) == (0, out)
    assert first.read_bytes() == second.read_bytes()
    sparselaw("runs", "export", "--store", tmp_path / "b.sqlite", "--out", export)
    assert first.read_bytes() == export.read_bytes()


def test_default_store_is_used(sparselaw):
    assert sparselaw(*STUDY, "--seed", "41")[0] == 0
    studies = json.loads(sparselaw("runs", "--json")[1])["studies"]
    assert sum(study["runs"] for study in studies) >= 18


def test_python_function_keeps_runs_only_if_asked(tmp_path):
    model = SparseInputs(alpha1=1.0, alpha2=0.3)
    runs = simulate(model, N=[4, 8], D=50, seeds=2, store=tmp_path / "s.sqlite")
    pd.testing.assert_frame_equal(runs, simulate(model, N=[4, 8], D=50, seeds=2))
    with open_store(tmp_path / "s.sqlite", read_only=True) as store:
        assert len(store.runs()) == 4


def test_failures_are_counted_and_retried(sparselaw, tmp_path, monkeypatch):
    options = ["--store", tmp_path / "s.sqlite", "--out", tmp_path / "a.csv", "--json"]
    whole = sparselaw(*STUDY, "--store", tmp_path / "t.sqlite", "--out", tmp_path / "b.csv", "--json")
    real = trial.run

    def unlucky(task):
        if task.N == 8 and task.seed == 1:
            raise FloatingPointError("it broke")
        return real(task)

    monkeypatch.setattr(trial, "run", unlucky)
    code, out, err = sparselaw(*STUDY, *options)
    assert (code, json.loads(out)["failed"]) == (1, 2)
    assert "2 of 18 runs failed" in err
    table = pd.read_csv(tmp_path / "a.csv")
    failed = table[table.status == "failed"]
    assert (len(failed), set(failed.reason)) == (2, {"FloatingPointError: it broke"})
    assert (failed.loss.isna().all(), table.loss.notna().sum()) == (True, 16)
    monkeypatch.undo()
    assert sparselaw(*STUDY, *options)[0] == 1  # not run again unasked
    assert sparselaw(*STUDY, *options, "--retry") == whole
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


GATED = """
from sparselaw.cli import main
from sparselaw.sweeps import sweep
from sparselaw.trials import run as trial
from sweeps import functions
sweep.MOST_IN_BATCH = 1
trial.run = functions.gated
main()
"""


def test_ctrl_c_says_how_to_go_on(tmp_path, log):
    study = [*STUDY[:5], "-N", "4:64:10", "-D", "1e6", "--seeds", "20", "--store", tmp_path / "s.sqlite"]
    command = [sys.executable, "-c", GATED, *study, "--out", tmp_path / "a.csv", "--workers", "2"]
    functions.allow(10)
    process = subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True)
    functions.wait_until(lambda: kept(tmp_path / "s.sqlite") >= 2 or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    assert process.wait(functions.HANGS) == 130
    (line,) = process.stderr.read().splitlines()
    count = kept(tmp_path / "s.sqlite")
    assert 2 <= count <= 10
    assert line.startswith(f"sparselaw: stopped with {count} of 200 runs done; they are in ")
    assert line.endswith("the same command goes on from there")
    assert len(pd.read_csv(tmp_path / "a.csv")) == count
    assert len(log()) >= count


def test_ctrl_c_again_and_again_says_what_is_kept(sparselaw, tmp_path, monkeypatch):
    """While it stops, while what is finished is written, and after the last word."""
    real_write = kept_runs.write_runs

    def interrupted(tasks, **settings):
        run_sweep(tasks[:7], **settings)
        raise KeyboardInterrupt

    def written(*arguments):
        os.kill(os.getpid(), signal.SIGINT)
        real_write(*arguments)

    def left(store, *_):
        closed(store)
        raise KeyboardInterrupt

    closed = SqliteStore.close
    monkeypatch.setattr("sparselaw.sweeps.sweep.run_sweep", interrupted)
    monkeypatch.setattr(kept_runs, "write_runs", written)
    monkeypatch.setattr(SqliteStore, "__exit__", left)
    store = tmp_path / "s.sqlite"
    code, out, err = sparselaw(*STUDY, "--store", store, "--out", tmp_path / "a.csv", "--quiet")
    words = f"stopped with 7 of 18 runs done; they are in {store}: the same command goes on from there"
    assert (code, out, err) == (130, "", f"sparselaw: {words}\n")
    assert len(pd.read_csv(tmp_path / "a.csv")) == 7


def kept(path):
    if not path.exists():
        return 0
    with open_store(path, read_only=True) as store:
        return len(store.runs())


@pytest.mark.parametrize(
    "words",
    [
        ["--workers", "0"],
        ["--workers", "two"],
        ["--out", "runs.txt"],
        ["--out", "no/folder/runs.csv"],
        ["--store", "no/folder/s.sqlite"],
        ["--store", __file__],
        ["--scheduler", "nonsense"],
    ],
)
def test_bad_input_is_one_line(sparselaw, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    code, out, err = sparselaw(*STUDY, *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"sparselaw: error: {words[0][2:]}=")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_fit_is_refused_before_anything_is_run(sparselaw, tmp_path):
    study = [*STUDY[:5], "-N", "4,1e7", "-D", "100,1e13", "--store", tmp_path / "s.sqlite"]
    code, _, err = sparselaw(*study)
    assert (code, err.count("\n"), kept(tmp_path / "s.sqlite")) == (2, 1, 0)


def test_no_more_workers_than_fit_in_memory(monkeypatch):
    monkeypatch.setattr("sparselaw.trials.run.available_memory", lambda: 3e5)
    seen = []

    class Counted(WorkerPool):
        def __init__(self, workers, **_):
            seen.append(workers)
            super().__init__(1)

    monkeypatch.setattr("sparselaw.sweeps.sweep.WorkerPool", Counted)
    tasks = grid(SparseInputs(alpha1=1.0, alpha2=0.3), N=4, D=500, seeds=1000)
    next(stream(tasks, workers=1000, cost=lambda _: 1.0))
    assert 1 <= seen[0] < 1000
