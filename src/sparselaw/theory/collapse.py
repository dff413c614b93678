"""The universal function S(xi) onto which all loss curves collapse (the paper's figure 2), in closed form.

loss * N^alpha_N = S(xi), xi = D^(alpha_D/alpha_N) / N, as N and D grow together. For alpha1 > 0, with J =
D^(1/(alpha1+1)), z = j/J and n ~ Poisson(z^-(alpha1+1)), the sums of the loss surface become integrals
over z. Below xi_crit the cut-off k is zero and S = C_D xi^-alpha_N / (1 - xi/xi_crit). For dense inputs,
and for alpha1 <= 0, xi = D/N and S follows from the dense surface.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError, check_finite
from sparselaw.inputs import Inputs
from sparselaw.sums.constants import resolved_edge
from sparselaw.sums.counts import CountSums
from sparselaw.sums.roots import solve_decreasing
from sparselaw.theory.limit_curve import limit_for


def scaling_function(inputs: Inputs, xi: float) -> float:
    """S(xi); infinite at xi_crit, where it peaks.

    >>> from sparselaw.inputs import SparseInputs
    >>> inputs = SparseInputs(alpha1=1.0, alpha2=0.3)
    >>> round(scaling_function(inputs, 1e4) / inputs.model_constant(), 6)
    1.0
    """
    xi = check_finite("xi", xi)
    if xi <= 0.0:
        raise InputError("xi", xi, "must be positive", "choose xi > 0")
    log_value = log_scaling_function(inputs, math.log(xi))
    return math.exp(log_value) if log_value < 709.0 else math.inf


def log_scaling_function(inputs: Inputs, log_xi: float) -> float:
    """log S as a function of log xi: for exponents so large that S itself would overflow."""
    law = inputs.power_law()
    log_crit = math.log(law.xi_crit)
    if log_xi == log_crit:
        return math.inf
    if log_xi < log_crit:
        peak = math.log(-math.expm1(log_xi - log_crit))
        return math.log(inputs.data_constant()) - law.alpha_N * log_xi - peak
    if inputs.closed_form == "gaussian":
        return math.log(inputs.model_constant()) - math.log(-math.expm1(-log_xi))
    if law.alpha_N / law.alpha_D * log_xi > 36.0 or inputs.spectrum * log_xi > 640.0:
        # S = C_N (1 + O(xi^-(alpha1+1))): equal to rounding, or the sums would overflow (alpha_N beyond 20).
        return math.log(inputs.model_constant())
    return _under_parameterised(inputs, log_xi)


FLAT = 0.01  # alpha1 below which a coordinate seen once may be any


def log_scaling_along(inputs: Inputs, log_xi: FloatArray) -> FloatArray:
    """log S at many places, in the time of a few; to 1e-9 that of ``log_scaling_function``."""
    law = inputs.power_law()
    log_crit = math.log(law.xi_crit)
    values = np.full(log_xi.size, math.inf)
    wide = log_xi < log_crit
    gap = np.log(-np.expm1(np.where(wide, log_xi - log_crit, -1.0)))
    values[wide] = (math.log(inputs.data_constant()) - law.alpha_N * log_xi - gap)[wide]
    few = log_xi > log_crit
    if inputs.closed_form == "gaussian":
        values[few] = math.log(inputs.model_constant()) - np.log(-np.expm1(-log_xi[few]))
        return values
    far = (law.alpha_N / law.alpha_D * log_xi > 36.0) | (inputs.spectrum * log_xi > 640.0)
    values[few & far] = math.log(inputs.model_constant())
    near = few & ~far
    if near.any() and law.alpha_N / law.alpha_D - 1.0 < FLAT:  # too many coordinates to lay out their counts
        values[near] = [log_scaling_function(inputs, float(x)) for x in log_xi[near]]
    elif near.any():
        nu = np.exp(log_crit - log_xi[near])
        excess = limit_for(inputs, nu).log_excess(nu)
        values[near] = math.log(inputs.data_constant()) - law.alpha_N * log_xi[near] + excess
    return values


def rescaled_ratio(inputs: Inputs, N: float, D: float) -> float:
    """xi = D^(alpha_D/alpha_N) / N: D^(1/(alpha1+1))/N for alpha1 > 0, D/N otherwise."""
    exponents = inputs.power_law()
    return math.exp(math.log(D) * exponents.alpha_D / exponents.alpha_N - math.log(N))


@lru_cache(maxsize=4096)
def _under_parameterised(inputs: Inputs, log_xi: float) -> float:
    a, xi = inputs.spectrum, math.exp(log_xi)
    sums = inputs.limit_sums(xi)
    # sum g/(g+k) = N, in units of J
    log_k = solve_decreasing(lambda x: _degrees(sums, x), 1.0 / xi, a * math.log(resolved_edge(a) * xi))
    s = sums.at(log_k)
    if s.partial <= 0.0:  # at the peak, to rounding
        return math.inf
    return math.log(s.lost) - math.log(s.partial) - a * log_xi


def _degrees(sums: CountSums, log_k: float) -> tuple[float, float]:
    s = sums.at(log_k)
    return s.degrees, -s.partial
