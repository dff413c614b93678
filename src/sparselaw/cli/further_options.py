"""Options that no command names: parameters of inputs and settings of solvers that somebody registered."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from typer.core import TyperCommand

GIVEN = "sparselaw.further_options"  # where the context of a command has them


class TakesInputs(TyperCommand):
    """A command with --inputs: every field of registered inputs is an option of it.

    Where a solver can be named, so is every setting of a registered solver. Options that the command names
    itself come first; the others are read alike, and ``further`` has their values.
    """

    samplings: tuple[str, ...] = ("activations", "gaussian")  # of the inputs that --help names

    def get_params(self, ctx: Any) -> list[Any]:
        """The named options, and one like --inputs for each that is not."""
        named: list[Any] = super().get_params(ctx)
        taken = {word for parameter in named for word in parameter.opts}
        names = {parameter.name: parameter for parameter in named}
        return named + [
            _like(names["inputs"], field, option)
            for field in sorted(_registered_fields(with_solvers="solver" in names))
            if (option := f"--{field.replace('_', '-')}") not in taken
        ]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """With the inputs that are registered by now."""
        from sparselaw.inputs import KINDS

        shown = "|".join(kind.written_as() for kind in KINDS.values() if kind.sampling in self.samplings)
        for parameter in self.params:
            if parameter.name == "inputs":
                parameter.metavar = shown
        super().format_help(ctx, formatter)


class TakesRareInputs(TakesInputs):
    """A command for inputs with rare activations."""

    samplings = ("activations",)


def further(context: Any) -> dict[str, str]:
    """The options given to a command that it does not name, by the field they are called after."""
    return dict(context.meta.get(GIVEN, {}))


def of_inputs(written: str, given: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Those that describe the inputs written after --inputs, and the others: for the solver."""
    from sparselaw.inputs.named_inputs import written_kind

    own = set(written_kind(written).option_names()) if given else set()
    mine = {name: value for name, value in given.items() if name in own}
    return mine, {name: value for name, value in given.items() if name not in own}


def _registered_fields(*, with_solvers: bool) -> set[str]:
    from sparselaw.inputs import KINDS

    fields = {name for kind in KINDS.values() for name in kind.option_names()}
    if with_solvers:
        from sparselaw.solvers import setting_names

        fields |= setting_names()
    return fields


def _like(known: Any, field: str, option: str) -> Any:
    """A hidden option that takes one word, as ``known`` does, and notes what it was given."""

    def note(context: Any, _: Any, value: str | None) -> None:
        if value is not None:
            context.meta.setdefault(GIVEN, {})[field] = value

    made = copy.copy(known)
    made.name, made.opts, made.default, made.hidden = field, [option], None, True
    made.expose_value, made.callback = False, note
    return made
