"""The leading surface at many sizes, of any inputs."""

from __future__ import annotations

from typing import cast

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import ActivationInputs, Inputs
from sparselaw.theory.count_curve import count_losses, count_losses_along, count_losses_at, rough_losses
from sparselaw.theory.gaussian_curve import gaussian_losses


def leading_losses(
    inputs: Inputs, N: FloatArray, D: FloatArray, ridge: float = 0.0, noise: float = 0.0
) -> FloatArray:
    """Along a line: where N or D is a single one."""
    if inputs.closed_form == "gaussian":
        pairs = np.broadcast_arrays(N, D)
        return gaussian_losses(inputs, pairs[0], pairs[1], ridge, noise)
    activations = cast(ActivationInputs, inputs)
    if D.size == 1:
        return count_losses(activations, N, float(D[0]), ridge, noise)
    return count_losses_along(activations, float(N[0]), D, ridge, noise)


def leading_losses_at(inputs: Inputs, N: FloatArray, D: FloatArray, *, rough: bool = False) -> FloatArray:
    """At any pairs of real sizes, for the search of a best one.

    ``rough``: by the scaling limit, a few per cent off at small sizes, at no cost for each pair.
    """
    if inputs.closed_form == "gaussian":
        return gaussian_losses(inputs, N, D)
    activations = cast(ActivationInputs, inputs)
    if rough and inputs.exponents is not None and not np.isfinite(inputs.dimension):
        return rough_losses(activations, N, D)
    return count_losses_at(activations, N, D)
