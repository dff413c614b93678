"""Sums over the variances of the coordinates, from which the loss surface of dense inputs is made."""

from __future__ import annotations

import math

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.gram.nodes import coordinate_nodes, power_integral
from sparselaw.inputs import Inputs

_FAR = 1e-9  # v/k beyond the nodes: v/(v+k) = v/k - (v/k)^2 to 1e-18 there


def variance_sums(inputs: Inputs, size: float) -> VarianceSums:
    """Sums over the variances of ``inputs``, for cut-offs near that of ``size`` resolved directions."""
    if inputs.exponents is None:
        v = inputs.variances(np.arange(1.0, inputs.dimension + 1.0))
        return VarianceSums(np.log(v[v > 0.0]), np.ones(np.count_nonzero(v)))
    a = inputs.power_law().spectrum
    nodes = coordinate_nodes(inputs.dimension, math.log(max(size, 1.0)) + (40.0 - math.log(_FAR)) / a, a)
    ended = nodes.log_end >= math.log(inputs.dimension + 0.5)
    return VarianceSums(-a * nodes.log_j, nodes.weight, a, math.inf if ended else nodes.log_end)


class VarianceSums:
    """Sums over ``weight`` coordinates of variance v each, and over j^-a from ``far`` = log j on."""

    def __init__(self, log_v: FloatArray, weight: FloatArray, a: float = 1.0, far: float = math.inf) -> None:
        self._log_v, self._weight = log_v, weight
        tail = math.isfinite(far)
        self._once = power_integral(1.0 - a, far) if tail else 0.0
        self._twice = power_integral(1.0 - 2.0 * a, far) if tail else 0.0

    def degrees(self, log_k: float) -> tuple[float, float]:
        """f1 = sum v/(v+k) and f1 - f2 = sum v k/(v+k)^2, k = exp(log_k)."""
        with np.errstate(over="ignore"):
            inside = 1.0 / (1.0 + np.exp(log_k - self._log_v))
            outside = 1.0 / (1.0 + np.exp(self._log_v - log_k))
        f1, change = float(self._weight @ inside), float(self._weight @ (inside * outside))
        if self._once:
            once, twice = math.exp(-log_k) * self._once, math.exp(-2.0 * log_k) * self._twice
            f1, change = f1 + once - twice, change + once - 2.0 * twice
        return f1, change

    def cubes(self, log_k: float) -> float:
        """f3 = sum v^3/(v+k)^3."""
        with np.errstate(over="ignore"):  # beyond the nodes (v/k)^3 is below 1e-27
            return float(self._weight @ (1.0 + np.exp(log_k - self._log_v)) ** -3.0)

    def total(self) -> float:
        """tr Sigma, the loss before any training."""
        return float(self._weight @ np.exp(self._log_v)) + self._once
