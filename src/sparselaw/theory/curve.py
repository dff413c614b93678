"""The loss along N at one D, or along D at one N: the points of ``predict`` as one array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError, check_choice, check_finite, check_not_negative
from sparselaw.inputs import Inputs, check_inputs
from sparselaw.theory.surface import Surface, check_ridge, losses_at

Sizes = float | Sequence[float] | FloatArray


def curve(
    inputs: Inputs,
    *,
    N: Sizes,
    D: Sizes,
    ridge: float = 0.0,
    noise: float = 0.0,
    surface: Surface = "sharp",
) -> FloatArray:
    """The losses for several N at one D, or for one N at several D; infinite at the peak.

    Parameters
    ----------
    inputs
        The law of the inputs.
    N, D
        Real numbers of features and of samples, one of them a list.
    ridge, noise, surface
        As for ``predict``.

    Returns
    -------
    FloatArray
        The losses in the order of the list.

    Examples
    --------
    >>> from sparselaw.inputs import SparseInputs
    >>> curve(SparseInputs(alpha1=1.5, alpha2=0.3), N=8, D=[100, 10_000], surface="leading").round(5).tolist()
    [0.02833, 0.00369]
    """
    check_inputs(inputs)
    ridge, noise = check_ridge(ridge), check_not_negative("noise", noise)
    check_choice("surface", surface, get_args(Surface))
    sizes, data = _sizes("N", N), _sizes("D", D)
    if sizes.size != 1 and data.size != 1:
        raise InputError("D", data.size, "N and D are both lists", "give one N or one D")
    return losses_at(inputs, sizes, data, ridge, noise, surface)


def _sizes(name: str, values: Sizes) -> FloatArray:
    found = np.atleast_1d(np.asarray(values, dtype=float))
    for value in found[~(np.isfinite(found) & (found > 0.0))][:1]:
        check_finite(name, float(value))
        raise InputError(name, float(value), "must be positive", f"choose {name} >= 1")
    if found.ndim != 1 or not found.size:
        raise InputError(name, found.size, "must be a number or a list", f"give {name} = 100 or [10, 100]")
    return found
