"""`sparselaw measure`: how sparse real features are."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sparselaw import numbers
from sparselaw.cli import feature_options as features
from sparselaw.cli import options
from sparselaw.cli.output import note, print_json, print_next, print_table
from sparselaw.cli.pictures import PICTURES
from sparselaw.errors import InputError
from sparselaw.files import write_atomically

if TYPE_CHECKING:
    from sparselaw.measuring import Measurement


@options.grouped
def measure(
    files: list[str] = features.FILES,
    D: str = typer.Option(
        None,
        "-D",
        "--D",
        metavar=options.SIZES,
        help="Numbers of rows at which to look. [default: powers of 2]",
    ),
    reading: Any = features.READING,
    workers: str = features.WORKERS,
    scheduler: str = features.SCHEDULER,
    out: str = typer.Option(None, metavar=options.FILE, help="Write it as JSON too, for --inputs."),
    pictures: Any = PICTURES,
    json: bool = options.JSON,
) -> None:
    """How sparse real features are, and what the data never showed."""
    from sparselaw.measuring import measure as measure_features
    from sparselaw.sweeps.store import check_out_file, writing

    if out is not None:
        if Path(out).suffix != ".json":
            raise InputError("out", out, "is no .json file", "let it end in .json")
        check_out_file("out", out)
    found = measure_features(
        features.source_of(files),
        D=None if D is None else numbers.sizes("D", D),
        workers=None if workers is None else numbers.size("workers", workers),
        scheduler=scheduler,
        **reading,
    )
    pictures.write("measure", found)
    if out is not None:
        with writing("out", out), write_atomically(out) as file:
            file.write(dumps(found.as_dict(), allow_nan=False).encode())
        note(f"written to {out}")
    if json:
        print_json(found.as_dict())
    else:
        _show(found, files)


def _show(found: Measurement, files: list[str]) -> None:
    columns, rows = found.table_rows()
    print_table(f"Features of {found.source}: {found.nonzeros} nonzeros", columns, rows)
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
            ends = f"[{100 * point.unseen.low:.3g}, {100 * point.unseen.high:.3g}] %"
            print(f"beyond the data, D = {point.D:.6g}: unseen {100 * point.unseen.best:.3g} % {ends}")
    for test in found.tests:
        step = f"from {test.known:.6g} rows to {test.D:.6g}"
        print(
            f"back-test, {step}: off by {100 * test.error:+.2g} % "
            f"(a straight line by {100 * test.straight_line_error:+.2g} %)"
        )
