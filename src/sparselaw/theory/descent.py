"""What makes descent slow, and what makes it diverge: the condition number, and the exact law of the spike.

The iterations of the paper's table 3 rest on the condition number. The spike is one rare activation that
alone makes descent unstable: an active coordinate j adds c_j = j^g, g = -alpha2 - 1, to its diagonal entry
of X X^T. Where g > 0 the amplitudes grow with j, and one activation with c_j > threshold * D is enough for
lambda_max(X X^T / D) > threshold. With j* the last coordinate for which c_j <= threshold * D,

    P(spike) = 1 - prod_{j > j*} (1 - p_j)^D,

which falls as D^-nu, nu = (alpha1 + alpha2 + 1) / g (thm:gd_failure_scaling); j* is that of eq:j_star.
"""

from __future__ import annotations

import math

from sparselaw.gram.nodes import LARGEST_WHOLE, log_survival
from sparselaw.inputs import Inputs, SparseInputs
from sparselaw.theory.surface import asymptotic_seen


def paper_condition_number(inputs: Inputs, N: float, D: float) -> float:
    """kappa ~ min(N, K(D))^(alpha1+alpha2+2), as the paper estimates it."""
    return math.pow(min(N, asymptotic_seen(inputs, D)), inputs.power_law().spectrum)


def condition_number(inputs: Inputs, N: float, D: float) -> float:
    """kappa with the rarest coordinate seen, j_max ~ D^(1/alpha1), setting the smallest eigenvalue.

    Above the peak (N > K) the coordinate j_max was seen once, so the smallest eigenvalue of the Gram over
    D is about c_{j_max}/D and kappa ~ D^(1 + (alpha2+1)/alpha1). When amplitudes do not shrink with j
    (alpha2 <= -1), or below the peak, the paper's estimate stands.
    """
    estimate = paper_condition_number(inputs, N, D)
    if N <= asymptotic_seen(inputs, D) or not inputs.has_power_activations:
        return estimate
    of = inputs.power_activations()
    if of.decay <= 1.0 or of.growth >= 0.0:
        return estimate
    log_condition = math.log(D) - of.growth * math.log(rarest_seen(inputs, D))
    return max(estimate, math.exp(min(log_condition, 700.0)))


def rarest_seen(inputs: Inputs, D: float) -> float:
    """The median of j_max, the largest coordinate seen at least once; of order D^(1/alpha1).

    P(j_max <= J) = prod_{j>J} (1-p_j)^D. The product is taken to leading order, exp(-D int_{J+1/2}^M p_j dj),
    which is one half where the integral is log(2)/D.
    """
    of = inputs.power_activations()
    alpha1, log_edge = of.decay - 1.0, math.log(of.dimension + 0.5)
    left = alpha1 * math.log(2.0) / D
    if alpha1 == 0.0:
        log_j = log_edge - math.log(2.0) / D
    else:
        log_j = -math.log(left + math.exp(-alpha1 * log_edge)) / alpha1
    return max(1.0, min(math.exp(min(log_j, 700.0)) - 0.5, of.dimension))


def condition_exponents(inputs: SparseInputs) -> tuple[float, float]:
    """The exponent of kappa in D above the peak: the paper's, and the corrected one (alpha1 > 0).

    >>> paper, corrected = condition_exponents(SparseInputs(alpha1=1.0, alpha2=0.3))
    >>> round(paper, 12), round(corrected, 12)
    (1.65, 2.3)
    """
    paper = inputs.power_law().spectrum / (inputs.alpha1 + 1.0)
    return paper, max(paper, 1.0 + (inputs.alpha2 + 1.0) / inputs.alpha1)


TIE = 4e-15  # c_j and threshold * D closer than this are equal: the spike needs strictly more


def spike_exponent(inputs: Inputs) -> float | None:
    """nu of thm:gd_failure_scaling, or None where amplitudes do not grow with j.

    >>> from sparselaw.inputs import SparseInputs
    >>> spike_exponent(SparseInputs(alpha1=1.5, alpha2=-2.0))
    0.5
    """
    return inputs.power_law().nu


def spike_index(inputs: Inputs, D: int, threshold: float) -> float:
    """j*: an activation of any j > j* makes lambda_max(X X^T / D) > threshold by itself.

    A whole number as a float; infinite where no amplitude is large enough.

    >>> from sparselaw.inputs import SparseInputs
    >>> spike_index(SparseInputs(alpha1=1.5, alpha2=-2.0), D=100, threshold=2.0)
    200.0
    """
    log_index = _log_spike_index(inputs, D, threshold)
    if log_index < 0.0:
        return 0.0
    if log_index > math.log(LARGEST_WHOLE):
        return math.exp(log_index) if log_index < 709.0 else math.inf
    growth, limit = inputs.power_activations().growth, threshold * D * (1.0 + TIE)
    index = math.floor(math.exp(log_index))
    while (index + 1.0) ** growth <= limit:
        index += 1
    while index > 0 and float(index) ** growth > limit:
        index -= 1
    return float(index)


def _log_spike_index(inputs: Inputs, D: int, threshold: float) -> float:
    """log of (threshold * D)^(1/g), before rounding down to a whole number."""
    growth = inputs.power_activations().growth
    return math.log(threshold * D) / growth if growth > 0.0 else math.inf


def spike_probability(inputs: Inputs, D: int, threshold: float) -> float:
    """P(some activation beyond j* in D samples), exactly.

    >>> from sparselaw.inputs import SparseInputs
    >>> round(spike_probability(SparseInputs(alpha1=1.5, alpha2=-2.0), D=100, threshold=2.0), 4)
    0.0232
    """
    log_index = _log_spike_index(inputs, D, threshold)
    s = inputs.power_activations().decay
    if math.isinf(log_index) or log_index >= math.log(inputs.dimension):
        return 0.0
    if log_index > math.log(LARGEST_WHOLE):
        # Here the sum is its integral to 16 digits, and in logarithms it survives j* beyond 1e308.
        mean = D * math.exp((1.0 - s) * log_index) / (s - 1.0)
        if not math.isinf(inputs.dimension):
            mean *= -math.expm1((1.0 - s) * (math.log(inputs.dimension) - log_index))
    else:
        mean = D * log_survival(s, spike_index(inputs, D, threshold) + 1.0, inputs.dimension)
    return -math.expm1(-mean)
