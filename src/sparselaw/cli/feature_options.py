"""Options of the commands that read real features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer

from sparselaw import numbers
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
FORMAT: Any = typer.Option(
    None,
    metavar="npz|npy|mtx|svmlight|triplets|transactions|text|python",
    autocompletion=formats,
    help="What the files are. [default: by the ending]",
)
THRESHOLD: Any = typer.Option("0", metavar="FLOAT", help="Entries of this size or less are not active.")
BINARY: Any = typer.Option(False, "--binary", help="Every active entry is 1.")
LOG1P: Any = typer.Option(False, "--log1p", help="Take log(1 + value).")
CENTER: Any = typer.Option(False, "--center", help="Subtract the mean: variances in place of second moments.")
COLUMNS: Any = typer.Option(None, metavar="NAMES", help="Of triplets: sample,feature,value.")
ENCODING: Any = typer.Option("utf-8", metavar="NAME", help="Of text.")
SPLIT: Any = typer.Option(
    "line", metavar="line|blank|file|REGEX", help="What ends a document of text, or stands between two."
)
TOKENS: Any = typer.Option(
    "words", metavar="words|characters", autocompletion=token_kinds, help="Tokens of text."
)
NGRAM: Any = typer.Option("1", metavar="INTEGER", help="So many tokens in a row are one feature.")
PATTERN: Any = typer.Option(None, metavar="REGEX", help="Tokens of text are its matches.")
KEEP_CASE: Any = typer.Option(False, "--keep-case", help="Text is not put in lower case.")
WORKERS: Any = typer.Option(None, metavar="INTEGER", help="Processes for several files. [default: all cores]")
SCHEDULER: Any = typer.Option(None, metavar="ADDRESS", help="Dask scheduler that sees the files.")


def source_of(files: list[str]) -> str | list[str]:
    return files[0] if len(files) == 1 else files


AS_GIVEN = ("binary", "log1p", "center", "format", "encoding", "split", "tokens", "pattern", "keep_case")


def settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Of all that a command was given, what says how features are read, as the library takes it."""
    return {name: given[name] for name in AS_GIVEN} | {
        "threshold": numbers.real("threshold", given["threshold"]),
        "columns": column_names(given["columns"]),
        "ngram": numbers.size("ngram", given["ngram"]),
    }


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
