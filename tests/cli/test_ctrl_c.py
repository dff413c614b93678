"""Ctrl-C: exit 130, and one line that says what is kept."""

import subprocess
import sys

import pytest

from sparselaw.cli import main
from sparselaw.experiments.paper import reproduce
from sparselaw.experiments.paper.item import Item, item

MODEL = ["--alpha1", "1", "--alpha2", "0.3"]


def ctrl_c(*_, **__):
    raise KeyboardInterrupt


def ctrl_c_in_numba(*_, **__):
    raise SystemError("returned a result with an exception set") from KeyboardInterrupt()


def stopped(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    out, err = capsys.readouterr()
    assert (stop.value.code, out) == (130, "")
    return err.splitlines()


@pytest.mark.parametrize(
    ("arguments", "inside"),
    [
        (["predict", *MODEL], "sparselaw.cli.options.read_inputs"),
        (["plan", *MODEL, "--budget", "1e9"], "sparselaw.cli.options.read_inputs"),
        (["doctor"], "sparselaw.doctor.examine"),
    ],
)
@pytest.mark.parametrize("comes", [ctrl_c, ctrl_c_in_numba])
def test_a_command_that_writes_only_at_its_end_says_so(arguments, inside, comes, capsys, monkeypatch):
    monkeypatch.setattr(inside, comes)
    assert stopped(arguments, capsys) == [
        "sparselaw: stopped; nothing was written: the same command begins anew"
    ]


ONCE_MORE = """
import atexit, os, signal
from sparselaw import doctor
from sparselaw.cli import main

def examine(_show):
    raise KeyboardInterrupt

doctor.examine = examine
atexit.register(os.kill, os.getpid(), signal.SIGINT)
main()
"""


def test_ctrl_c_once_more_while_the_program_ends():
    done = subprocess.run(
        [sys.executable, "-c", ONCE_MORE, "doctor"], capture_output=True, text=True, check=False
    )
    line = "sparselaw: stopped; nothing was written: the same command begins anew\n"
    assert (done.returncode, done.stdout, done.stderr) == (130, "", line)


def test_the_reproduction_names_the_folder_that_has_what_is_finished(tmp_path, capsys, monkeypatch):
    items = {
        "figure-1": item("figure-1"),
        "figure-2": Item(name="figure-2", title="stopped", make=ctrl_c),
    }
    monkeypatch.setattr(reproduce, "item", items.__getitem__)
    lines = stopped(["reproduce", *items, "--out", str(tmp_path), "--workers", "1"], capsys)
    assert lines[-1] == (
        f"sparselaw: stopped; what is finished is in {tmp_path}: the same command goes on from there"
    )
    assert (tmp_path / "kept" / "figure-1.json").exists()
    assert not (tmp_path / "kept" / "figure-2.json").exists()
