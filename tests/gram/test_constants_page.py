"""docs/constants.md names every number at the top of the files of gram and surface."""

import ast
from pathlib import Path

import pytest

import sparselaw

SOURCE = Path(sparselaw.__file__).parent
PAGE = (SOURCE.parents[1] / "docs" / "constants.md").read_text(encoding="utf-8")
FILES = sorted(path for room in ("gram", "surface") for path in (SOURCE / room).glob("*.py"))


def constants(text):
    """Names in capitals that are bound at the top of a module, private ones apart."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign):
            for name in ast.walk(node.targets[0]):
                if isinstance(name, ast.Name) and name.id.isupper() and not name.id.startswith("_"):
                    yield name.id


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_constant_is_on_the_page(path):
    rows = "".join(line for line in PAGE.splitlines() if f"{path.parent.name}/{path.name}" in line)
    assert [
        name
        for name in constants(path.read_text(encoding="utf-8"))
        if f"`{name}`" not in rows and f"`{name} " not in rows
    ] == []


def test_a_new_constant_is_seen():
    assert list(constants("A, B = 1.0, 2.0\n_C = 3\nd = 4")) == ["A", "B"]
