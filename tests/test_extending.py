"""docs/extending.md: its Python is a module of somebody's own, its commands run beside it."""

import importlib
import os
import re
import shlex
import shutil
import subprocess
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
SOURCE = ROOT / "src" / "sparselaw"
ROOMS = ("inputs", "laws", "costs", "features", "solvers")  # in the order of the page
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


USED = """
import sparselaw
from sparselaw.costs import parse_cost
from sparselaw.features import FEATURES
from sparselaw.inputs import written_inputs
from sparselaw.laws import law_named
from sparselaw.solvers import from_options

print(sparselaw.__file__)
print(written_inputs("geometric", {"rate": "0.5"}, "20").expected_nonzeros())
print(law_named("harmonic")(a=1.0, b=1.0, alpha=1.0).loss(2.0, 2.0))
print(parse_cost("attention").compute(1.0, 1.0))
print(FEATURES["softplus"].apply(0.0))
print(from_options("cutoff", {"directions": "3"}))
"""


def test_each_block_is_a_file_of_its_room(tmp_path):
    """In a copy of the package, with the one import that the page names, where it belongs in the alphabet."""
    package = tmp_path / "sparselaw"
    shutil.copytree(SOURCE, package)
    for room, block in zip(ROOMS, definitions(), strict=True):
        name = re.search(r"^(?:class|def) (\w+)", block, re.MULTILINE)[1]
        (package / room / f"{name.lower()}.py").write_text(block, "utf-8")
        module = f"sparselaw.{room}.{name.lower()}"
        start = package / room / "__init__.py"
        lines = start.read_text("utf-8").splitlines()
        imports = [i for i, line in enumerate(lines) if line.startswith("from sparselaw")]
        later = [i for i in imports if lines[i].split()[1] > module]
        place = later[0] if later else imports[-1] + 1
        lines.insert(place, f"from {module} import {name}")
        start.write_text("\n".join(lines), "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", USED],
        env=os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    file, nonzeros, loss, cost, softplus, solver = done.stdout.splitlines()
    assert file == str(package / "__init__.py")
    found = [float(text) for text in (nonzeros, loss, cost, softplus)]
    assert found == pytest.approx([2.0 - 0.5**19, 1.0, 12.0, 0.6931471805599453])
    assert solver == "Cutoff(directions=3)"
