"""The constants of the power laws, which the paper leaves open."""

from __future__ import annotations

import math

from sparselaw.problem import Problem, SparseInputs


def resolved_edge(a: float) -> float:
    """int_0^inf dz / (1 + z^a) = (pi/a)/sin(pi/a): N features resolve k with N = edge * k^(-1/a)."""
    return (math.pi / a) / math.sin(math.pi / a)


def model_constant(problem: Problem) -> float:
    """C_N in loss = C_N N^-alpha_N as D -> infinity: ((pi/a)/sin(pi/a))^a, a = alpha_N + 1.

    >>> from sparselaw.problem import SparseInputs
    >>> round(model_constant(SparseInputs(alpha1=1.0, alpha2=0.3)), 3)
    1.673
    """
    a = problem.spectrum
    return math.pow(resolved_edge(a), a)


def data_constant(problem: Problem) -> float:
    """C_D in loss = C_D D^-alpha_D as N -> infinity: Gamma(alpha_D)/(alpha1+1), from Eq. 16's integral.

    For dense inputs, and for sparse ones with alpha1 <= 0, N and D play the same part and C_D = C_N.
    """
    if isinstance(problem, SparseInputs) and problem.alpha1 > 0.0:
        return math.gamma(problem.exponents.alpha_D) / (problem.alpha1 + 1.0)
    return model_constant(problem)
