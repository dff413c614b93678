"""Sums over a range of coordinates, possibly infinite, at a cost that does not grow with its length."""

from __future__ import annotations

import math

LARGEST_WHOLE = 2.0**53  # beyond this, whole numbers are no longer told apart and sums are integrals


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
