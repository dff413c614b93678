"""The exact law of the spike: the probability that one rare activation alone makes descent unstable.

An active coordinate j adds c_j = j^g, g = -alpha2 - 1, to its diagonal entry of X X^T. Where g > 0 the
amplitudes grow with j, and one activation with c_j > threshold * D is enough for
lambda_max(X X^T / D) > threshold. With j* the last coordinate for which c_j <= threshold * D,

    P(spike) = 1 - prod_{j > j*} (1 - p_j)^D,

which falls as D^-nu, nu = (alpha1 + alpha2 + 1) / g (Thm. 6.2).
"""

from __future__ import annotations

import math

from sparselaw.problem import SparseInputs

TIE = 4e-15  # c_j and threshold * D closer than this are equal: the spike needs strictly more
LARGEST_WHOLE = 2.0**53  # beyond this, whole numbers are no longer told apart and sums are integrals


def spike_exponent(problem: SparseInputs) -> float | None:
    """nu of Thm. 6.2, or None where amplitudes do not grow with j.

    >>> spike_exponent(SparseInputs(alpha1=1.5, alpha2=-2.0))
    0.5
    """
    return problem.exponents.nu


def spike_index(problem: SparseInputs, D: int, threshold: float) -> float:
    """j*: an activation of any j > j* makes lambda_max(X X^T / D) > threshold by itself.

    A whole number as a float; infinite where no amplitude is large enough.

    >>> spike_index(SparseInputs(alpha1=1.5, alpha2=-2.0), D=100, threshold=2.0)
    200.0
    """
    log_index = log_spike_index(problem, D, threshold)
    if log_index < 0.0:
        return 0.0
    if log_index > math.log(LARGEST_WHOLE):
        return math.exp(log_index) if log_index < 709.0 else math.inf
    growth, limit = -problem.alpha2 - 1.0, threshold * D * (1.0 + TIE)
    index = math.floor(math.exp(log_index))
    while (index + 1.0) ** growth <= limit:
        index += 1
    while index > 0 and float(index) ** growth > limit:
        index -= 1
    return float(index)


def log_spike_index(problem: SparseInputs, D: int, threshold: float) -> float:
    """log of (threshold * D)^(1/g), before rounding down to a whole number."""
    growth = -problem.alpha2 - 1.0
    if growth <= 0.0:
        return math.inf
    return math.log(threshold * D) / growth


def spike_probability(problem: SparseInputs, D: int, threshold: float) -> float:
    """P(some activation beyond j* in D samples), exactly.

    >>> round(spike_probability(SparseInputs(alpha1=1.5, alpha2=-2.0), D=100, threshold=2.0), 4)
    0.0232
    """
    log_index = log_spike_index(problem, D, threshold)
    s = problem.alpha1 + 1.0
    if math.isinf(log_index) or log_index >= math.log(problem.dimension):
        return 0.0
    if log_index > math.log(LARGEST_WHOLE):
        # Here the sum is its integral to 16 digits, and in logarithms it survives j* beyond 1e308.
        mean = D * math.exp((1.0 - s) * log_index) / (s - 1.0)
        if not math.isinf(problem.dimension):
            mean *= -math.expm1((1.0 - s) * (math.log(problem.dimension) - log_index))
    else:
        mean = D * log_survival(s, spike_index(problem, D, threshold) + 1.0, problem.dimension)
    return -math.expm1(-mean)


def log_survival(s: float, first: float, last: float) -> float:
    """Sum of -log(1 - j^-s) over j = first, ..., last: infinite where j = 1 is among them."""
    if last < first:
        return 0.0
    if first <= 1.0 or s == 0.0:
        return math.inf
    start = min(_smooth_from(first, s), last + 1.0)
    total = math.fsum(-math.log1p(-(j**-s)) for j in _whole(first, start))
    if start > last:
        return total
    # -log(1 - p) = p + p^2/2 + ...; the terms below 1e-18 of the first are left out.
    terms = 1 + math.ceil(42.0 / (s * math.log(start)))
    return total + math.fsum(power_sum(k * s, start, last) / k for k in range(1, terms + 1))


def power_sum(s: float, first: float, last: float) -> float:
    """Sum of j^-s over j = first, ..., last (last may be infinite where s > 1), to about 1e-14.

    Few terms directly, then Euler and Maclaurin's formula about midpoints:
    sum f(j) = [F - f'/24 + 7 f'''/5760 - 31 f'''''/967680] between first - 1/2 and last + 1/2.
    The integral is a difference of powers, written so that a narrow range loses no digits.

    >>> round(power_sum(2.0, 1.0, math.inf) - math.pi**2 / 6.0, 13)
    0.0
    """
    if last < first:
        return 0.0
    start = min(_smooth_from(first, s), last + 1.0)
    total = math.fsum(j**-s for j in _whole(first, start))
    if start > last:
        return total
    low = start - 0.5 if start < LARGEST_WHOLE else start
    return (
        total + _integral(s, low, last) - _edge(s, low) + (0.0 if math.isinf(last) else _edge(s, last + 0.5))
    )


def _integral(s: float, low: float, last: float) -> float:
    if math.isinf(last):
        return math.pow(low, 1.0 - s) / (s - 1.0)
    log_ratio = math.log1p((last + 0.5 - low) / low)
    if s == 1.0:
        return log_ratio
    return math.pow(low, 1.0 - s) * math.expm1((1.0 - s) * log_ratio) / (1.0 - s)


def _edge(s: float, x: float) -> float:
    """-f'/24 + 7 f'''/5760 - 31 f'''''/967680 for f = x^-s."""
    third = s * (s + 1.0) * (s + 2.0)
    fifth = third * (s + 3.0) * (s + 4.0)
    y = 1.0 / (x * x)
    return math.pow(x, -s - 1.0) * (s / 24.0 + y * (-7.0 * third / 5760.0 + y * 31.0 * fifth / 967680.0))


def _smooth_from(first: float, s: float) -> float:
    """Where the formula's next term is below 1e-16 of the sum's own terms."""
    return max(first, math.ceil(20.0 * (s + 2.0)))


def _whole(first: float, stop: float) -> list[float]:
    return [first + i for i in range(int(stop - first))] if first < LARGEST_WHOLE else []
