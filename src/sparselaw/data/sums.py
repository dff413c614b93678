"""Sums of powers of j over a range that may be infinite, at a cost that does not grow with its length."""

from __future__ import annotations

import math

import numpy as np

EXPLICIT = 32  # terms added one by one before the Euler-Maclaurin remainder takes over
BERNOULLI = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600)  # B_2k / (2k)!


def power_sum(exponent: float, first: float, last: float) -> float:
    """sum_{j=first}^{last} j^-exponent, to about 1e-14 of itself; ``last`` may be inf when exponent > 1.

    The first terms are added as they are; the rest is the Euler-Maclaurin formula
    int_a^b f + (f(a)+f(b))/2 + sum_k B_2k/(2k)! (f^(2k-1)(b) - f^(2k-1)(a)), whose error falls as a^-8.

    >>> round(power_sum(2.0, 1, math.inf), 12) == round(math.pi**2 / 6, 12)
    True
    >>> power_sum(1.0, 1, 2)
    1.5
    """
    if last < first:
        return 0.0
    # Large exponents need a later start: the formula's terms fall as (exponent / a)^2k.
    explicit = EXPLICIT + int(2 * abs(exponent))
    stop = min(last, first + explicit - 1)
    head = math.fsum((first + np.arange(int(stop - first) + 1)) ** -exponent)
    if last == stop:
        return head
    a = stop + 1
    return head + _integral(exponent, a, last) + _corrections(exponent, a, last)


def _integral(exponent: float, a: float, b: float) -> float:
    if exponent == 1.0:
        return math.log(b / a)
    power = 1.0 - exponent
    if math.isinf(b):
        return float(-(a**power) / power)
    # expm1 keeps the digits when the exponent is close to 1 or b is close to a.
    return float(a**power * math.expm1(power * math.log(b / a)) / power)


def _corrections(exponent: float, a: float, b: float) -> float:
    total = 0.5 * (a**-exponent + (0.0 if math.isinf(b) else b**-exponent))
    rising = exponent  # the odd derivative f^(2k-1)(x) is -rising * x^-(exponent + 2k - 1)
    for k, bernoulli in enumerate(BERNOULLI, start=1):
        order = 2 * k - 1
        at_b = 0.0 if math.isinf(b) else b ** -(exponent + order)
        total += bernoulli * rising * (a ** -(exponent + order) - at_b)
        rising *= (exponent + order) * (exponent + order + 1)
    return float(total)
