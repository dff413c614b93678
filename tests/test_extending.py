"""docs/extending.md: its Python is a module of somebody's own, its commands run beside it."""

import importlib
import shlex
import sys

import pytest

from sparselaw.cli import main
from sparselaw.costs import COSTS
from sparselaw.features import FEATURES
from sparselaw.inputs import KINDS
from sparselaw.laws import LAWS
from sparselaw.solvers import SOLVERS
from test_documents import ROOT, blocks, commands

PAGE = ROOT / "docs" / "extending.md"
REGISTRIES = (KINDS, LAWS, COSTS, FEATURES, SOLVERS)


@pytest.fixture(scope="module")
def my_ideas(tmp_path_factory):
    """The page's blocks as a module; what they register is taken back afterwards."""
    before = [dict(registry) for registry in REGISTRIES]
    folder = tmp_path_factory.mktemp("my_ideas")
    (folder / "my_ideas.py").write_text("\n".join(definitions()), "utf-8")
    sys.path.insert(0, str(folder))  # worker processes get the same path
    yield vars(importlib.import_module("my_ideas"))
    sys.path.remove(str(folder))
    for registry, kept in zip(REGISTRIES, before, strict=True):
        registry.clear()
        registry.update(kept)


def definitions():
    return [block for block in blocks(PAGE, "python") if "register" in block]


def examples():
    return [block for block in blocks(PAGE, "python") if "register" not in block]


def test_examples_hold(my_ideas):
    assert len(definitions()) == len(examples()) == len(REGISTRIES)
    names = dict(my_ideas)
    for block in examples():
        exec(compile(block, PAGE.name, "exec"), names)


@pytest.mark.parametrize("line", commands(PAGE))
@pytest.mark.usefixtures("my_ideas")
def test_command_knows_it(line, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    law = LAWS["harmonic"](a=3.0, b=50.0, alpha=0.4)
    sizes = [(N, D) for N in (1e3, 1e4, 1e5) for D in (1e4, 1e5, 1e6)]
    rows = [f"{N},{D},{law.loss(N, D)}" for N, D in sizes]
    (tmp_path / "runs.csv").write_text("\n".join(["N,D,loss", *rows]), "utf-8")
    with pytest.raises(SystemExit) as stop:
        main(shlex.split(line)[1:])
    assert stop.value.code == 0, f"{line}\n{capsys.readouterr().err}"


def test_definitions_are_short():
    assert max(len(block.splitlines()) for block in definitions()) <= 30
