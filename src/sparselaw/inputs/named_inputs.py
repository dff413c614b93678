"""Inputs from their name: as written on a command line, or as kept in an identity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparselaw.errors import InputError
from sparselaw.inputs.base import KINDS, Inputs


def kind_of(name: str) -> type[Inputs]:
    """The class of a kind of inputs by its name."""
    if name not in KINDS:
        raise InputError("inputs", name, "is not one of the choices", f"choose {' or '.join(KINDS)}")
    return KINDS[name]


def written_kind(text: str) -> type[Inputs]:
    """The class of what was written after --inputs: a name, or the path of a measurement."""
    return next((kind for kind in KINDS.values() if kind.is_written(text)), None) or kind_of(text)


def written_inputs(text: str, given: Mapping[str, str], dimension: str | None = None) -> Inputs:
    """The inputs of what was written after --inputs, and of the options beside it.

    >>> written_inputs("dense", {"alpha": "2.3"}, "100")
    DenseInputs(alpha=2.3, dimension=100.0)
    """
    return written_kind(text).from_written(text, given, dimension)


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
            "inputs",
            repr(value)[:60],
            "describes no inputs",
            "give SparseInputs, DenseInputs, TabulatedInputs or EmpiricalInputs",
        )
    return value
