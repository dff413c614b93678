"""The compute-optimal frontier: the paper's balanced exponents, and the minimum of the loss surface itself.

A cost is C = factor * N^r * D * m^q with m = min(N, K(D)) the directions resolved (min(N, D) when N and D
are symmetric). With D = (xi N)^e, e = alpha_N/alpha_D, and loss = N^-alpha_N S(xi), all of C, N, D and
the loss are powers of each other times functions of xi alone. So at fixed C the best xi is a number; it
is not the balanced line, because the double-descent peak stands there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sparselaw.errors import InputError, check_finite
from sparselaw.inputs import Inputs, SparseInputs
from sparselaw.theory.collapse import log_scaling_function


@dataclass(frozen=True, slots=True, kw_only=True)
class CostShape:
    """C = factor * N^r * D * m^q."""

    name: str
    r: float
    q: float = 0.0
    factor: float = 1.0


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

    cost: CostShape
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


def cost_shape(inputs: Inputs, name: str) -> CostShape:
    """A cost model by its name: direct, 6nd, gd, accelerated, cheapest, power:r."""
    a, symmetric = inputs.spectrum, _symmetric(inputs)
    # For N << D the direct solve costs N^2 D; in the symmetric case the smaller size counts.
    direct = CostShape(name="direct", r=1.0, q=1.0) if symmetric else CostShape(name="direct", r=2.0)
    shapes = {
        "direct": direct,
        "6nd": CostShape(name="6nd", r=1.0, factor=6.0),
        "gd": CostShape(name="gd", r=1.0, q=a),
        "accelerated": CostShape(name="accelerated", r=1.0, q=a / 2.0),
    }
    # On the frontier N ~ K, so of the three the one with the smallest total power wins; gd never does.
    shapes["cheapest"] = direct if a / 2.0 >= 1.0 else shapes["accelerated"]
    if name in shapes:
        return shapes[name]
    if name.startswith("power:"):
        r = check_finite("cost", name.removeprefix("power:"))  # type: ignore[arg-type]
        if r <= 0.0:
            raise InputError("cost", name, "the power of N must be positive", "choose power:r with r > 0")
        return CostShape(name=name, r=r)
    raise InputError("cost", name, "is not a cost model", f"choose one of {', '.join(shapes)}, power:r")


def frontier(inputs: Inputs, cost: str = "direct") -> Frontier:
    """The frontier of a cost model in the scaling limit.

    >>> f = frontier(SparseInputs(alpha1=1.0, alpha2=0.3))
    >>> round(f.alpha_C, 12), f.best.side, round(f.best.xi, 2), round(f.best.constant, 2)
    (0.575, 'N<K', 1.11, 2.76)
    """
    shape = cost_shape(inputs, cost)
    exponents = inputs.exponents
    e = exponents.alpha_N / exponents.alpha_D
    power = shape.r + shape.q + e
    crit = math.log(exponents.xi_crit)
    sides = [
        _best(inputs, shape, power, e, "N>K", crit - min(60.0 / exponents.alpha_N, 600.0), crit),
        _best(inputs, shape, power, e, "N<K", crit, crit + 30.0),
    ]
    sides.sort(key=lambda side: side.constant)
    return Frontier(
        cost=shape,
        N_exponent=1.0 / power,
        D_exponent=e / power,
        alpha_C=exponents.alpha_N / power,
        best=sides[0],
        other=sides[1],
    )


def _best(
    inputs: Inputs, shape: CostShape, power: float, e: float, side: str, low: float, high: float
) -> Side:
    from scipy.optimize import minimize_scalar

    alpha_N, crit = inputs.exponents.alpha_N, math.log(inputs.exponents.xi_crit)

    def log_N(log_xi: float) -> float:
        """log N at C = 1."""
        spent = math.log(shape.factor) + e * log_xi + shape.q * min(0.0, log_xi - crit)
        return -spent / power

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


def _symmetric(inputs: Inputs) -> bool:
    return not (isinstance(inputs, SparseInputs) and inputs.alpha1 > 0.0)
