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
@pytest.mark.parametrize("merged", [False, True])
def test_nobody_reads(words, merged):
    """As in `sparselaw ... | head`, when head has ended before anything is written."""
    reader, writer = os.pipe()
    os.close(reader)
    errors = writer if merged else subprocess.PIPE
    done = subprocess.run(
        [sys.executable, "-m", "sparselaw", *words], stdout=writer, stderr=errors, text=True, check=False
    )
    os.close(writer)
    assert done.returncode == 0
    assert merged or "Traceback" not in done.stderr
    assert merged or words[0] == "predict" or "no runs in" in done.stderr or not done.stderr
