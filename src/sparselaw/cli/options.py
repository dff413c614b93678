"""Options: how each is shown in --help, and how its text is read; those that several commands share.

Numbers arrive as text and are read by ``numbers``, so that every refusal has the same one-line form. A
command gets them as values: ``steps: int = size(None, "Planned steps.")``.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand

from sparselaw import files, numbers
from sparselaw.cli.output import check_outputs
from sparselaw.interval import check_level

if TYPE_CHECKING:
    from sparselaw.inputs import Inputs

FLOAT, INTEGER, SIZES, FILE = "FLOAT", "INTEGER", "SIZES", "FILE"


def typed(metavar: str, read: Callable[[str, str], Any]) -> Callable[..., Any]:
    """A kind of option: ``read`` makes a value of its name and its text."""

    def option(default: Any, help_: str, *names: str, metavar: str = metavar, **settings: Any) -> Any:
        def given(parameter: typer.CallbackParam, text: Any) -> Any:
            return None if text is None else read(max(parameter.opts, key=len).lstrip("-"), text)

        return typer.Option(default, *names, metavar=metavar, help=help_, callback=given, **settings)

    return option


def text(default: Any, help_: str, metavar: str = FILE, *names: str, **settings: Any) -> Any:
    """An option that stays text."""
    return typer.Option(default, *names, metavar=metavar, help=help_, **settings)


def word(
    default: Any,
    help_: str,
    *words: str,
    names: Sequence[str] = (),
    offered: Callable[[], list[str]] | None = None,
) -> Any:
    """An option that takes one of a few words; the shell completes those ``offered``, if they are more."""
    return text(default, help_, "|".join(words), *names, autocompletion=offered or (lambda: list(words)))


def names_in(module: str, registry: str) -> Callable[[], list[str]]:
    """For the shell to complete: the names in a registry, which is loaded only when they are asked for."""
    return lambda: list(getattr(importlib.import_module(f"sparselaw.{module}"), registry))


def flag(name: str, help_: str) -> Any:
    return typer.Option(False, name, help=help_)


real, amount = typed(FLOAT, numbers.real), typed(FLOAT, numbers.amount)
size, whole = typed(INTEGER, numbers.size), typed(INTEGER, numbers.whole)
sizes, widths = typed(SIZES, numbers.sizes), typed(SIZES, numbers.widths)
budgets = typed("C,...", lambda name, text: [numbers.real(name, part.strip()) for part in text.split(",")])
level = typed(FLOAT, lambda name, text: check_level(numbers.real(name, text)))


class Options(dict[str, Any]):
    """Options of several commands, by name; ``read`` makes of their values what such a command gets."""

    def __init__(self, read: Callable[..., Any] = dict, **options: Any) -> None:
        super().__init__(options)
        self.read = read

    def only(self, *names: str) -> Options:
        """Some of them."""
        return Options(self.read, **{name: self[name] for name in names})

    def retyped(self, values: Mapping[str, Any]) -> list[str]:
        """What was typed for these ``values``, for a command that goes on from the same file.

        >>> Options(where=text([], "Rows."), best=flag("--best", "Tuned.")).retyped({"where": ("lr=1",)})
        ['--where', 'lr=1']
        """
        words = []
        for name, value in values.items():
            if value in (None, (), False) or numbers.typed(value) == self[name].default:
                continue
            option = f"--{name.replace('_', '-')}"
            if isinstance(value, Mapping):
                value = ",".join(map("=".join, value.items()))
            if isinstance(self[name].default, list):  # repeatable
                words += [word for each in value for word in (option, each)]
            else:
                text = ",".join(value) if isinstance(value, tuple) else numbers.typed(value)
                words += [option] if value is True else [option, text]
        return words


def as_typer_reads(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose options arrive as text, its tables of options written out one by one."""
    parameters: list[Parameter] = []
    tables: dict[str, Options] = {}
    for name, own in signature(command).parameters.items():
        if isinstance(own.default, Options):
            tables[name] = own.default
        options = own.default if name in tables else {name: own.default}
        for option, default in options.items():
            usual = getattr(default, "default", None)
            kind: Any = bool if isinstance(usual, bool) else list[str] if isinstance(usual, list) else str
            kind = {"list[str]": list[str], "typer.Context": typer.Context}.get(own.annotation, kind)
            parameters.append(own.replace(name=option, default=default, annotation=kind))

    def run(**given: Any) -> None:
        parts = {name: table.read(**{o: given.pop(o) for o in table}) for name, table in tables.items()}
        command(**given, **parts)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return run


def set_max_size(text: str | None) -> None:
    """For all that this command reads."""
    files.MAX_SIZE.set(files.USUAL_LIMIT if text is None else numbers.byte_size("max-size", text))


