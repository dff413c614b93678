"""The constants of the power laws, which the paper leaves open."""

from __future__ import annotations

import math

from sparselaw.inputs import Inputs, SparseInputs


def resolved_edge(a: float) -> float:
    """int_0^inf dz / (1 + z^a) = (pi/a)/sin(pi/a): N features resolve k with N = edge * k^(-1/a)."""
    return (math.pi / a) / math.sin(math.pi / a)


def model_constant(inputs: Inputs) -> float:
    """C_N in loss = C_N N^-alpha_N as D -> infinity: ((pi/a)/sin(pi/a))^a, a = alpha_N + 1.

    >>> from sparselaw.inputs import SparseInputs
    >>> round(model_constant(SparseInputs(alpha1=1.0, alpha2=0.3)), 3)
    1.673
    """
    a = inputs.spectrum
    return math.pow(resolved_edge(a), a)


def data_constant(inputs: Inputs) -> float:
    """C_D in loss = C_D D^-alpha_D as N -> infinity: Gamma(alpha_D)/(alpha1+1), from Eq. 16's integral.

    For dense inputs, and for sparse ones with alpha1 <= 0, N and D play the same part and C_D = C_N.
    """
    if isinstance(inputs, SparseInputs) and inputs.alpha1 > 0.0:
        return math.gamma(inputs.exponents.alpha_D) / (inputs.alpha1 + 1.0)
    return model_constant(inputs)
