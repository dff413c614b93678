"""Sums over all coordinates j = 1, 2, ..., M at a cost that grows with neither M nor the sizes.

The first HEAD terms are added one by one. Beyond them a smooth function of log j is integrated by
Gauss-Legendre panels in log j, with the first Euler-Maclaurin correction at both ends (midpoint form:
integrate from J + 1/2). Where a coordinate is so rare that it is seen at most once, the caller uses
closed forms instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray

HEAD = 256
_PANEL = 3.0  # length of a panel times the steepest rate of change
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_DELTA = 1e-3  # relative spacing for the derivative in the end correction


@dataclass(frozen=True, slots=True)
class Nodes:
    """sum_j f(j) is approximately sum(weight * f(exp(log_j))) over the coordinates up to exp(log_end)."""

    log_j: FloatArray
    weight: FloatArray
    log_end: float

    @property
    def j(self) -> FloatArray:
        return np.asarray(np.exp(self.log_j), dtype=float)


def panels(start: float, stop: float, rate: float) -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre nodes y and weights on [start, stop] for functions that change at the given rate."""
    if stop <= start:
        return np.empty(0), np.empty(0)
    count = max(1, math.ceil((stop - start) * rate / _PANEL))
    edges = np.linspace(start, stop, count + 1)
    half = 0.5 * (edges[1] - edges[0])
    centres = 0.5 * (edges[1:] + edges[:-1])
    return (centres[:, None] + half * _NODES).ravel(), np.tile(half * _WEIGHTS, count)


def coordinate_nodes(dimension: float, log_reach: float, rate: float, first: int = HEAD) -> Nodes:
    """Nodes for a sum over j <= min(dimension, exp(log_reach)), exact for the ``first`` coordinates.

    ``rate`` bounds how fast the summand changes with log j.
    """
    if dimension <= 2 * first:
        j = np.arange(1.0, dimension + 1.0)
        return Nodes(np.log(j), np.ones_like(j), math.log(dimension + 0.5))
    head = np.arange(1.0, first + 1.0)
    start = math.log(first + 0.5)
    end = math.log(dimension + 0.5) if math.isfinite(dimension) else math.inf
    stop = max(start, min(end, log_reach))
    y, w = panels(start, stop, rate)
    log_j, weight = [np.log(head), y], [np.ones_like(head), w * np.exp(y)]
    # sum_{J<j<=M} f = int f - (f'(M+1/2) - f'(J+1/2))/24 + ..., f' = (df/dy)/j
    corrections = [(start, 1.0)] + ([(end, -1.0)] if stop == end else [])
    for place, sign in corrections:
        slope = sign / (24.0 * 2.0 * _DELTA * math.exp(place))
        log_j.append(np.array([place - _DELTA, place + _DELTA]))
        weight.append(np.array([-slope, slope]))
    return Nodes(np.concatenate(log_j), np.concatenate(weight), stop)


def power_integral(exponent: float, start: float, stop: float = math.inf, log_factor: float = 0.0) -> float:
    """exp(log_factor) int_start^stop e^(exponent * y) dy: any exponent, stop possibly infinite."""
    if stop <= start:
        return 0.0
    if math.isinf(stop):
        return -_exp(log_factor + exponent * start) / exponent if exponent < 0 else math.inf
    width = exponent * (stop - start)
    if abs(width) < 1e-12:
        return (stop - start) * _exp(log_factor + exponent * start)
    if width > 0:  # factor out the larger end, so that nothing overflows on the way
        return _exp(log_factor + exponent * stop) * -math.expm1(-width) / exponent
    return _exp(log_factor + exponent * start) * math.expm1(width) / exponent


def _exp(x: float) -> float:
    return math.exp(x) if x < 709.0 else math.inf
