"""What the samples are like: one file for each law of the inputs.

A new one is a file with a subclass of ``Inputs`` (or ``ActivationInputs``) and a line in ``KINDS``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparselaw.errors import InputError
from sparselaw.inputs.activations import ActivationInputs
from sparselaw.inputs.base import DEFAULT_DIMENSION, Inputs
from sparselaw.inputs.dense import DenseInputs
from sparselaw.inputs.sparse import SparseInputs
from sparselaw.inputs.tabulated import TabulatedInputs

__all__ = [
    "DEFAULT_DIMENSION",
    "KINDS",
    "ActivationInputs",
    "DenseInputs",
    "Inputs",
    "SparseInputs",
    "TabulatedInputs",
    "check_inputs",
    "inputs_of",
    "kind_of",
    "register",
]

KINDS: dict[str, type[Inputs]] = {kind.kind: kind for kind in (SparseInputs, DenseInputs, TabulatedInputs)}


def register(kind: type[Inputs]) -> type[Inputs]:
    """Make a new kind of inputs known to the command line and to stores; also usable as a decorator."""
    KINDS[kind.kind] = kind
    return kind


def kind_of(name: str) -> type[Inputs]:
    """The class of a kind of inputs by its name."""
    if name not in KINDS:
        raise InputError("inputs", name, "is not one of the choices", f"choose {' or '.join(KINDS)}")
    return KINDS[name]


def inputs_of(kind: str, values: Mapping[str, Any]) -> Inputs:
    """The inputs that an identity or a row of runs describes.

    >>> inputs_of("dense", {"alpha": 2.3, "dimension": 100})
    DenseInputs(alpha=2.3, dimension=100.0)
    """
    return kind_of(kind).from_parameters(values)


def check_inputs(value: Any) -> Inputs:
    """``value`` if it describes inputs."""
    if not isinstance(value, Inputs):
        raise InputError(
            "inputs", repr(value)[:60], "describes no inputs", "give SparseInputs or DenseInputs"
        )
    return value
