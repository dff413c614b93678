"""Options of the commands that read real features."""

from __future__ import annotations

from typing import Any

import typer

from sparselaw import numbers
from sparselaw.cli.options import MAX_SIZE, Options, names_in, one_of
from sparselaw.errors import InputError

FILES: Any = typer.Argument(
    ...,
    metavar="FILE",
    help="A feature matrix (files, or folders of shards); stdlib: Python's own source.",
)
WORKERS: Any = typer.Option(None, metavar="INTEGER", help="Processes for several files. [default: all cores]")
SCHEDULER: Any = typer.Option(None, metavar="ADDRESS", help="Dask scheduler that sees the files.")


def read_reading(max_size: str | None, **given: Any) -> dict[str, Any]:  # noqa: ARG001
    """As the library takes them; the limit was set by its own option."""
    return given | {
        "threshold": numbers.real("threshold", given["threshold"]),
        "columns": column_names(given["columns"]),
        "ngram": numbers.size("ngram", given["ngram"]),
    }


READING = Options(  # what says how features are read, of every such command
    read_reading,
    threshold=typer.Option("0", metavar="FLOAT", help="Entries of this size or less are not active."),
    binary=typer.Option(False, "--binary", help="Every active entry is 1."),
    log1p=typer.Option(False, "--log1p", help="Take log(1 + value)."),
    center=typer.Option(False, "--center", help="Subtract the mean: variances in place of second moments."),
    format=typer.Option(
        None,
        metavar="npz|npy|mtx|svmlight|triplets|transactions|text|python",
        autocompletion=names_in("measuring.readers", "READERS"),
        help="What the files are. [default: by the ending]",
    ),
    columns=typer.Option(None, metavar="NAMES", help="Of triplets: sample,feature,value."),
    encoding=typer.Option("utf-8", metavar="NAME", help="Of text."),
    split=typer.Option(
        "line", metavar="line|blank|file|REGEX", help="What ends a document of text, or stands between two."
    ),
    tokens=typer.Option("words", **one_of("words", "characters"), help="Tokens of text."),
    ngram=typer.Option("1", metavar="INTEGER", help="So many tokens in a row are one feature."),
    pattern=typer.Option(None, metavar="REGEX", help="Tokens of text are its matches."),
    keep_case=typer.Option(False, "--keep-case", help="Text is not put in lower case."),
    max_size=MAX_SIZE,
)


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
