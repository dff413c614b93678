"""An output is never written over a file that the command reads, by whatever path it is named."""

import os

import numpy as np
import pytest

from oracles.runs import CHINCHILLA_TRUTH, noisy_runs
from sparselaw.cli import main


@pytest.fixture(autouse=True)
def sources(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "\n".join(" ".join(map(str, row)) for row in np.random.default_rng(0).integers(0, 90, (80, 6)))
    for name in ("w.json", "w.svg", "w.html"):
        (tmp_path / name).write_text(text)
    noisy_runs(CHINCHILLA_TRUTH, 0, 40).to_csv("runs.csv", index=False)
    os.mkdir("folder")


def by_the_same_path(path):
    return path


def relative(path):
    return os.path.join("folder", "..", path)


def absolute(path):
    return os.path.abspath(path)


def link(path):
    os.symlink(os.path.abspath(path), f"other{os.path.splitext(path)[1]}")
    return f"other{os.path.splitext(path)[1]}"


def hard_link(path):
    os.link(path, f"hard{os.path.splitext(path)[1]}")
    return f"hard{os.path.splitext(path)[1]}"


def through_a_linked_folder(path):
    os.symlink(os.getcwd(), "again")
    return os.path.join("again", path)


WAYS = [by_the_same_path, relative, absolute, link, hard_link, through_a_linked_folder]
READING = [["measure"], ["learn", "-D", "8", "-N", "2", "--seeds", "2"]]


def refused(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    out, err = capsys.readouterr()
    assert (stop.value.code, out) == (2, ""), err
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("option", "file"), [("out", "w.json"), ("plot", "w.svg"), ("report", "w.html")])
@pytest.mark.parametrize("command", READING)
def test_over_what_is_measured(command, option, file, way, capsys):
    if (command[0], option) == ("learn", "out"):
        return  # there is no such option
    with open(file, "rb") as before:
        content = before.read()
    arguments = [command[0], file, *command[1:], "--format", "text", f"--{option}", way(file)]
    assert "is a file that this command reads" in refused(arguments, capsys)
    with open(file, "rb") as after:
        assert after.read() == content


@pytest.mark.parametrize("way", WAYS)
def test_over_the_inputs_of_a_simulation(way, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["measure", "w.json", "--format", "text", "--out", "m.json"])
    assert stop.value.code == 0
    os.rename("m.json", "m.csv")
    capsys.readouterr()
    arguments = ["simulate", "--inputs", "m.csv", "-N", "4", "-D", "4", "--store", "s.sqlite", "--out"]
    assert "is a file that this command reads" in refused([*arguments, way("m.csv")], capsys)


def test_over_a_table_of_runs_and_within_a_folder_of_them(capsys):
    os.rename("runs.csv", "folder/runs.csv")
    os.link("folder/runs.csv", "hard.html")
    err = refused(["fit", "folder/runs.csv", "--report", "hard.html"], capsys)
    assert "is a file that this command reads" in err
    os.rename("w.json", "folder/part.json")
    arguments = ["measure", "folder", "--format", "text", "--out", "folder/part.json"]
    assert "lies in folder, which this command reads" in refused(arguments, capsys)


def test_a_picture_may_be_drawn_again_beside_the_runs():
    os.rename("runs.csv", "folder/runs.csv")
    for _ in range(2):
        with pytest.raises(SystemExit) as stop:
            main(["measure", "w.json", "--format", "text", "--plot", "folder/m.svg"])
        assert stop.value.code == 0
