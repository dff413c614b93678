"""Options that several commands share, and the inputs they describe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from sparselaw.cli import numbers

if TYPE_CHECKING:
    from sparselaw.inputs import Inputs

ALPHA1: Any = typer.Option(
    ..., help="Sparsity exponent: coordinate j is active with probability j^-(alpha1+1)."
)
ALPHA2: Any = typer.Option(..., help="Amplitude exponent: an active coordinate has size j^(-(alpha2+1)/2).")
INPUTS: Any = typer.Option("sparse", help="sparse, or dense: Gaussian inputs with the same variances.")
DIMENSION: Any = typer.Option(
    None, help="Number of coordinates, or inf. [default: inf for sparse inputs with alpha1 > 0, else 10000]"
)
JSON: Any = typer.Option(False, "--json", help="Print one JSON object on standard output.")


def read_inputs(alpha1: str, alpha2: str, kind: str, dimension: str | None) -> Inputs:
    """The inputs that the options describe."""
    from sparselaw.inputs import kind_of

    first, second = numbers.real("alpha1", alpha1), numbers.real("alpha2", alpha2)
    size = numbers.dimension(dimension)
    return kind_of(kind).from_exponents(first, second, size)
