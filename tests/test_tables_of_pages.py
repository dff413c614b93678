"""The tables of fit.md and plan.md are what the commands above them print (real runs, so not everywhere)."""

import shlex
from pathlib import Path

import pytest

from oracles.runs import real_runs
from sparselaw.cli import main

ROOT = Path(__file__).parent.parent
LLAMA3 = "llama3.csv"


def shown(page):
    """(command, lines below it) of the blocks that show what a command prints."""
    found, inside = [], False
    for line in (ROOT / "docs" / page).read_text("utf-8").splitlines():
        if line.startswith("```"):
            inside = line == "```text"
        elif inside and line.startswith("$ "):
            found.append((line.removeprefix("$ "), []))
        elif inside and found and line != "...":
            found[-1][1].append(line)
    return [(command, lines) for command, lines in found if lines]


def words(line):
    return " ".join(line.split())


CASES = [(page, *case) for page in ("fit.md", "plan.md") for case in shown(page) if LLAMA3 in case[0]]


def test_every_table_is_below_its_command():
    """No block of output without a command, and the pages still have some."""
    assert len(CASES) >= 5
    for page in ("fit.md", "plan.md"):
        assert all(command.startswith("sparselaw ") for command, _ in shown(page))


@pytest.mark.slow
@pytest.mark.parametrize(("page", "command", "lines"), CASES, ids=lambda v: v if isinstance(v, str) else "")
def test_a_table_is_what_its_command_prints(page, command, lines, capsys):
    file = real_runs(f"forecast/{LLAMA3}")
    arguments = [str(file) if word == LLAMA3 else word for word in shlex.split(command)[1:]]
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code in (0, None)
    printed = {words(line) for line in capsys.readouterr().out.replace(str(file), LLAMA3).splitlines()}
    missing = [line for line in map(words, lines) if line not in printed]
    assert not missing, page
