"""What the samples are like: one file for each law of the inputs; ``base`` says what it answers."""

from __future__ import annotations

from sparselaw.inputs.activations import ActivationInputs
from sparselaw.inputs.base import (
    DEFAULT_DIMENSION,
    KINDS,
    Inputs,
    check_inputs,
    inputs_of,
    kind_of,
    register,
    written_inputs,
)
from sparselaw.inputs.dense import DenseInputs
from sparselaw.inputs.empirical import EmpiricalInputs
from sparselaw.inputs.sparse import SparseInputs
from sparselaw.inputs.tabulated import TabulatedInputs

__all__ = [
    "DEFAULT_DIMENSION",
    "KINDS",
    "ActivationInputs",
    "DenseInputs",
    "EmpiricalInputs",
    "Inputs",
    "SparseInputs",
    "TabulatedInputs",
    "check_inputs",
    "inputs_of",
    "kind_of",
    "register",
    "written_inputs",
]
