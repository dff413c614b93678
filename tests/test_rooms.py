"""Outside inputs/ nobody asks which kind the inputs are: they answer for themselves."""

import ast
from pathlib import Path

import pytest

import sparselaw
from sparselaw.inputs import KINDS, ActivationInputs

SOURCE = Path(sparselaw.__file__).parent
CLASSES = {kind.__name__ for kind in (ActivationInputs, *KINDS.values())}  # Inputs itself may be asked for


def named(node):
    """The names in an expression: x, a.x, (x, y), x | y."""
    return {part.attr if isinstance(part, ast.Attribute) else part.id for part in ast.walk(node)
            if isinstance(part, ast.Attribute | ast.Name)}  # fmt: skip


def is_kind_of_inputs(node):
    """inputs.kind, self.inputs.kind, SparseInputs.kind."""
    if not (isinstance(node, ast.Attribute) and node.attr == "kind"):
        return False
    owner = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
    return owner.lower().endswith("inputs")


def asks(node):
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
        return bool(CLASSES & named(node.args[1]))
    if isinstance(node, ast.Compare):
        sides = [part for side in (node.left, *node.comparators) for part in ast.walk(side)]
        typed = any(isinstance(side, ast.Call) and getattr(side.func, "id", "") == "type" for side in sides)
        return any(map(is_kind_of_inputs, sides)) or (typed and bool(CLASSES & named(node)))
    if isinstance(node, ast.MatchClass):
        return bool(CLASSES & named(node.cls))
    return isinstance(node, ast.Match) and is_kind_of_inputs(node.subject)


def questions(text):
    return [node.lineno for node in ast.walk(ast.parse(text)) if asks(node)]


@pytest.mark.parametrize(
    "text",
    [
        "isinstance(x, TabulatedInputs)",
        "isinstance(x, (int, sl.DenseInputs))",
        "issubclass(type(x), ActivationInputs | None)",
        "type(x) is SparseInputs",
        "inputs.kind == SparseInputs.kind",
        "self.inputs.kind in ('sparse', 'dense')",
        "'dense' != task.inputs.kind",
        "match x:\n    case SparseInputs(): pass",
        "match inputs.kind:\n    case 'sparse': pass",
    ],
)
def test_a_question_is_found(text):
    assert questions(text)


@pytest.mark.parametrize("text", ["isinstance(x, Inputs)", "column.kind == 'seed'", "print(inputs.kind)"])
def test_what_is_none_is_not(text):
    assert not questions(text)


def test_nobody_asks():
    files = [file for file in SOURCE.rglob("*.py") if file.relative_to(SOURCE).parts[0] != "inputs"]
    likely = [
        (file, text) for file in files if "Inputs" in (text := file.read_text("utf-8")) or ".kind" in text
    ]
    assert likely  # the package was found
    found = [f"{file.relative_to(SOURCE)}:{line}" for file, text in likely for line in questions(text)]
    assert not found
