"""Condition number, and what the three solvers cost in the three regimes (the paper's table 3)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sparselaw.inputs import Inputs, SparseInputs


def resolved_directions(inputs: Inputs, N: float, D: float) -> float:
    """min(N, K(D)): the features the readout can use. With alpha1 <= 0 or dense inputs, min(N, D)."""
    return min(N, inputs.asymptotic_seen(D))


def paper_condition_number(inputs: Inputs, N: float, D: float) -> float:
    """kappa ~ min(N, K(D))^(alpha1+alpha2+2), as the paper estimates it."""
    return math.pow(resolved_directions(inputs, N, D), inputs.spectrum)


def condition_number(inputs: Inputs, N: float, D: float) -> float:
    """kappa with the rarest coordinate seen, j_max ~ D^(1/alpha1), setting the smallest eigenvalue.

    Above the peak (N > K) the coordinate j_max was seen once, so the smallest eigenvalue of the Gram over
    D is about c_{j_max}/D and kappa ~ D^(1 + (alpha2+1)/alpha1). When amplitudes do not shrink with j
    (alpha2 <= -1), or below the peak, the paper's estimate stands.
    """
    estimate = paper_condition_number(inputs, N, D)
    if N <= inputs.asymptotic_seen(D):
        return estimate
    return max(estimate, inputs.corrected_condition(D))


def condition_exponents(inputs: SparseInputs) -> tuple[float, float]:
    """The exponent of kappa in D above the peak: the paper's, and the corrected one (alpha1 > 0).

    >>> paper, corrected = condition_exponents(SparseInputs(alpha1=1.0, alpha2=0.3))
    >>> round(paper, 12), round(corrected, 12)
    (1.65, 2.3)
    """
    paper = inputs.spectrum / (inputs.alpha1 + 1.0)
    return paper, max(paper, 1.0 + (inputs.alpha2 + 1.0) / inputs.alpha1)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegimeCost:
    """One row of the paper's table 3: cost over N D as a power of the named size."""

    regime: str
    variable: str  # the size the first two exponents refer to
    gd: float
    accelerated: float
    direct_variable: str
    direct: float = 1.0


def cost_table(inputs: SparseInputs) -> tuple[RegimeCost, RegimeCost, RegimeCost]:
    """Table 3: exponents of the cost divided by N D, for alpha1 > 0."""
    a = inputs.spectrum
    data = a / (inputs.alpha1 + 1.0)
    return (
        RegimeCost(regime="N > D", variable="D", gd=data, accelerated=data / 2, direct_variable="D"),
        RegimeCost(regime="D > N > K", variable="D", gd=data, accelerated=data / 2, direct_variable="N"),
        RegimeCost(regime="K > N", variable="N", gd=a, accelerated=a / 2, direct_variable="N"),
    )


def solver_costs(inputs: Inputs, N: float, D: float) -> dict[str, float]:
    """Compute of each solver at (N, D), up to constants, with the paper's condition number."""
    kappa = paper_condition_number(inputs, N, D)
    return {"gd": N * D * kappa, "accelerated": N * D * math.sqrt(kappa), "direct": N * D * min(N, D)}


def cheapest_solver(inputs: Inputs, N: float, D: float) -> str:
    """The solver with the smallest cost at (N, D).

    >>> model = SparseInputs(alpha1=1.0, alpha2=0.3)
    >>> cheapest_solver(model, 100, 1e6), cheapest_solver(model, 1e8, 1e6)
    ('direct', 'accelerated')
    """
    costs = solver_costs(inputs, N, D)
    return min(costs, key=lambda name: costs[name])


def direct_crossover(inputs: SparseInputs, D: float) -> float:
    """N_c(D) ~ D^((alpha1+alpha2+2)/(2(alpha1+1))): above it acceleration beats the direct solve."""
    return float(D ** (inputs.spectrum / (2.0 * (inputs.alpha1 + 1.0))))


def balanced_size(inputs: SparseInputs, D: float) -> float:
    """N_bal(D) ~ D^(1/(alpha1+1)): where the two terms of the loss are alike."""
    return float(D ** (inputs.exponents.alpha_D / inputs.exponents.alpha_N))
