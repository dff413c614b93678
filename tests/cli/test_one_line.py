"""Whatever happens, one line and one of four codes: odd names, closed and full outputs, an early Ctrl-C."""

import errno
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import sparselaw
import sparselaw.cli.app as app
from sparselaw.cli import main
from sparselaw.errors import Notice, notice

PREDICT = ["predict", "--alpha1", "1", "--alpha2", "0.3", "-N", "64", "-D", "128"]


def run(arguments, **settings):
    return run_program([sys.executable, "-m", "sparselaw", *arguments], **settings)


def run_program(words, **settings):
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 60} | settings
    return subprocess.run(words, **settings)


def called(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    return stop.value.code, *capsys.readouterr()


@pytest.mark.parametrize("arguments", [[*PREDICT], [*PREDICT, "--json"], ["--help"], ["fit", "--help"]])
@pytest.mark.parametrize("where", ["closed", "/dev/full"])
def test_output_that_cannot_be_written(arguments, where):
    if where == "closed":
        done = run(arguments, stdout=None, preexec_fn=lambda: os.close(1))
    else:
        with open(where, "w") as full:
            done = run(arguments, stdout=full)
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1
    assert b"sparselaw: error: " in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("where", ["closed", "/dev/full"])
def test_words_that_cannot_be_written(where):
    """The code is the same where standard error is closed or full, and nothing of it goes elsewhere."""
    arguments = ["predict", "--alpha1", "x", "--alpha2", "0.3", "-N", "64", "-D", "128"]
    if where == "closed":
        done = run(arguments, stderr=None, preexec_fn=lambda: os.close(2))
    else:
        with open(where, "w") as full:
            done = run(arguments, stderr=full)
    assert (done.returncode, done.stdout) == (2, b"")


def test_text_that_the_terminal_cannot_show(tmp_path):
    done = run(["fit", str(tmp_path / "väg.csv")], env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 2
    assert b"v\\xe4g.csv: does not exist" in done.stderr


INTERRUPTED = """
import os, signal, sys
from sparselaw.cli import main
left = int(sys.argv.pop(1))
def hook(event, _):
    global left
    if event == "import":
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(hook)
main()
"""


@pytest.mark.parametrize("imports", [1, 2, 5, 20, 60, 150, 300, 450])
def test_a_ctrl_c_while_the_command_loads(imports):
    """Given at a certain import, from the first on: no clock. Fewer imports than that: it ends well."""
    done = run_program([sys.executable, "-c", INTERRUPTED, str(imports), *PREDICT])
    assert done.returncode in ((130,) if imports <= 150 else (0, 130)), done.stderr
    assert b"Traceback" not in done.stderr
    assert done.stderr.count(b"\n") <= 1
    assert (done.stdout == b"") == (done.returncode == 130)


def test_little_is_loaded_before_a_ctrl_c_can_be_taken():
    """Python's own first modules, the package's list of names and the file with ``main``: nothing else."""
    source = str(Path(sparselaw.__file__).parents[1])  # without site-packages, so the package must be found
    script = (
        f"import sys; sys.path.insert(0, {source!r}); before = set(sys.modules); "
        "import sparselaw.cli; print(*set(sys.modules) - before)"
    )
    loaded = set(run_program([sys.executable, "-S", "-c", script]).stdout.decode().split())
    assert {name for name in loaded if name.startswith("sparselaw")} == {"sparselaw", "sparselaw.cli"}
    assert not loaded & {"typing", "importlib.util", "numpy", "typer"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "no\nsuch.csv"],
        ["measure", "no\rsuch.npz"],
        ["predict", "--alpha1", "1\n2", "--alpha2", "0.3", "-N", "64", "-D", "128"],
        ["predict", "--inputs", "a\nb", "-N", "64", "-D", "128"],
        ["predict", "--no\nsuch", "1"],
        ["no\nsuch"],
        ["plan", "x.csv", "--budget", "1\n"],
        ["fit", "a" * 300 + ".csv"],
        ["measure", "a" * 300 + ".npz"],
        ["measure", "x\0y.npz"],
        ["fit", "x\0y.csv"],
    ],
)
def test_a_refusal_is_one_line(arguments, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = called(arguments, capsys)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "\r" not in err


def test_a_header_with_a_line_break_is_quoted_in_one_line(tmp_path, capsys):
    table = tmp_path / "runs.csv"
    table.write_text('"a\nb",c,d\n1,2,3\n2,3,4\n')
    code, _, err = called(["fit", str(table)], capsys)
    assert code == 2
    assert err.count("\n") == 1


def test_names_that_are_not_utf8(tmp_path):
    """A file whose name is no text is read, and its report is a page."""
    table = os.fsencode(tmp_path) + b"/m\xff.npy"
    with open(table, "wb") as file:
        np.save(file, (np.random.default_rng(0).random((40, 12)) < 0.3).astype(float))
    page = tmp_path / "page.html"
    done = run(["measure", os.fsdecode(table), "--report", str(page), "--json"])
    assert done.returncode == 0, done.stderr
    assert "m\\udcff.npy" in page.read_text("utf-8")


def test_a_report_with_a_long_name(tmp_path, capsys):
    np.save(tmp_path / "m.npy", (np.random.default_rng(0).random((40, 12)) < 0.3).astype(float))
    for name in ("r" * 250 + ".html", "r" * 251 + ".html"):
        with pytest.raises(SystemExit) as stop:
            main(["measure", str(tmp_path / "m.npy"), "--report", str(tmp_path / name)])
        assert stop.value.code == (0 if len(name) <= 255 else 2)
        assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("command", [PREDICT[5:], ["--budget", "1e100"]])
@pytest.mark.parametrize("alpha1", ["1e-310", "5e-324", "1e-12"])
def test_an_exponent_too_close_to_zero(command, alpha1, capsys):
    name = "plan" if "--budget" in command else "predict"
    code, _, err = called([name, "--alpha1", alpha1, "--alpha2", "5", *command], capsys)
    assert code == 2
    assert "is so close to zero that a sample has" in err


@pytest.mark.parametrize("step", ["1e300", "1e-320", "1e150"])
@pytest.mark.parametrize("solver", [["gd", "--steps", "1"], ["sgd", "--passes", "1"]])
def test_a_step_of_which_no_square_can_be_taken(step, solver, capsys):
    code, _, err = called([*PREDICT, "--solver", *solver, "--step", step], capsys)
    assert code == 2
    assert "must lie between 1e-50 and 1e50" in err


@pytest.mark.parametrize(
    ("passes", "step"), [("1", "1e10"), ("1", "1e50"), ("1e9", "1e-50"), ("1e15", "1e50")]
)
def test_training_that_never_ends_has_an_answer(passes, step, capsys):
    training = ["--solver", "sgd", "--passes", passes, "--step", step]
    assert called([*PREDICT, *training, "--json"], capsys)[0] == 0


def test_a_failure_of_ours_is_one_line_and_code_one(monkeypatch, capsys):
    def broken(*_args, **_settings):
        raise KeyError("a\nkey")

    monkeypatch.setattr(app, "app", broken)
    code, out, err = called(["predict"], capsys)
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert "a failure of ours (KeyError in test_one_line.py:" in err


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (MemoryError(), 1, "not enough memory"),
        (RecursionError("maximum"), 1, "a failure of ours"),
        (OSError(errno.ENOSPC, "No space left on device"), 1, "free some space"),
        (OSError(errno.EACCES, "Permission denied", "/locked/x"), 2, "path=/locked/x: cannot be used"),
        (OSError(errno.EIO, "Input/output error", "/dev/x"), 1, "the system refused"),
    ],
)
def test_what_else_can_be_raised(error, code, words, monkeypatch, capsys):
    def broken(*_args, **_settings):
        raise error

    monkeypatch.setattr(app, "app", broken)
    found, _, err = called(["predict"], capsys)
    assert found == code
    assert words in err
    assert err.count("\n") == 1


def test_the_full_trace_is_there_for_those_who_ask(monkeypatch):
    monkeypatch.setattr(app, "app", lambda **_: 1 / 0)
    monkeypatch.setenv("SPARSELAW_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        main(["predict"])


def test_a_notice_is_printed_and_a_warning_is_not():
    code = (
        "import warnings\nfrom sparselaw.cli import output\nfrom sparselaw.errors import notice\n"
        "output.own_streams()\nwarnings.warn('of numpy', RuntimeWarning)\nnotice('two\\nlines')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == "sparselaw: two\\nlines\n"
    with pytest.warns(Notice, match="left out"):
        notice("left out")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(Notice):
            notice("left out")
