"""A damaged store never changes an answer: a row that does not match its checksum is named and run again."""

import shutil
import sqlite3
import warnings

import numpy as np
import pytest

from sparselaw.cli import main
from sparselaw.errors import InputError, Notice
from sparselaw.sweeps.store import SqliteStore, open_store

SWEEP = ["simulate", "--alpha1", "1", "--alpha2", "0.3", "-N", "4,8", "-D", "8,16", "--seeds", "8", "--quiet"]


def simulated(store, out, capsys):
    """The code and what was written, by a sweep that goes on from this store."""
    with pytest.raises(SystemExit) as stop:
        main([*SWEEP, "--workers", "1", "--store", str(store), "--out", str(out)])
    capsys.readouterr()
    return stop.value.code, out.read_bytes() if out.exists() else b""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    with pytest.raises(SystemExit):
        main([*SWEEP, "--workers", "1", "--store", str(folder / "s.sqlite"), "--out", str(folder / "a.csv")])
    return folder / "s.sqlite", (folder / "a.csv").read_bytes()


def change(store, query, values=()):
    connection = sqlite3.connect(store)
    with connection:
        connection.execute(query, values)
    connection.close()


CHANGES = {
    "another loss": "UPDATE runs SET record = replace(record, '\"loss\":0.', '\"loss\":1.')",
    "no record": "UPDATE runs SET record = '' WHERE seed = 2",
    "no JSON": "UPDATE runs SET record = '{\"loss\":' WHERE seed = 2",
    "a list": "UPDATE runs SET record = '[1, 2]' WHERE seed = 2",
    "no text": "UPDATE runs SET record = CAST(x'ff00fe' AS TEXT) WHERE seed = 2",
    "a blob": "UPDATE runs SET record = x'ff00fe' WHERE seed = 2",
    "deep": "UPDATE runs SET record = replace(hex(zeroblob(50000)), '0', '[') WHERE seed = 2",
    "another status": "UPDATE runs SET status = 'infinite' WHERE N = 4",
    "a word for N": "UPDATE runs SET N = 'four' WHERE seed = 1",
    "another task": "UPDATE runs SET task = replace(task, '\"seed\":3', '\"seed\":4') WHERE seed = 3",
    "no task": "UPDATE runs SET task = CAST(x'c3' AS TEXT) WHERE seed = 3",
    "records swapped": "UPDATE runs SET record = (SELECT record FROM runs WHERE seed = 1) WHERE seed = 5",
    "no checksum": "UPDATE runs SET checksum = '' WHERE N = 8",
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_row_is_named_and_run_again(name, whole, tmp_path, capsys):
    store = shutil.copy(whole[0], tmp_path / "s.sqlite")
    change(store, CHANGES[name])
    with open_store(store, read_only=True) as opened, pytest.warns(Notice, match="damaged and left out"):
        left = sum(study.runs for study in opened.studies())
    assert left < 32
    with open_store(store, read_only=True) as opened, pytest.warns(Notice, match="damaged and left out"):
        assert len(opened.runs()) == left
    with pytest.warns(Notice, match="damaged and run again"):
        assert simulated(store, tmp_path / "a.csv", capsys) == (0, whole[1])
    with open_store(store, read_only=True) as opened, warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(opened.runs()) == 32


def test_damaged_pages_never_change_the_answer(whole, tmp_path, capsys):
    """Noise of 1 to 64 bytes at 20 places: the same output, or a refusal."""
    content = whole[0].read_bytes()
    rng = np.random.default_rng(7)
    codes = []
    for i in range(20):
        place, length = int(rng.integers(100, len(content))), int(rng.integers(1, 65))
        store = tmp_path / f"{i}.sqlite"
        noise = rng.integers(0, 256, length, dtype=np.uint8).tobytes()
        store.write_bytes((content[:place] + noise + content[place + length :])[: len(content)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Notice)
            code, out = simulated(store, tmp_path / f"{i}.csv", capsys)
        assert code in (0, 2)
        assert out in ((whole[1],) if code == 0 else (b"", whole[1]))
        codes.append(code)
    assert 0 in codes


def test_a_schema_that_is_no_text_is_refused(whole, tmp_path):
    content = whole[0].read_bytes().replace(b"CREATE TABLE runs (", b"CREATE \xff\xfeBLE runs (")
    (tmp_path / "s.sqlite").write_bytes(content)
    with pytest.raises(InputError):
        SqliteStore(tmp_path / "s.sqlite")


def first_version(path):
    """The store as version 1 had it: the same rows without their checksums."""
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("ALTER TABLE runs DROP COLUMN checksum")
        connection.execute("PRAGMA user_version = 1")
    connection.close()


def columns_of(path):
    connection = sqlite3.connect(path)
    found = [row[1] for row in connection.execute("PRAGMA table_info(runs)")]
    connection.close()
    return found


def test_an_old_store_is_read_and_upgraded(whole, tmp_path, capsys):
    store = shutil.copy(whole[0], tmp_path / "s.sqlite")
    with open_store(store, read_only=True) as opened:
        runs, studies = opened.runs(), opened.studies()
    first_version(store)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with open_store(store, read_only=True) as opened:
            assert (opened.runs(), opened.studies()) == (runs, studies)
        assert "checksum" not in columns_of(store)  # who only looks changes nothing
        assert simulated(store, tmp_path / "a.csv", capsys) == (0, whole[1])
        assert "checksum" in columns_of(store)
        with open_store(store, read_only=True) as opened:
            assert (opened.runs(), opened.studies()) == (runs, studies)
    change(store, CHANGES["another loss"])
    with open_store(store, read_only=True) as opened, pytest.warns(Notice):
        assert len(opened.runs()) < 32


def test_what_was_damaged_in_an_old_store_is_run_again(whole, tmp_path, capsys):
    store = shutil.copy(whole[0], tmp_path / "s.sqlite")
    first_version(store)
    change(store, CHANGES["no JSON"])
    with pytest.warns(Notice, match="damaged and run again"):
        assert simulated(store, tmp_path / "a.csv", capsys) == (0, whole[1])


def test_a_store_of_a_newer_version_is_refused(whole, tmp_path):
    store = shutil.copy(whole[0], tmp_path / "s.sqlite")
    change(store, "PRAGMA user_version = 3")
    with pytest.raises(InputError, match="newer sparselaw"):
        SqliteStore(store)


def test_pruning_a_store_with_damaged_tasks(whole, tmp_path):
    store = shutil.copy(whole[0], tmp_path / "s.sqlite")
    change(store, CHANGES["no task"])
    with open_store(store) as opened:
        assert opened.prune(other_engine_than=-1) == 28
