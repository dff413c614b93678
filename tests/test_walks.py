"""The files that one command runs, counted as benchmarks/walks.py defines it, stay few."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
import walks

MOST = {"predict": 49, "simulate": 76, "fit": 65, "forecast": 34, "slider": 52}  # may only fall


@pytest.mark.parametrize("name", walks.WALKS)
def test_a_walk_is_short(name):
    files = walks.files_run(name)
    assert len(files) <= MOST[name], f"{len(files)} files: " + " > ".join(files)


def test_a_file_that_is_only_imported_is_not_on_the_walk():
    files = walks.files_run("predict")
    assert "cli/predict.py" in files
    assert "cli/plan.py" not in files  # every command is imported, one runs
