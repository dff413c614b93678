"""`sparselaw learn`: the learning curve of real features beside the theories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from sparselaw import numbers
from sparselaw.cli import feature_options as features
from sparselaw.cli import options
from sparselaw.cli.output import print_json, print_table
from sparselaw.cli.pictures import PICTURES

if TYPE_CHECKING:
    from sparselaw.measuring import LearningCurve


@options.grouped
def learn(
    files: list[str] = features.FILES,
    D: str = typer.Option(
        None, "-D", "--D", metavar=options.SIZES, help="Training rows, N infinite. [default: four sizes]"
    ),
    N: str = typer.Option(
        None, "-N", "--N", metavar=options.SIZES, help="Random features, many rows. [default: three sizes]"
    ),
    target: str = typer.Option(None, metavar="COLUMN", help="A feature to learn, beside the random teacher."),
    seeds: str = typer.Option("3", metavar=options.INTEGER, help="Draws of training and test rows."),
    seed: str = typer.Option("0", metavar=options.INTEGER, help="Seed of every draw."),
    reading: Any = features.READING,
    pictures: Any = PICTURES,
    json: bool = options.JSON,
) -> None:
    """Which theory describes the learning of real features.

    Its learning curve beside four theories, and what limits the loss now.
    """
    from sparselaw.measuring import learn as learn_features

    found = learn_features(
        features.source_of(files),
        D=None if D is None else numbers.sizes("D", D),
        N=None if N is None else numbers.sizes("N", N),
        target=target,
        seeds=numbers.size("seeds", seeds),
        seed=numbers.whole("seed", seed),
        **reading,
    )
    pictures.write("learn", found)
    if json:
        print_json(found.as_dict())
    else:
        _show(found)


def _show(found: LearningCurve) -> None:
    columns, rows = found.table_rows()
    print_table(f"Learning curve of {found.source}: loss in % of the variance, N infinite", columns, rows)
    if found.widths:
        columns, rows = found.width_rows()
        print_table("Along the model size: N random features, many rows", columns, rows)
    for sentence in found.sentences():
        print(sentence)
