"""--plot and --report of the commands that start from runs: files that stand alone."""

import re

import pytest

from oracles_fitting import CHINCHILLA_TRUTH, noisy_runs
from sparselaw.cli import main

COMMANDS = {
    "fit": ["--bootstrap", "20", "--no-leave-out"],
    "plan": ["--bootstrap", "20", "--budget", "1e21,1e22"],
    "forecast": ["--at", "N=1e10,D=2e11"],
}


@pytest.fixture
def runs(tmp_path):
    path = tmp_path / "runs.csv"
    noisy_runs(CHINCHILLA_TRUTH, 0, 40).to_csv(path, index=False)
    return path


def run(*arguments, code=0):
    with pytest.raises(SystemExit) as stop:
        main([str(a) for a in arguments])
    assert stop.value.code == code


@pytest.mark.parametrize("command", COMMANDS)
def test_a_picture_and_a_page(runs, tmp_path, capsys, command):
    picture, page = tmp_path / "out.svg", tmp_path / "out.html"
    run(command, runs, *COMMANDS[command], "--plot", picture, "--report", page, "--json")
    out = capsys.readouterr()
    assert out.out.startswith("{")
    assert "out.svg" in out.err
    assert picture.read_text("utf-8").count("<svg") == 1
    text = page.read_text("utf-8")
    assert text.count("data:image/svg+xml;base64,") >= 1
    assert "95 % interval" in text or "loss</th>" in text
    # Nothing is fetched: every address is inside of the page.
    assert not re.search(r"(src|href)=\"(?!data:|#)", text)
    assert "url(" not in text
    first = picture.read_bytes()
    run(command, runs, *COMMANDS[command], "--plot", picture)
    assert picture.read_bytes() == first


def test_other_kinds_of_pictures(runs, tmp_path):
    for ending, start in ((".png", b"\x89PNG"), (".pdf", b"%PDF")):
        run("forecast", runs, "--at", "N=1e10,D=2e11", "--plot", tmp_path / f"out{ending}")
        assert (tmp_path / f"out{ending}").read_bytes().startswith(start)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--plot", "out.gif"], "plot=out.gif: has another ending; let it end in .svg or .png or .pdf"),
        (["--report", "out.pdf"], "report=out.pdf: has another ending; let it end in .html"),
        (["--plot", "nowhere/out.svg"], "is in a folder that does not exist"),
    ],
)
@pytest.mark.parametrize("command", COMMANDS)
def test_bad_names_are_refused_before_the_work(runs, capsys, command, arguments, words):
    run(command, runs, *COMMANDS[command], *arguments, code=2)
    assert words in capsys.readouterr().err


def test_several_fits_have_no_one_picture(runs, capsys):
    run("fit", runs, "--by", "N", "--plot", "out.svg", code=2)
    assert "draws one fit" in capsys.readouterr().err
