"""docs/extending.md: its Python is a module of somebody's own, its commands run beside it."""

import importlib
import multiprocessing
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
    (folder / "my_ideas.py").write_text("\n".join(blocks(PAGE, "python")), "utf-8")
    sys.path.insert(0, str(folder))  # worker processes get the same path
    yield importlib.import_module("my_ideas")
    sys.path.remove(str(folder))
    for registry, kept in zip(REGISTRIES, before, strict=True):
        registry.clear()
        registry.update(kept)


def test_each_room_gained_one_thing(my_ideas):
    added = [name for registry in REGISTRIES for name in registry if registry[name].__class__ is not None]
    assert {"geometric", "harmonic", "attention", "softplus", "cutoff"} <= set(added)
    assert my_ideas.point.loss > 0.0


@pytest.mark.parametrize("line", commands(PAGE))
def test_command_knows_it(my_ideas, line, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    my_ideas.table.to_csv("runs.csv", index=False)
    with pytest.raises(SystemExit) as stop:
        main(shlex.split(line)[1:])
    assert stop.value.code == 0, f"{line}\n{capsys.readouterr().err}"
    assert not multiprocessing.active_children()


def test_blocks_are_short():
    """About thirty lines each, the example that uses it among them."""
    assert max(len(block.splitlines()) for block in blocks(PAGE, "python")) <= 40
