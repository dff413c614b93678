"""Options of the commands that read real features."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints

import typer

from sparselaw import numbers
from sparselaw.cli.options import MAX_SIZE
from sparselaw.errors import InputError


def formats() -> list[str]:
    """For the shell to complete."""
    from sparselaw.measuring.readers import READERS

    return list(READERS)


def token_kinds() -> list[str]:
    """For the shell to complete."""
    return ["words", "characters"]


FILES: Any = typer.Argument(
    ...,
    metavar="FILE",
    help="A feature matrix (files, or folders of shards); stdlib: Python's own source.",
)
WORKERS: Any = typer.Option(None, metavar="INTEGER", help="Processes for several files. [default: all cores]")
SCHEDULER: Any = typer.Option(None, metavar="ADDRESS", help="Dask scheduler that sees the files.")

READING: dict[str, Any] = {  # what says how features are read, of every such command
    "threshold": typer.Option("0", metavar="FLOAT", help="Entries of this size or less are not active."),
    "binary": typer.Option(False, "--binary", help="Every active entry is 1."),
    "log1p": typer.Option(False, "--log1p", help="Take log(1 + value)."),
    "center": typer.Option(
        False, "--center", help="Subtract the mean: variances in place of second moments."
    ),
    "format": typer.Option(
        None,
        metavar="npz|npy|mtx|svmlight|triplets|transactions|text|python",
        autocompletion=formats,
        help="What the files are. [default: by the ending]",
    ),
    "columns": typer.Option(None, metavar="NAMES", help="Of triplets: sample,feature,value."),
    "encoding": typer.Option("utf-8", metavar="NAME", help="Of text."),
    "split": typer.Option(
        "line", metavar="line|blank|file|REGEX", help="What ends a document of text, or stands between two."
    ),
    "tokens": typer.Option(
        "words", metavar="words|characters", autocompletion=token_kinds, help="Tokens of text."
    ),
    "ngram": typer.Option("1", metavar="INTEGER", help="So many tokens in a row are one feature."),
    "pattern": typer.Option(None, metavar="REGEX", help="Tokens of text are its matches."),
    "keep_case": typer.Option(False, "--keep-case", help="Text is not put in lower case."),
    "max_size": MAX_SIZE,
}


def reads_features(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the options of READING in the place of its argument ``reading``.

    The command gets them in a dictionary, as the library takes them.
    """
    kinds = get_type_hints(command)
    parameters: list[Parameter] = []
    for name, own in signature(command).parameters.items():
        if name != "reading":
            parameters.append(own.replace(annotation=kinds[name]))
            continue
        for option, default in READING.items():
            kind = bool if default.default is False else str
            parameters.append(Parameter(option, own.kind, default=default, annotation=kind))

    def run(**given: Any) -> None:
        own = {name: value for name, value in given.items() if name not in READING}
        command(**own, reading=_as_taken({name: given[name] for name in READING}))

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return run


def _as_taken(given: dict[str, Any]) -> dict[str, Any]:
    del given["max_size"]  # its option has set it
    return given | {
        "threshold": numbers.real("threshold", given["threshold"]),
        "columns": column_names(given["columns"]),
        "ngram": numbers.size("ngram", given["ngram"]),
    }


def source_of(files: list[str]) -> str | list[str]:
    return files[0] if len(files) == 1 else files


def column_names(text: str | None) -> tuple[str, ...]:
    """sample,feature or sample,feature,value.

    >>> column_names("doc, word, count")
    ('doc', 'word', 'count')
    """
    if text is None:
        return ()
    names = tuple(part.strip() for part in text.split(","))
    if len(names) not in (2, 3) or not all(names):
        raise InputError("columns", text, "are not two or three names", "write sample,feature,value")
    return names
