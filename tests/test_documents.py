"""The examples of README and docs run as they stand."""

import re
import shlex
import tomllib
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import sparselaw
from sparselaw.cli import main
from sparselaw.plotting import figures

mpl.use("Agg")
ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SERVES = "sparselaw explore"  # until Ctrl-C: tests/explore
OWN_TEST = {"extending"}  # test_extending.py: it adds things first
# Commands of a page that take minutes: their shape is checked, smaller sizes are run.
SMALLER = {
    "--width 32 -D 250,500,1000 --seeds 4": "--width 8 -D 30,60,120 --seeds 2 --steps 60",
    "--width 16 -D 100,1000,10000 --seeds 4": "--width 8 -D 50,100,200 --seeds 2",
    "-D 500,1000,2000,5000,10000,20000": "-D 500,5000",
    "-D 30:1e5:8 --threshold 2 --method direct --failures 200": "-D 30 --threshold 2 --failures 20",
    "-N 4:256:13 -D 50000": "-N 4:16:3 -D 5000 --seeds 2",
    "-N 4:256:13 -D 1e3:1e6:7 --seeds 20": "-N 4:16:3 -D 1e3 --seeds 2",
    "-D 500 --threshold 1.1 -N 10,1000,1e6": "-D 100 --threshold 1.1 -N 10,1e6",
    "--budget 1e8 --train sgd": "--budget 1e6 --train sgd",
    "-N 16:256:5 -D 50000 --seeds 8": "-N 16:64:3 -D 5000 --seeds 2",
    "--bootstrap 1000": "--bootstrap 20",
    "--bootstrap 200": "--bootstrap 20",
}


def blocks(page, *languages):
    """The fenced blocks of a page in one of these languages, in order."""
    found, inside = [], None
    for line in page.read_text("utf-8").splitlines():
        if not line.startswith("```"):
            if inside is not None:
                found[-1][1].append(line)
        elif inside is None:
            inside = line.removeprefix("```")
            found.append((inside, []))
        else:
            inside = None
    return ["\n".join(lines) + "\n" for language, lines in found if language in languages]


def commands(page):
    lines = [
        line.removeprefix("$ ")
        for text in blocks(page, "", "console", "sh", "bash")
        for line in text.splitlines()
    ]
    found = [line.split(" #")[0].strip() for line in lines if line.startswith("sparselaw ")]
    return [line for line in found if line != SERVES]


def pages_with(something):
    return [page for page in PAGES if page.stem not in OWN_TEST and something(page)]


