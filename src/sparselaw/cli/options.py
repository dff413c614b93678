"""Options that several commands share, and the inputs they describe.

Numbers arrive as text and are read by ``numbers``, so that every refusal has the same one-line form;
``metavar`` says in --help what kind of text is meant.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Mapping
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any, get_type_hints

import typer
from typer.core import TyperCommand

from sparselaw import files, numbers

if TYPE_CHECKING:
    from sparselaw.inputs import Inputs

FLOAT: str = "FLOAT"
INTEGER: str = "INTEGER"
SIZES: str = "SIZES"
FILE: str = "FILE"


def names_in(module: str, registry: str) -> Callable[[], list[str]]:
    """For the shell to complete: the names in a registry, which is loaded only when they are asked for."""

    def names() -> list[str]:
        return list(getattr(importlib.import_module(f"sparselaw.{module}"), registry))

    return names


def one_of(*words: str) -> dict[str, Any]:
    """What an option that takes one of a few words says of itself."""
    return {"metavar": "|".join(words), "autocompletion": lambda: list(words)}


class Options(dict[str, Any]):
    """Options of several commands, by name; ``read`` makes of what was typed what such a command gets."""

    def __init__(self, read: Callable[..., Any], **options: Any) -> None:
        super().__init__(options)
        self.read = read

    def only(self, *names: str) -> Options:
        """Some of them."""
        return Options(self.read, **{name: self[name] for name in names})


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command with its tables of options written out: each is the default of one argument."""
    kinds = get_type_hints(command)
    parameters: list[Parameter] = []
    tables: dict[str, Options] = {}
    for name, own in signature(command).parameters.items():
        if not isinstance(own.default, Options):
            parameters.append(own.replace(annotation=kinds[name]))
            continue
        tables[name] = own.default
        for option, default in own.default.items():
            kind = {bool: bool, list: list[str]}.get(type(default.default), str)
            parameters.append(Parameter(option, own.kind, default=default, annotation=kind))

    def run(**given: Any) -> None:
        parts = {
            name: table.read(**{option: given.pop(option) for option in table})
            for name, table in tables.items()
        }
        command(**given, **parts)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return run


ALPHA1: Any = typer.Option(
    None, metavar=FLOAT, help="Sparsity exponent: coordinate j is active with probability j^-(alpha1+1)."
)
ALPHA2: Any = typer.Option(
    None, metavar=FLOAT, help="Amplitude exponent: an active coordinate has size j^(-(alpha2+1)/2)."
)
ALPHA: Any = typer.Option(
    None, metavar=FLOAT, help="For dense inputs, in place of the two: coordinate j has variance j^-(alpha+1)."
)
INPUTS: Any = typer.Option(
    "sparse",
    metavar="sparse|dense|FILE",
    autocompletion=names_in("inputs", "KINDS"),
    help="sparse; dense: Gaussian inputs with the same variances; or the JSON file of a measurement.",
)
DIMENSION: Any = typer.Option(
    None,
    metavar="INTEGER|inf",
    help="Number of coordinates. [default: inf for sparse inputs with alpha1 > 0, else 10000]",
)
SURFACE: Any = typer.Option(
    "sharp",
    **one_of("sharp", "leading"),
    help="sharp, or leading: without corrections for finite sizes.",
)
_SIZES = "4,8,16 or start:stop:count, log-spaced."
WIDTHS: Any = typer.Option(..., "-N", "--N", metavar=SIZES, help=f"Model sizes: {_SIZES}")
SAMPLES: Any = typer.Option(..., "-D", "--D", metavar=SIZES, help=f"Data sizes: {_SIZES}")
WIDTHS_IF_ANY: Any = typer.Option(None, "-N", "--N", metavar=SIZES, help=f"Model sizes: {_SIZES}")
SAMPLES_IF_ANY: Any = typer.Option(None, "-D", "--D", metavar=SIZES, help=f"Data sizes: {_SIZES}")
STEPS: Any = typer.Option(None, metavar=INTEGER, help="Number of steps, for --solver gd.")
STEP: Any = typer.Option(
    None, metavar=FLOAT, help="Step size, for gd and sgd; without it a stable one is chosen."
)
PASSES: Any = typer.Option(None, metavar=INTEGER, help="Passes over the data, for --solver sgd.")
BATCH: Any = typer.Option(None, metavar=INTEGER, help="Batch size, for --solver sgd. [default: 1]")
MOMENTUM: Any = typer.Option(
    None, metavar=FLOAT, help="Share of the last update added to the next, for gd and sgd. [default: 0]"
)
SOLVER: Any = typer.Option(
    "min-norm",
    metavar="min-norm|ridge|gd|nesterov|sgd",
    autocompletion=names_in("solvers", "SOLVERS"),
    help="What trains the readout: to the end, or stopped early (gd, sgd).",
)
JSON: Any = typer.Option(False, "--json", help="Print one JSON object on standard output.")


def set_max_size(text: str | None) -> str | None:
    """For all that this command reads."""
    files.MAX_SIZE.set(files.USUAL_LIMIT if text is None else numbers.byte_size("max-size", text))
    return text


MAX_SIZE: Any = typer.Option(
    None,
    metavar="SIZE",
    callback=set_max_size,
    help="What a file may unpack to and ask for in memory, such as 4GB. [default: 512MB]",
)


def read_inputs(
    alpha1: str | None,
    alpha2: str | None,
    written: str,
    dimension: str | None,
    alpha: str | None = None,
    further: Mapping[str, str] | None = None,
) -> Inputs:
    """The inputs that the options describe; ``further`` are those of inputs that others have added."""
    from sparselaw.inputs import written_inputs

    named = {"alpha1": alpha1, "alpha2": alpha2, "alpha": alpha, **(further or {})}
    given = {name: text for name, text in named.items() if text is not None}
    return written_inputs(written, given, dimension)


# Options that no command names: parameters of inputs and settings of solvers that somebody registered.

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

        kinds = [kind for kind in KINDS.values() if kind.sampling in self.samplings]
        shown = "|".join("FILE" if kind.suffixes else kind.kind for kind in kinds)
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
    from sparselaw.inputs.base import option_names, written_kind

    own = set(option_names(written_kind(written))) if given else set()
    mine = {name: value for name, value in given.items() if name in own}
    return mine, {name: value for name, value in given.items() if name not in own}


def _registered_fields(*, with_solvers: bool) -> set[str]:
    from sparselaw.inputs.base import KINDS, option_names

    fields = {name for kind in KINDS.values() for name in option_names(kind)}
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
