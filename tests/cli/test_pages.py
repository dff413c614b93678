"""--plot and --report: pictures that open, a page with everything inside it."""

import re
import xml.etree.ElementTree as ET

import pytest

from oracles_fitting import CHINCHILLA_TRUTH, noisy_runs
from sparselaw.cli import main


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "runs.csv"
    noisy_runs(CHINCHILLA_TRUTH, 0, 60).to_csv(path, index=False)
    return path


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(a) for a in arguments])
    return stop.value.code, capsys.readouterr()


@pytest.mark.parametrize(
    "command",
    [
        ["fit", "{file}", "--bootstrap", "0", "--no-leave-out"],
        ["plan", "{file}", "--budget", "1e21,1e22", "--bootstrap", "20"],
        ["plan", "{file}", "--budget", "1e21", "--unique-data", "1e10", "--bootstrap", "0"],
        ["plan", "--alpha1", "1", "--alpha2", "0.3", "--budget", "1e9"],
    ],
)
def test_a_picture_and_a_page(capsys, tmp_path, file, command):
    arguments = [part.format(file=file) for part in command]
    plot, page = tmp_path / "out.svg", tmp_path / "out.html"
    code, out = run(capsys, *arguments, "--plot", plot, "--report", page)
    assert code == 0, out.err
    assert ET.parse(plot).getroot().tag.endswith("svg")
    text = page.read_text("utf-8")
    assert not re.search(r"(?:src|href)=\"(?!data:|#)", text)  # nothing outside of the page
    assert "data:image/svg+xml;base64," in text
    assert "nan" not in re.sub(r"base64,[A-Za-z0-9+/=]+", "", text)
    if "--alpha1" in arguments:  # the same command, the same bytes
        run(capsys, *arguments, "--plot", tmp_path / "again.svg")
        assert (tmp_path / "again.svg").read_bytes() == plot.read_bytes()


def test_a_law_of_repeated_data_is_drawn_too(capsys, tmp_path):
    table = noisy_runs(CHINCHILLA_TRUTH, 0, 60)
    table["U"] = table.D / ([1, 2] * 30)
    table.to_csv(tmp_path / "runs.csv", index=False)
    arguments = [
        "fit",
        tmp_path / "runs.csv",
        "--law",
        "data-constrained",
        "--bootstrap",
        "0",
        "--no-leave-out",
    ]
    code, out = run(capsys, *arguments, "--plot", tmp_path / "out.png")
    assert code == 0, out.err
    assert (tmp_path / "out.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--plot", "out.gif"], "has another ending"),
        (["--report", "out.txt"], "let it end in .html"),
        (["--plot", "nowhere/out.svg"], "folder that does not exist"),
        (["--plot", "out.svg", "--law", "all"], "draws one fit"),
    ],
)
def test_names_are_judged_before_the_work(capsys, file, options, words):
    code, out = run(capsys, "fit", file, *options)
    assert (code, out.out) == (2, "")
    assert words in out.err