def made_curves(path):
    """Two loss curves of 24,000 steps, one at a constant rate; the other once more without its rates."""
    step = np.arange(200, 24_001, 200)
    warm = np.minimum(step / 1_000, 1.0)
    falling = 0.55 + 0.45 * np.cos(np.pi * np.clip((step - 1_000) / 23_000, 0, 1))
    rates = {"cosine": 3e-4 * warm * falling, "constant": 3e-4 * warm}
    parts = []
    for i, (run, lr) in enumerate(rates.items()):
        noise = np.exp(3e-4 * np.random.default_rng(i).normal(size=step.size))
        loss = (3.0 + 0.3 * (np.cumsum(lr) / 0.03) ** -0.5 + 200 * lr) * noise
        parts.append(pd.DataFrame({"run": run, "step": step, "lr": lr, "loss": loss}))
    pd.concat(parts).to_csv(path / "curves.csv", index=False)
    parts[0].drop(columns=["run", "lr"]).to_csv(path / "one.csv", index=False)


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder with the tables that the examples name."""
    rng = np.random.default_rng(0)
    N = np.repeat(np.geomspace(1e7, 1e10, 12), 6)
    D = N * np.tile(np.geomspace(5, 200, 6), 12)
    loss = (1.8 + 480 * N**-0.35 + 2100 * D**-0.37) * np.exp(0.003 * rng.normal(size=N.size))
    runs = pd.DataFrame({"N": N.round(), "D": D.round(), "loss": loss, "run_name": np.arange(N.size) // 3})
    runs["corpus"] = np.where(np.arange(N.size) % 2, "web", "books")
    runs.to_csv(tmp_path / "runs.csv", index=False)
    for name, better in (("adamw", 1.0), ("muon", 0.99)):
        runs[["N", "D"]].assign(loss=runs["loss"] * better).to_csv(tmp_path / f"{name}.csv", index=False)
    rare = (rng.random((600, 80)) < np.geomspace(0.3, 0.004, 80)) * rng.standard_normal((600, 80))
    sparse.save_npz(tmp_path / "features.npz", sparse.csr_array(rare))
    sweep = pd.DataFrame({"N": [4, 8, 16, 32, 64, 128], "D": 50_000})
    sweep.assign(loss=2.0 * sweep["N"] ** -2.3).to_csv(tmp_path / "sweep.csv", index=False)
    made_curves(tmp_path)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.stem not in OWN_TEST and blocks(page, "python")],
    ids=lambda page: page.stem,
)
@pytest.mark.usefixtures("desk")
def test_python_examples_run(page):
    for text in blocks(page, "python"):
        exec(compile(text, str(page.name), "exec"), {})


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.stem not in OWN_TEST and commands(page)],
    ids=lambda page: page.stem,
)
@pytest.mark.usefixtures("desk")
def test_commands_run(page, capsys, monkeypatch):
    """Without drawing, which takes most of the time and has tests of its own (cli/test_pictures.py)."""
    monkeypatch.setattr(figures, "draw", lambda *_, **__: b"<svg/>")
    for line in commands(page):
        for long, short in SMALLER.items():
            line = line.replace(long, short)
        if (
            re.match(r"sparselaw (fit|plan) [^-]", line)
            and "--bootstrap" not in line
            and "--law all" not in line
        ):
            line += " --bootstrap 20"  # in place of a thousand draws
        with pytest.raises(SystemExit) as stop:
            main(shlex.split(line)[1:])
        assert stop.value.code == 0, f"{line}\n{capsys.readouterr().err}"


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_every_page_is_on_the_site_and_every_public_name_in_its_reference():
    menu = (ROOT / "docs" / "index.md").read_text("utf-8").split("```{toctree}", 1)[1]
    index = re.findall(r"^(?:.*<)?([\w/-]+)>?$", menu, re.MULTILINE)
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"}
    assert pages <= set(index), f"docs/index.md does not list {sorted(pages - set(index))}"
    named = sorted(re.findall(r"auto\w+:: sparselaw\.(\w+)\n", (ROOT / "docs" / "api.md").read_text("utf-8")))
    public = {name for name in sparselaw.__all__ if name not in {"__version__", "plot", "explore"}}
    assert named == sorted(public)


def test_one_version_everywhere_and_a_citation_of_the_paper():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    found = re.search(r"^version: (.+)$", citation, re.MULTILINE)
    assert project["version"] == sparselaw.__version__ == newest[1] == found[1]
    top = {line.split(":")[0] for line in citation.splitlines() if line[:1].isalpha()}
    assert top >= {"cff-version", "message", "title", "authors"}  # what the format demands
    assert "title: Asymmetric Scaling Laws from Sparse Features" in citation


def cells(page):
    """The code that a tutorial runs when the site is built, cell by cell."""
    found = re.findall(r"```\{code-cell\} python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    return [re.sub(r"\A(:.*\n)+\n?", "", cell) for cell in found]


@pytest.mark.parametrize("name", ["runs", "memo"])
def test_a_tutorial_on_runs_runs_and_has_two_pictures(name, tmp_path, monkeypatch, capsys):
    """The others take longer, and run when the site is built."""
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    before, names = set(plt.get_fignums()), {}
    for cell in cells(ROOT / "docs" / "tutorials" / f"{name}.md"):
        exec(compile(cell, f"{name}.md", "exec"), names)
    drawn = [ax for number in set(plt.get_fignums()) - before for ax in plt.figure(number).axes]
    assert sum(bool(ax.get_title()) for ax in drawn) >= 2
    assert ("dollars" in capsys.readouterr().out) == (name == "memo")
    plt.close("all")


def test_the_memo_takes_thirty_lines():
    _, memo = cells(ROOT / "docs" / "tutorials" / "memo.md")
    assert sum(bool(line.strip()) for line in memo.splitlines()) <= 30


def test_every_file_that_is_named_is_there():
    """In pages, docstrings and comments; the changelog names what was."""
    homes = [ROOT, ROOT / "src", ROOT / "src" / "sparselaw", ROOT / "docs", ROOT / "tests"]
    pages = [path for path in ROOT.glob("*.md") if path.name != "CHANGELOG.md"]
    places = [*pages, *ROOT.glob("docs/*.md"), *ROOT.glob("src/**/*.py"), *ROOT.glob("tests/oracles/*.py")]
    named = re.compile(r"(?<![\w./<>*{-])((?:\w+/)+\w+\.(?:py|md))\b")
    gone = [
        f"{place.relative_to(ROOT)} names {name}"
        for place in places
        for name in sorted(set(named.findall(place.read_text("utf-8"))))
        if not any((home / name).exists() for home in homes)
    ]
    assert not gone, "\n".join(gone)


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("**/*.md")), ids=lambda page: page.stem)
def test_the_first_paragraph_of_a_page_asks_its_question(page):
    """Of every page but the first, which has ten."""
    if page.parent.name in ("examples", "results"):
        return
    text = page.read_text("utf-8")
    first = re.search(r"^# [^\n]+\n\n(.+?)\n\n", text, re.MULTILINE | re.DOTALL)
    assert first is not None
    assert page.stem == "index" or "?" in first[1]
