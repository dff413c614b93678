"""--plot and --report of the commands: pictures that open, pages that stand alone."""

import re
import xml.etree.ElementTree as ET

import pytest

from oracles.runs import CHINCHILLA_TRUTH, noisy_runs
from sparselaw.cli import main

QUICK_FIT = ["fit", "{runs}", "--bootstrap", "0", "--no-leave-out"]
THEORY_PLAN = ["plan", "--alpha1", "1", "--alpha2", "0.3", "--budget", "1e9", "--surface", "leading"]
COMMANDS = {
    "fit": ["fit", "{runs}", "--bootstrap", "20", "--no-leave-out"],
    "plan": ["plan", "{runs}", "--bootstrap", "20", "--budget", "1e21,1e22"],
    "plan for limited data": [
        "plan",
        "{runs}",
        "--bootstrap",
        "0",
        "--budget",
        "1e21",
        "--unique-data",
        "1e10",
    ],
    "plan of the theory": THEORY_PLAN,
    "forecast": ["forecast", "{runs}", "--at", "N=1e10,D=2e11"],
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "runs.csv"
    noisy_runs(CHINCHILLA_TRUTH, 0, 40).to_csv(path, index=False)
    return path


def run(command, runs, *options, code=0):
    with pytest.raises(SystemExit) as stop:
        main([part.format(runs=runs) for part in command] + [str(option) for option in options])
    assert stop.value.code == code


@pytest.mark.parametrize("name", COMMANDS)
def test_a_picture_and_a_page(runs, tmp_path, capsys, name):
    picture, page = tmp_path / "out.svg", tmp_path / "out.html"
    run(COMMANDS[name], runs, "--plot", picture, "--report", page, "--json")
    out = capsys.readouterr()
    assert out.out.startswith("{")
    assert "out.svg" in out.err
    assert ET.parse(picture).getroot().tag.endswith("svg")
    text = page.read_text("utf-8")
    assert text.count("data:image/svg+xml;base64,") >= 1
    assert "95 % interval" in text or "loss</th>" in text
    # Nothing is fetched: every address is inside of the page.
    assert not re.search(r"(src|href)=\"(?!data:|#)", text)
    assert "url(" not in text
    assert "nan" not in re.sub(r"base64,[A-Za-z0-9+/=]+", "", text)


def test_the_same_command_draws_the_same_bytes(runs, tmp_path):
    for name in ("one.svg", "two.svg"):
        run(THEORY_PLAN, runs, "--plot", tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_other_kinds_of_pictures_and_a_law_of_repeated_data(tmp_path):
    table = noisy_runs(CHINCHILLA_TRUTH, 0, 40)
    table["U"] = table.D / ([1, 2] * 20)
    table.to_csv(tmp_path / "runs.csv", index=False)
    repeated = [*QUICK_FIT, "--law", "data-constrained"]
    for command, name, start in ((repeated, "out.png", b"\x89PNG"), (THEORY_PLAN, "out.pdf", b"%PDF")):
        run(command, tmp_path / "runs.csv", "--plot", tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--plot", "out.gif"], "plot=out.gif: has another ending; let it end in .svg or .png or .pdf"),
        (["--report", "out.pdf"], "report=out.pdf: has another ending; let it end in .html"),
        (["--plot", "nowhere/out.svg"], "cannot be written (no such folder)"),
    ],
)
@pytest.mark.parametrize("name", COMMANDS)
def test_bad_names_are_refused_before_the_work(runs, capsys, name, options, words):
    run(COMMANDS[name], runs, *options, code=2)
    out = capsys.readouterr()
    assert words in out.err
    assert not out.out


@pytest.mark.parametrize("several", [["--by", "N"], ["--law", "all"]])
def test_several_fits_have_no_one_picture(runs, capsys, several):
    run(QUICK_FIT, runs, *several, "--plot", "out.svg", code=2)
    assert "draws one fit" in capsys.readouterr().err
