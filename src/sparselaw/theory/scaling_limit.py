"""The scaling limit: the function S(xi) onto which all loss curves collapse, and the compute-optimal
frontier.

Collapse (the paper's figure 2): loss * N^alpha_N = S(xi), xi = D^(alpha_D/alpha_N) / N, as N and D grow
together. For alpha1 > 0, with J = D^(1/(alpha1+1)), z = j/J and n ~ Poisson(z^-(alpha1+1)), the counts have
a law of their own, whose leading surface at N = 1/xi is S(xi) xi^alpha_N. Below xi_crit the effective ridge
is zero and S = C_D xi^-alpha_N / (1 - xi/xi_crit). Where N and D play the same part xi = D/N, and S =
C_N/(1 - 1/xi) above one.

Frontier: in the scaling limit a cost is the smallest of terms C = factor * N^p * D^q * m^k with m = min(N,
K(D)) the directions resolved (min(N, D) when N and D are symmetric). With D = (xi N)^e, e =
alpha_N/alpha_D, and loss = N^-alpha_N S(xi), all of C, N, D and the loss are powers of each other times
functions of xi alone. So at fixed C the best xi is a number; it is not the balanced line, because the
double-descent peak stands there.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.costs import Conditioning, Cost, parse_cost
from sparselaw.errors import InputError, check_finite
from sparselaw.gram.counts import Counts
from sparselaw.gram.law import Atoms
from sparselaw.gram.nodes import limit_nodes
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
    >>> round(scaling_function(inputs, 1e4) / inputs.power_law().model_constant, 6)
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
    values[wide] = (math.log(law.data_constant) - law.alpha_N * log_xi - gap)[wide]
    if e == 1.0:
        values[few] = math.log(law.model_constant) - np.log(-np.expm1(-log_xi[few]))
        return values
    # S = C_N (1 + O(xi^-(alpha1+1))): equal to rounding, or the sums would overflow (alpha_N beyond 20)
    far = few & ((e * log_xi > 36.0) | (law.spectrum * log_xi > 640.0))
    values[far] = math.log(law.model_constant)
    near = few & ~far
    if near.any():
        values[near] = _log_limit(inputs, log_xi[near]) - law.alpha_N * log_xi[near]
    return values


def rescaled_ratio(inputs: Inputs, N: float, D: float) -> float:
    """xi = D^(alpha_D/alpha_N) / N of inputs that follow a power law."""
    return inputs.power_law().xi(N, D)


def below_peak(inputs: Inputs, u: FloatArray) -> FloatArray:
    """log(F(t) (1 - t)) at u = log(t/(1-t)), t = N/K(D): the loss below the peak is C_N N^-alpha_N F(t).

    A smooth bounded function: zero for few features, a constant at the peak.
    """
    t = 1.0 / (1.0 + np.exp(-u))
    log_size = np.log(t * _limit(inputs, LADDER[0]).rank)
    found = _log_limit(inputs, -log_size) + (inputs.power_law().spectrum - 1.0) * log_size
    return np.asarray(found - math.log(inputs.power_law().model_constant) - np.log1p(np.exp(u)))


def _log_limit(inputs: Inputs, log_xi: FloatArray) -> FloatArray:
    """The logarithm of the loss of the limit's counts at N = 1/xi."""
    needed = float(log_xi.max()) / math.log(10.0) + 0.5
    law = _limit(inputs, next((step for step in LADDER if step >= needed), LADDER[-1]))
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(leading_surface(law, np.exp(-log_xi)).loss))


@functools.lru_cache(maxsize=16)
def _limit(inputs: Inputs, decades: int) -> Atoms:
    law = inputs.power_activations()
    return Counts(limit_nodes(law.decay - 1.0, -law.growth - 1.0, 10.0**decades))


ROUNDS = 7  # the scan, then brackets each a twentieth of the last


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The best on one side of the peak: loss = constant C^-alpha_C at N = N_constant C^N_exponent."""

    side: str  # "N<K" or "N>K"
    xi: float
    constant: float
    N_constant: float
    D_constant: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier:
    """N* ~ C^N_exponent, D* ~ C^D_exponent, loss* = best.constant * C^-alpha_C."""

    cost: Cost
    N_exponent: float
    D_exponent: float
    alpha_C: float
    best: Side
    other: Side

    def allocation(self, budget: float) -> tuple[float, float, float]:
        """N*, D* and loss* at a budget, asymptotically."""
        N = self.best.N_constant * budget**self.N_exponent
        D = self.best.D_constant * budget**self.D_exponent
        return N, D, self.best.constant * budget**-self.alpha_C


def frontier(inputs: Inputs, cost: str = "direct") -> Frontier:
    """The frontier of a cost model in the scaling limit.

    >>> from sparselaw.inputs import SparseInputs
    >>> f = frontier(SparseInputs(alpha1=1.0, alpha2=0.3))
    >>> round(f.alpha_C, 12), f.best.side, round(f.best.xi, 2), round(f.best.constant, 2)
    (0.575, 'N<K', 1.11, 2.76)
    """
    model = parse_cost(cost, Conditioning.of_inputs(inputs))
    exponents = inputs.power_law()
    e = exponents.alpha_N / exponents.alpha_D
    terms, crit = model.leading(e), math.log(exponents.xi_crit)
    power = terms[0].growth(e)

    def log_N(log_xi: FloatArray) -> FloatArray:
        """log N at C = 1."""
        return np.array([-min(term.log_spent(e, float(x), crit) for term in terms) / power for x in log_xi])

    sides = [
        _best(inputs, log_N, e, "N>K", crit - min(60.0 / exponents.alpha_N, 600.0), crit),
        _best(inputs, log_N, e, "N<K", crit, crit + 30.0),
    ]
    sides.sort(key=lambda side: side.constant)
    return Frontier(
        cost=model,
        N_exponent=1.0 / power,
        D_exponent=e / power,
        alpha_C=exponents.alpha_N / power,
        best=sides[0],
        other=sides[1],
    )


def _best(
    inputs: Inputs, log_N: Callable[[FloatArray], FloatArray], e: float, side: str, low: float, high: float
) -> Side:
    alpha_N = inputs.power_law().alpha_N

    def log_loss(log_xi: FloatArray) -> FloatArray:
        with np.errstate(all="ignore"):  # extreme exponents
            return log_scaling_along(inputs, log_xi) - alpha_N * log_N(log_xi)

    # Scan first: the minimum is one on each side, but a far start could hide it from a local search.
    gap = np.exp(np.linspace(-9.0, math.log(high - low - 1e-9), 60))
    places = np.sort(high - gap if side == "N>K" else low + gap)
    for _ in range(ROUNDS):
        values = log_loss(places)
        i = int(np.argmin(values))
        near = places[max(i - 1, 0)], places[min(i + 1, places.size - 1)]
        best = float(places[i]), float(values[i])
        places = np.linspace(*near, 41)
    log_xi = best[0]
    N = math.exp(float(log_N(np.array([log_xi]))[0]))
    return Side(
        side=side,
        xi=math.exp(log_xi),
        constant=math.exp(best[1]),
        N_constant=N,
        D_constant=(math.exp(log_xi) * N) ** e,
    )
