"""Worker programs of these tests find the package and the test functions as the tests themselves do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sparselaw.cli import main

TESTS = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _import_path(monkeypatch):
    paths = [str(TESTS.parent / "src"), str(TESTS), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in paths if path))


@pytest.fixture
def sparselaw(capsys):
    """Call the command; the answer is its exit code and what it printed."""

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return ended.value.code, printed.out, printed.err

    return call


@pytest.fixture
def log(tmp_path, monkeypatch):
    """The ids of all runs that were begun, in this and in other processes."""
    path = tmp_path / "log"
    path.touch()
    monkeypatch.setenv("SWEEP_LOG", str(path))
    return lambda: path.read_text().split()
