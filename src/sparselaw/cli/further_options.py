"""Options that no command names: parameters of inputs and settings of solvers that somebody registered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from typer.core import TyperCommand

from sparselaw.errors import InputError


class TakesInputs(TyperCommand):
    """A command with --inputs. Options of registered things are in ``context.args`` when it runs.

    They are taken out before typer reads the rest, so that it refuses what nobody knows in its own words.
    """

    samplings: tuple[str, ...] = ("activations", "gaussian")  # of the inputs that --help names

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        takes_value = {
            word: not getattr(parameter, "is_flag", False)
            for parameter in self.get_params(ctx)
            for word in (*parameter.opts, *parameter.secondary_opts)
        }
        rest: list[str] = []
        further: list[str] = []
        words = iter(args)
        for word in words:
            option, equals, _ = word.partition("=")
            known = option in takes_value or not option.startswith("--") or not self._registered(ctx, option)
            into = rest if known else further
            into.append(word)
            if not equals and takes_value.get(word, not known):
                into += islice(words, 1)
        super().parse_args(ctx, rest)
        ctx.args = [*ctx.args, *further]
        return list(ctx.args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """With the inputs that are registered by now: to know them takes numpy, so only --help asks."""
        from sparselaw.inputs import KINDS

        shown = "|".join(kind.written_as() for kind in KINDS.values() if kind.sampling in self.samplings)
        for parameter in self.get_params(ctx):
            if parameter.name == "inputs":
                parameter.metavar = shown
        super().format_help(ctx, formatter)

    def _registered(self, ctx: Any, option: str) -> bool:
        """Whether inputs have such a parameter or, where a solver can be named, solvers such a setting."""
        from sparselaw.inputs import KINDS

        names = {name for kind in KINDS.values() for name in kind.option_names()}
        if any(parameter.name == "solver" for parameter in self.get_params(ctx)):
            from sparselaw.solvers import setting_names

            names |= setting_names()
        return field_name(option) in names


class TakesRareInputs(TakesInputs):
    """A command for inputs with rare activations."""

    samplings = ("activations",)


def pairs(words: Iterable[str], command: str) -> dict[str, str]:
    """--name value and --name=value as a dictionary; anything else is refused as typed.

    >>> pairs(["--tail-rate", "2", "--shape=flat"], "simulate")
    {'tail_rate': '2', 'shape': 'flat'}
    """
    found, left = {}, iter(words)
    for word in left:
        option, equals, value = word.partition("=")
        if not word.startswith("--") or not (equals or (value := next(left, ""))):
            raise InputError("arguments", word, "is not an option", f"see 'sparselaw {command} --help'")
        found[field_name(option)] = value
    return found


def of_inputs(written: str, further: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Those that describe the inputs written after --inputs, and the others: for the solver."""
    from sparselaw.inputs.named_inputs import written_kind

    own = set(written_kind(written).option_names()) if further else set()
    mine = {name: value for name, value in further.items() if name in own}
    return mine, {name: value for name, value in further.items() if name not in own}


def field_name(option: str) -> str:
    """The field of a record that an option is called after."""
    return option.removeprefix("--").replace("-", "_")
