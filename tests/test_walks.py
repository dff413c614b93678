"""The files that one command runs, counted as benchmarks/walks.py defines it, stay few."""

import functools
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "benchmarks"))
import walks  # noqa: E402

files_run = functools.cache(walks.files_run)


@pytest.mark.parametrize("name", walks.WALKS)
def test_a_walk_is_short(name):
    files = files_run(name)
    assert len(files) <= walks.MOST[name], f"{len(files)} files: " + " > ".join(files)


def test_a_file_that_is_only_imported_is_not_on_the_walk():
    files = files_run("predict")
    assert "cli/predict.py" in files
    assert "cli/plan.py" not in files  # every command is imported, one runs


@pytest.mark.parametrize("name", walks.WALKS)
def test_the_page_of_architecture_has_the_walk(name):
    """The files of its line are reached, in that order."""
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    (line,) = [line for line in page.splitlines() if line.startswith(f"{name} ") and " > " in line]
    told = [f"{file}.py" for file in line.removeprefix(name).strip().split(" > ")]
    reached = [file for file in files_run(name) if file in told]
    assert reached == told
