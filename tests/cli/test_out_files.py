"""Files that commands write: never over a store of runs, and looked at before the work."""

import os

import numpy as np
import pytest

from oracles.runs import CHINCHILLA_TRUTH, noisy_runs
from sparselaw.cli import main
from sparselaw.sweeps.store import SqliteStore

COMMANDS = {
    "measure": ["measure", "m.npy"],
    "learn": ["learn", "m.npy"],
    "fit": ["fit", "runs.csv", "--bootstrap", "0", "--no-leave-out"],
    "plan": ["plan", "runs.csv", "--bootstrap", "0", "--budget", "1e21"],
    "forecast": ["forecast", "runs.csv", "--at", "N=1e10,D=2e11"],
}
FILES = [(name, option) for name in COMMANDS for option in ("--plot", "--report")] + [("measure", "--out")]
ENDINGS = {"--plot": ".svg", "--report": ".html", "--out": ".json"}


@pytest.fixture(autouse=True)
def sources(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("m.npy", (np.random.default_rng(0).random((40, 12)) < 0.3).astype(float))
    noisy_runs(CHINCHILLA_TRUTH, 0, 40).to_csv("runs.csv", index=False)


def refused(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    out, err = capsys.readouterr()
    assert (stop.value.code, out) == (2, "")
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize(("name", "option"), FILES)
def test_a_store_is_not_written_over(name, option, tmp_path, capsys):
    store = tmp_path / f"kept{ENDINGS[option]}"
    SqliteStore(store).close()
    before = store.read_bytes()
    assert "is a store of runs" in refused([*COMMANDS[name], option, str(store)], capsys)
    assert store.read_bytes() == before


@pytest.mark.parametrize(("name", "option"), FILES)
def test_a_folder_is_no_file(name, option, tmp_path, capsys):
    folder = tmp_path / f"folder{ENDINGS[option]}"
    folder.mkdir()
    assert "cannot be written (is a folder)" in refused([*COMMANDS[name], option, str(folder)], capsys)


@pytest.mark.parametrize(("name", "option"), FILES)
def test_where_nothing_can_be_made(name, option, capsys):
    err = refused([*COMMANDS[name], option, f"/proc/a{ENDINGS[option]}"], capsys)
    assert f"{option[2:]}=/proc/a{ENDINGS[option]}: cannot be written (" in err


@pytest.mark.parametrize("option", ["--plot", "--report", "--out"])
def test_what_fails_while_it_is_written_is_one_line(option, monkeypatch, capsys):
    def full(source, target):
        if os.path.basename(target) == f"a{ENDINGS[option]}":  # and no table of compiled code
            raise OSError(28, "No space left on device")
        rename(source, target)

    rename = os.replace

    monkeypatch.setattr("sparselaw.files.os.replace", full)
    err = refused([*COMMANDS["measure"], option, f"a{ENDINGS[option]}"], capsys)
    assert "cannot be written (No space left on device)" in err
