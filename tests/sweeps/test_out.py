"""--out never writes over a store, and a table is written whole or not at all."""

from __future__ import annotations

import os

import pytest

from sparselaw.errors import InputError
from sparselaw.sweeps.runs_table import write_table
from sparselaw.sweeps.store import open_store
from sweeps import functions

STUDY = ["simulate", "--alpha1", "1", "--alpha2", "0.3", "-N", "4", "-D", "50", "--seeds", "2"]


@pytest.fixture
def store(tmp_path):
    """A store with an ending that --out takes."""
    path = tmp_path / "keep.csv"
    with open_store(path) as opened:
        opened.add((task, functions.plain(task), 0.1) for task in functions.study())
    return path


def refusal(answer, name="out"):
    code, out, err = answer
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"sparselaw: error: {name}=")
    return err


@pytest.mark.parametrize("command", [STUDY, ["runs", "export"]])
def test_another_store_is_not_written_over(sparselaw, tmp_path, store, command):
    other = tmp_path / "other.sqlite"
    open_store(other).close()
    before = store.read_bytes()
    err = refusal(sparselaw(*command, "--store", other, "--out", store))
    assert "is a store of runs; name another file" in err
    assert store.read_bytes() == before


@pytest.mark.parametrize("command", [STUDY, ["runs", "export"]])
@pytest.mark.parametrize("way", ["the same name", "a link", "a hard link"])
def test_the_store_itself_is_not_written_over(sparselaw, tmp_path, store, command, way):
    out = store if way == "the same name" else tmp_path / "out.csv"
    if way == "a link":
        out.symlink_to(store)
    if way == "a hard link":
        os.link(store, out)
    before = store.read_bytes()
    refusal(sparselaw(*command, "--store", store, "--out", out))
    assert store.read_bytes() == before


def test_a_store_that_is_not_there_yet(sparselaw, tmp_path):
    refusal(sparselaw(*STUDY, "--store", tmp_path / "s.csv", "--out", tmp_path / "s.csv"))
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_was_made_there_while_the_sweep_ran(store):
    """What writes the table looks again."""
    before = store.read_bytes()
    with pytest.raises(InputError, match="is a store"):
        write_table(store, [{"N": 1, "D": 2, "loss": 0.5}])
    assert store.read_bytes() == before


def test_any_other_file_is_replaced_whole(sparselaw, tmp_path, monkeypatch):
    out = tmp_path / "a.csv"
    out.write_text("what was there")
    assert sparselaw(*STUDY, "--store", tmp_path / "s.sqlite", "--out", out)[0] == 0
    whole = out.read_bytes()
    assert whole.startswith(b"N,D,loss")
    monkeypatch.setattr("os.replace", _fail)
    refusal(sparselaw("runs", "export", "--store", tmp_path / "s.sqlite", "--out", out))
    assert out.read_bytes() == whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "s.sqlite"]


def _fail(*_):
    raise OSError(28, "No space left on device")
