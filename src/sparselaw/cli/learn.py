"""`sparselaw learn`: the learning curve of real features beside the theories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sparselaw.cli.answer import SHOWN, Answer
from sparselaw.cli.measure import FILES, READING
from sparselaw.cli.options import size, sizes, text, whole
from sparselaw.cli.output import print_table


def learn(
    files: list[str] = FILES,
    D: list[int] | None = sizes(None, "Training rows, N infinite. [default: four sizes]", "-D", "--D"),
    N: list[int] | None = sizes(None, "Random features, many rows. [default: three sizes]", "-N", "--N"),
    target: str | None = text(None, "A feature to learn, beside the random teacher.", "COLUMN"),
    seeds: int = size("3", "Draws of training and test rows."),
    seed: int = whole("0", "Seed of every draw."),
    reading: dict[str, Any] = READING,
    answer: Answer = SHOWN,
) -> None:
    """Which theory describes the learning of real features.

    Its learning curve beside four theories, and what limits the loss now.
    """
    from sparselaw.measuring import learn as learn_features

    source = files[0] if len(files) == 1 else files
    found = learn_features(source, D=D, N=N, target=target, seeds=seeds, seed=seed, **reading)

    def show() -> None:
        title = f"Learning curve of {Path(found.source).name}: loss in % of the variance, N infinite"
        print_table(title, *found.table_rows())
        if found.widths:
            print_table("Along the model size: N random features, many rows", *found.width_rows())
        for sentence in found.sentences():
            print(sentence)

    answer.give("learn", found, show)
