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

from sparselaw.costs import Conditioning, Cost, parse_cost
from sparselaw.inputs import Inputs
from sparselaw.theory.collapse import log_scaling_function


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

    def log_N(log_xi: float) -> float:
        """log N at C = 1."""
        return -min(term.log_spent(e, log_xi, crit) for term in terms) / power

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
    inputs: Inputs, log_N: Callable[[float], float], e: float, side: str, low: float, high: float
) -> Side:
    from scipy.optimize import minimize_scalar

    alpha_N = inputs.power_law().alpha_N

    def log_loss(log_xi: float) -> float:
        return log_scaling_function(inputs, log_xi) - alpha_N * log_N(log_xi)

    # Scan first: the minimum is one on each side, but a far start could hide it from a local search.
    gap = [math.exp(x) for x in _spread(-9.0, math.log(high - low - 1e-9), 60)]
    places = [high - g for g in gap] if side == "N>K" else [low + g for g in gap]
    values = [log_loss(x) for x in places]
    i = min(range(len(values)), key=values.__getitem__)
    near = sorted([places[max(i - 1, 0)], places[min(i + 1, len(places) - 1)]])
    found = minimize_scalar(log_loss, bounds=(near[0], near[1]), method="bounded", options={"xatol": 1e-9})
    log_xi = float(found.x)
    N = math.exp(log_N(log_xi))
    return Side(
        side=side,
        xi=math.exp(log_xi),
        constant=math.exp(log_loss(log_xi)),
        N_constant=N,
        D_constant=(math.exp(log_xi) * N) ** e,
    )


def _spread(start: float, stop: float, count: int) -> list[float]:
    return [start + (stop - start) * i / (count - 1) for i in range(count)]
