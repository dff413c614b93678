"""The store: exact round trips, one row per task, and no harm to files that are not stores."""

from __future__ import annotations

import math
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparselaw.errors import InputError
from sparselaw.inputs import DenseInputs
from sparselaw.solvers import Ridge
from sparselaw.sweeps.simulate import grid
from sparselaw.sweeps.store import open_store
from sparselaw.sweeps.store.base import decode_record, encode_record
from sparselaw.sweeps.store.sqlite import VERSION
from sparselaw.trials.task import Record
from sweeps import functions

TESTS = Path(__file__).parents[1]


def filled(path, tasks=None):
    tasks = tasks or functions.study()
    with open_store(path) as store:
        store.add((task, functions.plain(task), 0.1) for task in tasks)
    return path


def beside(path):
    return sorted(entry.name for entry in path.parent.iterdir())


@settings(max_examples=40)
@given(st.floats(allow_subnormal=True), st.floats() | st.none(), st.text(), st.integers(0, 2**80) | st.none())
def test_records_come_back_bit_for_bit(loss, control, reason, seen):
    record = Record(loss=loss, status="ok", reason=reason, control=control, seen=seen, averaged=("u", "test"))
    back = decode_record(encode_record(record))
    assert repr(back) == repr(record)  # repr tells -0.0 from 0.0 and compares nan by name


def test_numpy_scalars_become_plain_numbers():
    back = decode_record(encode_record(Record(loss=np.float64(0.1), status="ok", rank=np.int64(3))))
    assert (type(back.loss), type(back.rank)) == (float, int)


def test_the_same_task_twice_is_one_row(tmp_path):
    task = functions.study()[0]
    with open_store(tmp_path / "s.sqlite") as store:
        store.add([(task, functions.plain(task), 0.1), (task, functions.plain(task), 0.2)])
        store.add([(task, Record(loss=9.0, status="ok"), 0.3)])
        assert store.find([task.id]) == {task.id: functions.plain(task)}
        assert store.studies()[0].runs == 1


def test_only_a_failure_is_replaced(tmp_path):
    task = functions.study()[0]
    failed = Record(loss=math.nan, status="failed", reason="x")
    with open_store(tmp_path / "s.sqlite") as store:
        store.add([(task, failed, 0.1)])
        store.add([(task, functions.plain(task), 0.1)])
        store.add([(task, failed, 0.1)])
        assert store.find([task.id])[task.id].status == "ok"


def test_studies_runs_and_prune(tmp_path):
    sparse = grid(functions.INPUTS, N=[8, 4], D=[100, 10], seeds=3)
    dense = grid(DenseInputs(alpha=1.0), N=[2], D=[5], seeds=2, solver=Ridge(ridge=0.5))
    with open_store(tmp_path / "s.sqlite") as store:
        store.add((task, functions.plain(task), 0.1) for task in sparse)
        store.add((task, Record(loss=math.nan, status="failed", reason="x"), 0.1) for task in dense)
        first, second = store.studies()
        assert (first.runs, first.cells, first.seeds, first.N, first.D, first.failed) == (
            12,
            4,
            3,
            (4, 8),
            (10, 100),
            0,
        )
        assert (second.runs, second.failed, second.identity["solver"]["ridge"]) == (2, 2, 0.5)
        sizes = [(task["N"], task["D"], task["seed"]) for task, _ in store.runs(study=first.id)]
        assert sizes == sorted(sizes)
        assert len(store.runs(status="failed")) == 2
        assert store.prune(before=0.0) == 0
        assert store.prune(other_engine_than=sparse[0].identity()["engine"]) == 0
        assert store.prune(study=first.id, status="failed") == 0
        assert store.prune(status="failed") == 2
        assert store.prune(study=first.id) == 12
        assert store.studies() == []


def test_sizes_and_seeds_beyond_64_bits(tmp_path):
    tasks = grid(functions.INPUTS, N=[3], D=[10**30], seeds=2, seed=2**70)
    filled(tmp_path / "s.sqlite", tasks)
    with open_store(tmp_path / "s.sqlite", read_only=True) as store:
        assert [task["seed"] for task, _ in store.runs()] == [2**70, 2**70 + 1]


def test_closing_leaves_one_file(tmp_path):
    path = filled(tmp_path / "s.sqlite")
    with open_store(path, read_only=True) as store:
        store.studies()
    assert beside(path) == ["s.sqlite"]


def not_a_store(path):
    path.write_text("N,D,loss\n1,2,3\n")


def empty(path):
    path.touch()


def other_database(path):
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE mine (x); INSERT INTO mine VALUES (1);")
    connection.close()


def newer(path):
    connection = sqlite3.connect(filled(path))
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()


def cut_to(size):
    def cut(path):
        whole = filled(path).read_bytes()
        path.write_bytes(whole[: int(size * len(whole)) if size < 1 else size])

    return cut


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize(
    ("spoil", "condition"),
    [
        (not_a_store, "is not a store"),
        (empty, "is not a store"),
        (other_database, "another program"),
        (newer, "newer sparselaw"),
        (cut_to(0.99), "cut short"),
        (cut_to(0.5), "cut short"),
        (cut_to(4096), "cut short"),
        (cut_to(50), "cut short"),
        (cut_to(10), "is not a store"),
        (Path.mkdir, "is a folder"),
    ],
)
def test_what_is_not_a_whole_store_is_refused_and_untouched(tmp_path, spoil, condition, read_only):
    path = tmp_path / "s.sqlite"
    spoil(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(InputError, match=condition) as caught:
        open_store(path, read_only=read_only)
    assert caught.value.name == "store"
    assert beside(path) == ["s.sqlite"]
    assert before is None or path.read_bytes() == before


def test_overwritten_pages_are_noticed_as_damage(tmp_path):
    path = filled(tmp_path / "s.sqlite")
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    with open_store(path, read_only=True) as store, pytest.raises(InputError, match="is damaged"):
        store.runs()


def test_a_store_killed_and_then_cut_short_is_refused_and_untouched(tmp_path):
    """Half of the pages are gone and the log does not have them."""
    path = filled(tmp_path / "s.sqlite", functions.study(cells=300))
    script = "import os, sys, sweeps.functions as f\nfrom sparselaw.sweeps.store import open_store\n"
    script += "s = open_store(sys.argv[1])\nt = f.study(cells=301)[-1]\n"
    script += "s.add([(t, f.plain(t), 0.1)])\nos._exit(0)"
    subprocess.run([sys.executable, "-c", script, str(path)], check=True, cwd=TESTS)
    assert (tmp_path / "s.sqlite-wal").stat().st_size > 0
    cut = path.read_bytes()[: path.stat().st_size // 2]
    path.write_bytes(cut)
    with pytest.raises(InputError, match=r"is damaged|cut short"):
        open_store(path)
    assert path.read_bytes() == cut


@pytest.mark.parametrize("read_only", [True, False])
def test_missing_places(tmp_path, read_only):
    with pytest.raises(InputError, match="store"):
        open_store(tmp_path / "no" / "folder" / "s.sqlite", read_only=read_only)
    assert list(tmp_path.iterdir()) == []


def test_names_with_signs_that_mean_something_in_addresses(tmp_path):
    path = filled(tmp_path / "a?b#c%20 d.sqlite")
    with open_store(path, read_only=True) as store:
        assert store.studies()[0].runs == 60
    assert beside(path) == [path.name]
