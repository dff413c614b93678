"""The compute-optimal frontier: the paper's balanced exponents, and the minimum of the loss surface itself.

In the scaling limit a cost is the smallest of terms C = factor * N^p * D^q * m^k with m = min(N, K(D)) the
directions resolved (min(N, D) when N and D are symmetric). With D = (xi N)^e, e = alpha_N/alpha_D, and
loss = N^-alpha_N S(xi), all of C, N, D and the loss are powers of each other times functions of xi alone. So
at fixed C the best xi is a number; it is not the balanced line, because the double-descent peak stands there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.costs import Conditioning, Cost, parse_cost
from sparselaw.inputs import Inputs
from sparselaw.theory.collapse import log_scaling_along

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
