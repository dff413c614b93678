"""The tail of a power law of activation probabilities: its coordinates drawn, and the rarest one seen."""

from __future__ import annotations

import math

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.sums.roots import solve_decreasing


def draw_power_tail(
    alpha1: float, dimension: float, after: int, count: int, rng: np.random.Generator
) -> FloatArray:
    """``count`` coordinates j > after with probability proportional to f_j = -log(1-p_j).

    Propose the integer nearest to x of density x^-(alpha1+1) on [after+1/2, dimension+1/2], by inversion: it
    is j with weight I_j = int_{j-1/2}^{j+1/2} x^-(alpha1+1) dx >= p_j (convexity). Accept with probability
    f_j / (B I_j), where B = f/p at after+1 bounds f_j/p_j. More than nine in ten are accepted.
    """
    decay = alpha1 + 1.0
    p_first = float((np.array([after + 1.0]) ** -decay)[0])
    bound = -math.log1p(-p_first) / p_first
    accepted: list[FloatArray] = []
    missing = count
    while missing > 0:
        size = int(missing * 1.1) + 16
        j = np.rint(_invert(alpha1, dimension, after, 1.0 - rng.random(size)))
        np.clip(j, after + 1.0, dimension, out=j)  # rounding of the inversion at the two ends
        p = j**-decay
        ratio = -np.log1p(-p) / (bound * p * _interval_over_p(decay, j))
        kept = j[rng.random(size) < ratio][:missing]
        accepted.append(kept)
        missing -= kept.size
    return np.concatenate(accepted) if accepted else np.empty(0)


def _invert(alpha1: float, dimension: float, after: int, uniform: FloatArray) -> FloatArray:
    """x with uniform = (mass beyond x) / (mass beyond after+1/2), density x^-(alpha1+1)."""
    low, high = after + 0.5, dimension + 0.5
    if math.isinf(high):
        return low * uniform ** (-1.0 / alpha1)
    span = math.log(high / low)
    if alpha1 == 0.0:
        return low * np.exp(span * (1.0 - uniform))
    return low * np.exp(-np.log1p((1.0 - uniform) * math.expm1(-alpha1 * span)) / alpha1)


def _interval_over_p(decay: float, j: FloatArray) -> FloatArray:
    """int_{j-1/2}^{j+1/2} x^-decay dx / j^-decay, with no cancellation for large j."""
    h = 0.5 / j
    small = h < 1e-3
    if small.all():
        return 1.0 + decay * (decay + 1.0) * h**2 / 6.0
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        if abs(decay - 1.0) < 1e-12:
            exact = (np.log1p(h) - np.log1p(-h)) / (2.0 * h)
        else:
            power = 1.0 - decay
            exact = (np.expm1(power * np.log1p(h)) - np.expm1(power * np.log1p(-h))) / (2.0 * h * power)
    return np.where(small, 1.0 + decay * (decay + 1.0) * h**2 / 6.0, exact)


def rarest_seen(alpha1: float, dimension: float, D: float) -> float:
    """The median of j_max, the largest coordinate seen at least once; of order D^(1/alpha1).

    P(j_max <= J) = prod_{j>J} (1-p_j)^D. The product is taken to leading order, exp(-D int_{J+1/2}^M p_j dj).
    """
    log_median = math.log(math.log(2.0)) - math.log(D)
    edge = dimension + 0.5

    def tail(log_J: float) -> tuple[float, float]:
        log_j = math.log(math.exp(log_J) + 0.5) if log_J < 30.0 else log_J
        if math.isinf(edge):
            return math.exp(-alpha1 * log_j) / alpha1, -math.exp(-alpha1 * log_j)
        span = math.log(edge) - log_j
        area = math.exp(-alpha1 * log_j) * (-math.expm1(-alpha1 * span) / alpha1 if alpha1 else span)
        return max(area, 0.0), -math.exp(-alpha1 * log_j)

    if tail(math.log(0.5))[0] <= math.exp(log_median):
        return 1.0
    largest = solve_decreasing(tail, math.exp(log_median), -log_median / max(alpha1, 0.05))
    return max(1.0, min(math.exp(min(largest, 700.0)), dimension))
