"""A short search with fixed seeds, and the judge itself: each kind of bad outcome is complained of."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.cases import Case, Draw
from fuzz.run import MAKERS, complaints, made

GOOD = {"code": 0, "out": b'{"a": 1}\n', "err": b"", "changed": [], "written": b""}
ASKED = Case(kind="tables", arguments=("fit", "runs.csv", "--json"))
PAGE = Case(kind="requests", request=("POST", "/t/api/runs/fit", {}, b""))


def test_a_short_search(tmp_path):
    """A few of every kind, in processes of their own: nothing to complain of. No seed was chosen."""
    command = [sys.executable, str(Path(__file__).parent / "run.py"), "--cases", "50", "--seed", "0"]
    done = subprocess.run(
        [*command, "--report", str(tmp_path / "found.json")], capture_output=True, text=True
    )
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["wrong"] == [], done.stdout
    assert {kind: counts["inputs"] for kind, counts in found["counts"].items()} == dict.fromkeys(MAKERS, 10)
    assert found["peak_MB"] < 3000


@pytest.mark.parametrize("kind", MAKERS)
def test_cases_are_those_of_their_seed(kind):
    assert made(kind, 5) == made(kind, 5)
    assert any(made(kind, seed) != made(kind, seed + 1) for seed in range(3))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, []),
        ({"code": 3}, ["exit code 3"]),
        ({"code": None}, ["exit code None"]),
        ({"err": b"Traceback (most recent call last):\n"}, ["traceback"]),
        ({"code": 1, "err": b"sparselaw: error: a failure of ours (KeyError)\n"}, ["a failure of ours"]),
        ({"code": 2, "out": b"", "err": b"sparselaw: error: x=1: y; z\n"}, []),
        ({"code": 2, "out": b"", "err": b"sparselaw: error: x=1\n2: y; z\n"}, ["not one line"]),
        ({"code": 2, "out": b"", "err": b""}, ["not one line"]),
        ({"err": b"x.py:3: RuntimeWarning: divide by zero\n"}, ["a warning"]),
        ({"out": b'{"a": NaN}'}, ["no JSON: NaN"]),
        ({"out": b'{"a": 1}{"b": 2}'}, ["no JSON: Extra data: line 1 column 9 (char 8)"]),
        ({"out": b"[1]"}, ["not one JSON object"]),
        ({"changed": ["runs.csv"]}, ["an input was changed: ['runs.csv']"]),
        ({"died": "died of signal 11"}, ["died of signal 11"]),
    ],
)
def test_the_judge(change, said):
    assert complaints(ASKED, GOOD | change) == said


@pytest.mark.parametrize(
    ("got", "said"),
    [
        ({"code": 200, "out": b'{"x": 1}\n{"end": "done"}\n'}, []),
        ({"code": 500, "out": b""}, ["status 500"]),
        ({"code": 200, "out": b'{"x": 1}\n'}, ["no end line"]),
        ({"code": 200, "out": b'{"x": Infinity}\n{"end": "done"}\n'}, ["no JSON: Infinity"]),
        ({"code": None, "out": b"", "err": b"Traceback: x"}, ["traceback", "status None"]),
    ],
)
def test_the_judge_of_the_page(got, said):
    assert complaints(PAGE, {"err": b"", "lined": got["code"] == 200} | got) == said


def test_noise_changes_what_it_is_given():
    content = bytes(range(200))
    assert sum(Draw(seed).noise(content) != content for seed in range(50)) > 45
