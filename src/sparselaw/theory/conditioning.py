"""The condition number, on which the iterations of the paper's table 3 rest."""

from __future__ import annotations

import math

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
