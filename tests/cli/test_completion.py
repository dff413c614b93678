"""What the shell offers after an option: every word that the command takes."""

import pytest
import typer.main

from sparselaw.cli.app import app

FEATURES = ["abs", "erf", "gelu", "leaky-relu", "linear", "relu", "sign", "tanh"]


def offered(command, name, start=""):
    group = typer.main.get_command(app)
    found = group.get_command(typer.Context(group), command)
    option = next(parameter for parameter in found.params if parameter.name == name)
    return sorted(item.value for item in option.shell_complete(typer.Context(found), start))


@pytest.mark.parametrize(
    ("command", "name", "words"),
    [
        ("predict", "features", FEATURES),
        ("predict", "surface", ["leading", "sharp"]),
        ("plan", "surface", ["leading", "sharp"]),
        ("predict", "form", ["full", "quasi-static"]),
        ("fit", "objective", ["envelope", "huber", "l1", "least-squares"]),
        ("networks", "network", ["linear", "relu", "transformer"]),
        ("networks", "task", ["facts", "linear", "pairs"]),
        ("measure", "tokens", ["characters", "words"]),
    ],
)
def test_every_choice_is_offered(command, name, words):
    assert offered(command, name) == words


def test_formats_and_items_of_the_paper():
    assert {"npz", "npy", "mtx", "text", "python"} <= set(offered("measure", "format"))
    assert offered("learn", "format") == offered("measure", "format")
    assert {"figure-1", "table-4", "checks"} <= set(offered("reproduce", "names"))
    assert offered("reproduce", "names", "table") == ["table-3", "table-4"]
