"""The page of the rooms, the contract of imports and the folders name the same rooms in the same order."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
OUTSIDE = {"__init__", "__main__"}  # the public list, and the command's other name


def page_layers():
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    drawing = text.split("```")[1].strip("\n")
    names = [re.match(r"(\w+, )*\w+", line)[0] for line in drawing.splitlines()]
    return [set(line.split(", ")) for line in names]


def contract_layers():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (contract,) = project["tool"]["importlinter"]["contracts"]
    return [set(re.findall(r"sparselaw\.(\w+)", layer)) for layer in contract["layers"]]


def rooms():
    source = ROOT / "src" / "sparselaw"
    folders = {path.parent.name for path in source.glob("*/__init__.py")}
    return folders | {path.stem for path in source.glob("*.py")} - OUTSIDE


def test_the_page_is_the_contract_and_has_every_room():
    assert page_layers() == contract_layers()
    assert set().union(*contract_layers()) == rooms()