ALPHA1 = text(None, "Sparsity exponent: coordinate j is active with probability j^-(alpha1+1).", FLOAT)
ALPHA2 = text(None, "Amplitude exponent: an active coordinate has size j^(-(alpha2+1)/2).", FLOAT)
ALPHA = text(None, "For dense inputs, in place of the two: coordinate j has variance j^-(alpha+1).", FLOAT)
INPUTS = word(
    "sparse",
    "sparse; dense: Gaussian inputs with the same variances; or the JSON file of a measurement.",
    *("sparse", "dense", FILE),
    offered=names_in("inputs", "KINDS"),
)
DIMENSION = text(
    None,
    "Number of coordinates. [default: inf for sparse inputs with alpha1 > 0, else 10000]",
    "INTEGER|inf",
)
PAYS = "What a budget pays for: 6nd, the FLOP of training; the others are the theory's solvers"
SURFACE = word("sharp", "sharp, or leading: without corrections for finite sizes.", "sharp", "leading")
OF_SIZES = "sizes: 4,8,16 or start:stop:count, log-spaced."
SAMPLES = sizes(..., f"Data {OF_SIZES}", "-D", "--D")
SOLVER = word(
    "min-norm",
    "What trains the readout: to the end, or stopped early (gd, sgd).",
    *("min-norm", "ridge", "gd", "nesterov", "sgd"),
    offered=names_in("solvers", "SOLVERS"),
)
TRAINING = Options(  # what a solver may take, as text
    steps=text(None, "Number of steps, for --solver gd.", INTEGER),
    step=text(None, "Step size, for gd and sgd; without it a stable one is chosen.", FLOAT),
    passes=text(None, "Passes over the data, for --solver sgd.", INTEGER),
    batch=text(None, "Batch size, for --solver sgd. [default: 1]", INTEGER),
    momentum=text(None, "Share of the last update added to the next, for gd and sgd. [default: 0]", FLOAT),
)
JSON = flag("--json", "Print one JSON object on standard output.")
MAX_SIZE = text(
    None,
    "What a file may unpack to and ask for in memory, such as 4GB. [default: 512MB]",
    "SIZE",
    callback=set_max_size,
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


class Command(TyperCommand):
    """A command whose outputs may not be any other file that its arguments name.

    Where it has --inputs, every field of registered inputs is an option of it; where a solver can be named,
    so is every setting of a registered solver. Options that the command names itself come first; the others
    are read alike, and ``further`` has their values.
    """

    def invoke(self, ctx: Any) -> Any:
        check_outputs(ctx.params)
        return super().invoke(ctx)

    def get_params(self, ctx: Any) -> list[Any]:
        """The named options, and one like --inputs for each that is not."""
        named: list[Any] = super().get_params(ctx)
        names = {parameter.name: parameter for parameter in named}
        if "inputs" not in names:
            return named
        taken = {word for parameter in named for word in parameter.opts}
        hidden = []
        for field in sorted(_registered_fields(with_solvers="solver" in names)):
            if (option := f"--{field.replace('_', '-')}") not in taken:
                made = copy.copy(names["inputs"])
                made.name, made.opts, made.default, made.hidden = field, [option], None, True
                made.expose_value, made.callback = False, _note
                hidden.append(made)
        return named + hidden

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """With the inputs that are registered by now: those of rare activations where no other is named."""
        for parameter in self.params:
            if parameter.name == "inputs":
                from sparselaw.inputs import KINDS

                drawn = ["activations"] + ["gaussian"] * ("dense" in str(parameter.metavar))
                kinds = [kind for kind in KINDS.values() if kind.sampling in drawn]
                parameter.metavar = "|".join(FILE if kind.suffixes else kind.kind for kind in kinds)
        super().format_help(ctx, formatter)


GIVEN = "sparselaw.further_options"  # where the context of a command has options that it does not name


def _note(context: Any, parameter: Any, value: str | None) -> None:
    if value is not None:
        context.meta.setdefault(GIVEN, {})[parameter.name] = value


def _registered_fields(*, with_solvers: bool) -> set[str]:
    from sparselaw.inputs.base import KINDS, option_names

    fields = {name for kind in KINDS.values() for name in option_names(kind)}
    if with_solvers:
        from sparselaw.solvers import setting_names

        fields |= setting_names()
    return fields


def further(context: Any) -> dict[str, str]:
    """The options given to a command that it does not name, by the field they are called after."""
    return dict(context.meta.get(GIVEN, {}))


def of_inputs(written: str, context: Any) -> tuple[dict[str, str], dict[str, str]]:
    """Those of them that describe the inputs written after --inputs, and the others: for the solver."""
    from sparselaw.inputs.base import option_names, written_kind

    given = further(context)
    own = set(option_names(written_kind(written))) if given else set()
    mine = {name: value for name, value in given.items() if name in own}
    return mine, {name: value for name, value in given.items() if name not in own}
