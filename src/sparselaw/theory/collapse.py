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

from sparselaw.errors import InputError, check_finite
from sparselaw.inputs import Inputs, SparseInputs
from sparselaw.sums.coordinates import panels
from sparselaw.sums.roots import solve_decreasing
from sparselaw.sums.spectral_sums import SEEN_AT_MOST_ONCE, SpectralSums
from sparselaw.theory.constants import data_constant, model_constant, resolved_edge

_NEAR = 1e-9  # below the nodes, relative fluctuations of the count and k/g are smaller than this


def scaling_function(inputs: Inputs, xi: float) -> float:
    """S(xi); infinite at xi_crit, where it peaks.

    >>> model = SparseInputs(alpha1=1.0, alpha2=0.3)
    >>> round(scaling_function(model, 1e4) / model_constant(model), 6)
    1.0
    """
    xi = check_finite("xi", xi)
    if xi <= 0.0:
        raise InputError("xi", xi, "must be positive", "choose xi > 0")
    log_value = log_scaling_function(inputs, math.log(xi))
    return math.exp(log_value) if log_value < 709.0 else math.inf


def log_scaling_function(inputs: Inputs, log_xi: float) -> float:
    """log S as a function of log xi: for exponents so large that S itself would overflow."""
    alpha_N, log_crit = inputs.exponents.alpha_N, math.log(inputs.exponents.xi_crit)
    if log_xi == log_crit:
        return math.inf
    if log_xi < log_crit:
        peak = math.log(-math.expm1(log_xi - log_crit))
        return math.log(data_constant(inputs)) - alpha_N * log_xi - peak
    if not (isinstance(inputs, SparseInputs) and inputs.alpha1 > 0.0):
        return math.log(model_constant(inputs)) - math.log(-math.expm1(-log_xi))
    if (inputs.alpha1 + 1.0) * log_xi > 36.0 or inputs.spectrum * log_xi > 640.0:
        # S = C_N (1 + O(xi^-(alpha1+1))): equal to rounding, or the sums would overflow (alpha_N beyond 20).
        return math.log(model_constant(inputs))
    return _under_parameterised(inputs.alpha1, inputs.alpha2, log_xi)


def rescaled_ratio(inputs: Inputs, N: float, D: float) -> float:
    """xi = D^(alpha_D/alpha_N) / N: D^(1/(alpha1+1))/N for alpha1 > 0, D/N otherwise."""
    exponents = inputs.exponents
    return math.exp(math.log(D) * exponents.alpha_D / exponents.alpha_N - math.log(N))


@lru_cache(maxsize=4096)
def _under_parameterised(alpha1: float, alpha2: float, log_xi: float) -> float:
    a, xi = alpha1 + alpha2 + 2.0, math.exp(log_xi)
    sums = _continuum(alpha1, alpha2, xi)
    # sum g/(g+k) = N, in units of J
    log_k = solve_decreasing(lambda x: _degrees(sums, x), 1.0 / xi, a * math.log(resolved_edge(a) * xi))
    s = sums.at(log_k)
    return math.log(s.lost) - math.log(s.partial) - a * log_xi


def _degrees(sums: SpectralSums, log_k: float) -> tuple[float, float]:
    s = sums.at(log_k)
    return s.degrees, -s.partial


def _continuum(alpha1: float, alpha2: float, xi: float) -> SpectralSums:
    """The sums with j replaced by z = j/J and Binomial counts by Poisson ones."""
    a, b = alpha1 + alpha2 + 2.0, alpha2 + 1.0
    near = min(
        math.log(_NEAR) / (alpha1 + 1.0), math.log(_NEAR) / a - math.log(max(resolved_edge(a) * xi, 1.0))
    )
    far = -math.log(SEEN_AT_MOST_ONCE) / (alpha1 + 1.0)
    y, w = panels(near, far, max(alpha1 + 1.0, abs(b), 1.0))
    return SpectralSums(
        alpha1=alpha1,
        alpha2=alpha2,
        log_j=y,
        weight=w * np.exp(y),
        mean=np.exp(-(alpha1 + 1.0) * y),
        p=np.zeros_like(y),
        log_far=far,
        log_samples=0.0,
        near=near,
    )
