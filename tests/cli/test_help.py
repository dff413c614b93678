"""What --help says of every command: the kind of each value, and the choices there are."""

from __future__ import annotations

import pytest
import typer.main

from sparselaw.cli import main
from sparselaw.cli.app import app
from sparselaw.costs import cost_names
from sparselaw.failure.failure_curve import METHODS
from sparselaw.features import FEATURES
from sparselaw.inputs import KINDS
from sparselaw.laws import LAWS
from sparselaw.solvers import SOLVERS


def commands(group=None, path=""):
    """Every command and subcommand, by its name."""
    for name, command in (group or typer.main.get_command(app)).commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{path}{name} ")
        else:
            yield f"{path}{name}", command


COMMANDS = dict(commands())


def metavars(command):
    return {p.name: p.metavar for p in COMMANDS[command].params if p.type_descriptor.annotation is not bool}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_value_says_its_kind(command):
    vague = [name for name, metavar in metavars(command).items() if metavar is None]
    assert not vague, f"{command}: give {', '.join(vague)} a metavar"


@pytest.mark.parametrize(
    ("command", "option", "choices"),
    [
        ("simulate", "features", FEATURES),
        ("simulate", "solver", SOLVERS),
        ("simulate", "inputs", KINDS),
        ("failure", "method", METHODS),
        ("fit", "law", LAWS),
        ("plan", "cost", cost_names()),
        ("forecast", "cost", cost_names()),
    ],
)
def test_choices_are_registered(command, option, choices):
    """Words that are written out, because reading the registry would load numpy for --help."""
    shown = {word for word in metavars(command)[option].split("|") if not word.isupper()}  # FILE is no choice
    assert shown <= set(choices)


@pytest.mark.parametrize("command", ["predict", "simulate", "failure"])
def test_sizes_have_the_same_names_everywhere(command):
    names = {word for parameter in COMMANDS[command].params for word in parameter.opts}
    assert {"-N", "--N", "-D", "--D"} <= names


def test_the_name_alone_prints_the_commands(capsys):
    with pytest.raises(SystemExit) as stop:
        main([])
    out, err = capsys.readouterr()
    assert (stop.value.code, err) == (0, "")
    assert all(f"  {name.split()[0]}" in out for name in COMMANDS)
