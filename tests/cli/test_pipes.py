"""Readers that go away: not a failure, and not a word about it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PREDICT = ["predict", "--alpha1", "1", "--alpha2", "0.3", "--surface", "leading"]


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["simulate", "--help"],
        [*PREDICT, "-N", "4:1e6:40", "-D", "100"],
        [*PREDICT, "-N", "4:1e6:60", "-D", "100", "--json"],  # more than one buffer full
        ["runs", "list"],
    ],
    ids=lambda words: " ".join(words[:2]) + words[-1],
)
def test_nobody_reads(words):
    """As in `sparselaw ... | head`, when head has ended before anything is written."""
    done = without_a_reader(words, merged=False)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert words[0] == "predict" or "no runs in" in done.stderr or not done.stderr


@pytest.mark.parametrize("words", [["--help"], ["runs", "list"]], ids=" ".join)
def test_nobody_reads_the_errors_either(words):
    """As in `sparselaw ... 2>&1 | head`; the second writes to standard error."""
    assert without_a_reader(words, merged=True).returncode == 0


def without_a_reader(words, *, merged):
    reader, writer = os.pipe()
    os.close(reader)
    errors = writer if merged else subprocess.PIPE
    done = subprocess.run(
        [sys.executable, "-m", "sparselaw", *words], stdout=writer, stderr=errors, text=True, check=False
    )
    os.close(writer)
    return done
