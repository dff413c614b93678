"""The universal function S(xi) onto which all loss curves collapse (the paper's figure 2), in closed form.

loss * N^alpha_N = S(xi), xi = D^(alpha_D/alpha_N) / N, as N and D grow together. For alpha1 > 0, with J =
D^(1/(alpha1+1)), z = j/J and n ~ Poisson(z^-(alpha1+1)), the counts have a law of their own, whose leading
surface at N = 1/xi is S(xi) xi^alpha_N. Below xi_crit the effective ridge is zero and S = C_D xi^-alpha_N /
(1 - xi/xi_crit). Where N and D play the same part xi = D/N, and S = C_N/(1 - 1/xi) above one.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError, check_finite
from sparselaw.gram.law import Atoms
from sparselaw.inputs import Inputs
from sparselaw.surface.losses import leading_surface

LADDER = (3, 7, 14, 30, 60, 120)  # decades of xi that one law may serve


def scaling_function(inputs: Inputs, xi: float) -> float:
    """S(xi); infinite at xi_crit, where it peaks.

    Parameters
    ----------
    inputs
        Inputs that follow a power law.
    xi
        D^(alpha_D/alpha_N) / N.

    Returns
    -------
    float
        S(xi).

    Examples
    --------
    >>> from sparselaw.inputs import SparseInputs
    >>> inputs = SparseInputs(alpha1=1.0, alpha2=0.3)
    >>> round(scaling_function(inputs, 1e4) / inputs.model_constant(), 6)
    1.0
    """
    xi = check_finite("xi", xi)
    if xi <= 0.0:
        raise InputError("xi", xi, "must be positive", "choose xi > 0")
    log_value = float(log_scaling_along(inputs, np.array([math.log(xi)]))[0])
    return math.exp(log_value) if log_value < 709.0 else math.inf


def scaling_values(inputs: Inputs, xi: FloatArray) -> FloatArray:
    """``scaling_function`` at each xi."""
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(log_scaling_along(inputs, np.log(np.asarray(xi, float)))))


def log_scaling_along(inputs: Inputs, log_xi: FloatArray) -> FloatArray:
    """log S at many places: for exponents so large that S itself would overflow."""
    law = inputs.power_law()
    log_crit, e = math.log(law.xi_crit), law.alpha_N / law.alpha_D
    values = np.full(log_xi.size, math.inf)
    wide, few = log_xi < log_crit, log_xi > log_crit
    gap = np.log(-np.expm1(np.where(wide, log_xi - log_crit, -1.0)))
    values[wide] = (math.log(inputs.data_constant()) - law.alpha_N * log_xi - gap)[wide]
    if e == 1.0:
        values[few] = math.log(inputs.model_constant()) - np.log(-np.expm1(-log_xi[few]))
        return values
    # S = C_N (1 + O(xi^-(alpha1+1))): equal to rounding, or the sums would overflow (alpha_N beyond 20)
    far = few & ((e * log_xi > 36.0) | (inputs.spectrum * log_xi > 640.0))
    values[far] = math.log(inputs.model_constant())
    near = few & ~far
    if near.any():
        values[near] = _log_limit(inputs, log_xi[near]) - law.alpha_N * log_xi[near]
    return values


def rescaled_ratio(inputs: Inputs, N: float, D: float) -> float:
    """xi = D^(alpha_D/alpha_N) / N: D^(1/(alpha1+1))/N for alpha1 > 0, D/N otherwise."""
    exponents = inputs.power_law()
    return math.exp(math.log(D) * exponents.alpha_D / exponents.alpha_N - math.log(N))


def below_peak(inputs: Inputs, u: FloatArray) -> FloatArray:
    """log(F(t) (1 - t)) at u = log(t/(1-t)), t = N/K(D): the loss below the peak is C_N N^-alpha_N F(t).

    A smooth bounded function: zero for few features, a constant at the peak.
    """
    t = 1.0 / (1.0 + np.exp(-u))
    log_size = np.log(t * _limit(inputs, LADDER[0]).rank)
    found = _log_limit(inputs, -log_size) + (inputs.spectrum - 1.0) * log_size
    return np.asarray(found - math.log(inputs.model_constant()) - np.log1p(np.exp(u)))


def _log_limit(inputs: Inputs, log_xi: FloatArray) -> FloatArray:
    """The logarithm of the loss of the limit's counts at N = 1/xi."""
    needed = float(log_xi.max()) / math.log(10.0) + 0.5
    law = _limit(inputs, next((step for step in LADDER if step >= needed), LADDER[-1]))
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(leading_surface(law, np.exp(-log_xi)).loss))


@functools.lru_cache(maxsize=16)
def _limit(inputs: Inputs, decades: int) -> Atoms:
    return inputs.scaling_limit(10.0**decades)
