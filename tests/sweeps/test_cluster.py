"""A real Dask scheduler with two worker processes on this machine."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager, suppress

import pytest

from sparselaw.errors import InputError
from sparselaw.sweeps.executors import DaskExecutor
from sparselaw.sweeps.runs_table import columns_of, csv_text, row_of
from sparselaw.sweeps.store import open_store
from sparselaw.sweeps.sweep import run_sweep, stream
from sweeps import functions

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    """What is there answers, however busy this machine is."""
    monkeypatch.setattr("sparselaw.sweeps.executors._PATIENCE", functions.HANGS)
    monkeypatch.setattr("sparselaw.sweeps.executors._PATIENCE_FOR_WORKERS", functions.HANGS)


def launch(*arguments, folder):
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        cwd=folder,
        env={**os.environ, "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "info"},
    )


@contextmanager
def cluster(folder, workers=2):
    """The address of a scheduler, and its worker processes."""
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    scheduler = launch("dask_scheduler", *options, folder=folder)
    processes = [scheduler]
    try:
        pattern = re.compile(r"tcp://127\.0\.0\.1:\d+")
        address = next(found.group() for line in scheduler.stderr if (found := pattern.search(line)))
        options = [address, "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        processes += [launch("dask_worker", *options, folder=folder) for _ in range(workers)]
        with distributed.Client(address, timeout=functions.HANGS, set_as_default=False) as client:
            if workers:
                client.wait_for_workers(workers, timeout=functions.HANGS)
        yield address, processes
    finally:
        for process in processes:
            process.kill()
            process.wait()
            process.stderr.close()


def as_csv(tasks, records):
    rows = [row_of(task.identity(), record) for task, record in zip(tasks, records, strict=True)]
    return csv_text(columns_of(rows), rows)


def test_a_failing_cell_and_a_worker_killed_half_way_same_bytes(tmp_path, log):
    tasks = functions.study(cells=50)
    with cluster(tmp_path) as (address, processes), DaskExecutor(address) as executor:
        some = functions.study()
        records = run_sweep(some, function=functions.fragile, executor=executor)
        assert sum(record.status == "failed" for record in records) == 3
        before = len(log())
        with open_store(tmp_path / "s.sqlite") as store:
            records = {}
            for task, record in stream(tasks, function=functions.noted, executor=executor, store=store):
                records[task] = record
                if len(records) == len(tasks) // 2:
                    processes[1].kill()
        assert as_csv(tasks, [records[task] for task in tasks]) == as_csv(
            tasks, [functions.plain(task) for task in tasks]
        )
        executed = log()
        assert set(executed[before:]) == {task.id for task in tasks}
        again = run_sweep(tasks, function=functions.noted, store=tmp_path / "s.sqlite", executor=executor)
        assert again == [records[task] for task in tasks]
        assert len(log()) == len(executed)


@pytest.mark.usefixtures("log")
def test_scheduler_lost_half_way(tmp_path, monkeypatch):
    """A clear line; what was finished is kept, and the unfinished cells are not marked as failed."""
    tasks = functions.study(cells=100)
    with cluster(tmp_path, workers=1) as (address, processes), open_store(tmp_path / "s.sqlite") as store:
        functions.allow(100)
        with DaskExecutor(address) as executor:
            monkeypatch.setattr(executor._client, "_timeout", 1)  # for the attempts to reconnect
            runs = stream(tasks, function=functions.gated, executor=executor, store=store)
            finished = len([next(runs) for _ in range(30)])
            processes[0].kill()
            with pytest.raises(InputError, match="connection was lost"):
                finished += len(list(runs))
        assert finished <= len(store.runs()) < len(tasks)
        assert store.runs(status="failed") == []


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense://x", "127.0.0.1:99999"])
def test_no_scheduler_there(address):
    with pytest.raises(InputError, match="scheduler"):
        DaskExecutor(address)


def test_nothing_listens_there(monkeypatch):
    """The refusal comes from one plain attempt to connect, before dask and its patience are asked."""
    monkeypatch.setattr("sparselaw.sweeps.executors.import_module", None)
    with socket.create_server(("127.0.0.1", 0)) as freed:
        port = freed.getsockname()[1]
    with pytest.raises(InputError, match=r"does not answer .*; start one with"):
        DaskExecutor(f"tcp://127.0.0.1:{port}")


def test_what_listens_there_is_no_scheduler(monkeypatch):
    monkeypatch.setattr("sparselaw.sweeps.executors._PATIENCE", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(InputError, match="does not answer"):
        DaskExecutor(f"tcp://127.0.0.1:{silent.getsockname()[1]}")


@pytest.mark.parametrize("protocol", ["http", "inproc", "ucx", "nonsense"])
def test_only_protocols_of_schedulers_on_other_machines(protocol, monkeypatch):
    """Refused before anything is asked: nobody knocks, and dask is not loaded."""
    monkeypatch.setattr("sparselaw.sweeps.executors._knock", None)
    with pytest.raises(InputError, match=rf"{protocol} is no protocol of schedulers; write tcp, "):
        DaskExecutor(f"{protocol}://127.0.0.1:8787")


@contextmanager
def greeting(words):
    """The address of something that says this to all who come, and then leaves them."""

    def greet():
        with suppress(OSError):  # closed
            while True:
                line, _ = server.accept()
                with line:
                    line.sendall(words)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=greet, daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)


# Taken as lengths: more than memory holds, none at all, as many parts as no message has.
GREETINGS = [b"SSH-2.0-OpenSSH\r\n", bytes(8) + b"HTTP", b"\x08" + bytes(7) + b"a" * 8]
ONE_AFTER_THE_OTHER = """
import sys
from sparselaw.cli import main
codes = []
for address in sys.argv[2:]:
    try:
        main(["simulate", "--alpha1", "1", "--alpha2", "0.3", "-N", "4", "-D", "50", "--store", sys.argv[1],
              "--scheduler", address])
    except SystemExit as end:
        codes.append(end.code)
sys.exit(0 if codes == [2, 2, 2] else 1)
"""


def test_what_talks_there_is_no_scheduler(tmp_path):
    """One line for each, and not another one when the program ends."""
    with ExitStack() as stack:
        places = [f"tcp://{stack.enter_context(greeting(words))}" for words in GREETINGS]
        command = [sys.executable, "-c", ONE_AFTER_THE_OTHER, str(tmp_path / "s.sqlite"), *places]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert re.fullmatch(r"(sparselaw: error: scheduler=.*: does not answer \(\w+\); .*\n){3}", done.stderr)


def test_no_workers_there(tmp_path, monkeypatch):
    with cluster(tmp_path, workers=0) as (address, _):
        monkeypatch.setattr("sparselaw.sweeps.executors._PATIENCE_FOR_WORKERS", 1)
        with pytest.raises(InputError, match="has no workers"):
            DaskExecutor(address)
