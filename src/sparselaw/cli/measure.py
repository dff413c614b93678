"""`sparselaw measure`: how sparse real features are; and the options that say how features are read."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sparselaw.cli.answer import SHOWN, Answer
from sparselaw.cli.fit_options import without_limit
from sparselaw.cli.options import (
    MAX_SIZE,
    Options,
    flag,
    names_in,
    real,
    size,
    sizes,
    text,
    typed,
    word,
)
from sparselaw.cli.output import note, print_next, print_table
from sparselaw.errors import InputError
from sparselaw.files import write_atomically
from sparselaw.numbers import short_size

if TYPE_CHECKING:
    from sparselaw.measuring import Measurement


def column_names(name: str, text: str) -> tuple[str, ...]:
    """sample,feature or sample,feature,value.

    >>> column_names("columns", "doc, word, count")
    ('doc', 'word', 'count')
    """
    if not text:
        return ()
    names = tuple(part.strip() for part in text.split(","))
    if len(names) not in (2, 3) or not all(names):
        raise InputError(name, text, "are not two or three names", "write sample,feature,value")
    return names


FILES = typer.Argument(
    ...,
    metavar="FILE",
    help="A feature matrix (files, or folders of shards); stdlib: Python's own source.",
)
FORMATS = ("npz", "npy", "mtx", "svmlight", "triplets", "transactions", "text", "python")
READING: Any = Options(  # how features are read
    without_limit,
    threshold=real("0", "Entries of this size or less are not active."),
    binary=flag("--binary", "Every active entry is 1."),
    log1p=flag("--log1p", "Take log(1 + value)."),
    center=flag("--center", "Subtract the mean: variances in place of second moments."),
    format=word(
        None,
        "What the files are. [default: by the ending]",
        *FORMATS,
        offered=names_in("measuring.readers", "READERS"),
    ),
    columns=typed("NAMES", column_names)("", "Of triplets: sample,feature,value."),
    encoding=text("utf-8", "Of text.", "NAME"),
    split=text("line", "What ends a document of text, or stands between two.", "line|blank|file|REGEX"),
    tokens=word("words", "Tokens of text.", "words", "characters"),
    ngram=size("1", "So many tokens in a row are one feature."),
    pattern=text(None, "Tokens of text are its matches.", "REGEX"),
    keep_case=flag("--keep-case", "Text is not put in lower case."),
    max_size=MAX_SIZE,
)


def measure(
    files: list[str] = FILES,
    D: list[int] | None = sizes(
        None, "Numbers of rows at which to look. [default: powers of 2]", "-D", "--D"
    ),
    reading: dict[str, Any] = READING,
    workers: int | None = size(None, "Processes for several files. [default: all cores]"),
    scheduler: str | None = text(None, "Dask scheduler that sees the files.", "ADDRESS"),
    out: str | None = text(None, "Write it as JSON too, for --inputs."),
    answer: Answer = SHOWN,
) -> None:
    """How sparse real features are, and what the data never showed."""
    from sparselaw.measuring import measure as measure_features
    from sparselaw.sweeps.store import check_out_file, writing

    if out is not None:
        if Path(out).suffix != ".json":
            raise InputError("out", out, "is no .json file", "let it end in .json")
        check_out_file("out", out)
    source = files[0] if len(files) == 1 else files
    found = measure_features(source, D=D, workers=workers, scheduler=scheduler, **reading)
    if out is not None:
        with writing("out", out), write_atomically(out) as file:
            file.write(dumps(found.as_dict(), allow_nan=False).encode())
        note(f"written to {out}")
    answer.give("measure", found, lambda: _show(found, *files, *READING.retyped(reading)))


def _show(found: Measurement, *files: str) -> None:
    title = f"Features of {Path(found.source).name}: {short_size(found.nonzeros)} nonzeros"
    print_table(title, *found.table_rows())
    for sentence in found.sentences():
        print(sentence)
    print_next("which theory describes their learning", "learn", *files)
    if found.eta is not None:
        print(f"amplitude law: mean square ~ frequency^eta, eta = {found.eta}")
    for window in found.windows:
        shown = "none" if window.alpha1 is None else str(window.alpha1)
        print(f"features active in {window.low} to {window.high} rows ({window.features}): alpha1 {shown}")
    for point in found.beyond:
        if point.unseen is None:
            note(f"beyond the data, D = {point.D:.6g}: {point.reason}")
        else:
            low, best, high = (f"{100 * share:.3g}" for share in point.unseen)
            print(f"beyond the data, D = {point.D:.6g}: unseen {best} % [{low}, {high}] %")
    for test in found.tests:
        step = f"from {test.known:.6g} rows to {test.D:.6g}"
        print(
            f"back-test, {step}: off by {100 * test.error:+.2g} % "
            f"(a straight line by {100 * test.straight_line_error:+.2g} %)"
        )
