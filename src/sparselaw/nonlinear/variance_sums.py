"""Sums over the variances of the coordinates, from which the loss surface of dense inputs is made."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.gram.nodes import coordinate_nodes, power_integral, resolved_edge
from sparselaw.inputs import Inputs

_ENTRIES = 100_000  # of a matrix of cut-offs and variances at a time
_FAR = 1e-9  # v/k beyond the nodes: v/(v+k) = v/k - (v/k)^2 to 1e-18 there


def variance_sums(inputs: Inputs, size: float) -> VarianceSums:
    """Sums over the variances of ``inputs``, for cut-offs near that of ``size`` resolved directions."""
    if inputs.exponents is not None:
        return PowerSpectrum(inputs.spectrum, inputs.dimension, size)
    variances = inputs.variances(np.arange(1.0, inputs.dimension + 1.0))
    return TableSpectrum(variances[variances > 0.0])


class VarianceSums(ABC):
    """Sums over variances v_j."""

    @abstractmethod
    def degrees(self, log_k: float) -> tuple[float, float]:
        """f1 = sum v/(v+k) and f1 - f2 = sum v k/(v+k)^2, k = exp(log_k)."""

    @abstractmethod
    def degrees_along(self, log_k: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The same at many cut-offs."""

    @abstractmethod
    def cubes(self, log_k: float) -> float:
        """f3 = sum v^3/(v+k)^3."""

    @abstractmethod
    def first_cutoff(self, size: float) -> float:
        """Where to look for the log k that resolves ``size`` directions."""

    @abstractmethod
    def total(self) -> float:
        """tr Sigma, the loss before any training."""


class PowerSpectrum(VarianceSums):
    """Sums over v_j = j^-a, j <= dimension, for cut-offs near that of ``size`` resolved directions."""

    def __init__(self, a: float, dimension: float, size: float) -> None:
        self.a, self.dimension = a, dimension
        reach = math.log(max(size, 1.0)) + (40.0 - math.log(_FAR)) / a
        nodes = coordinate_nodes(dimension, reach, a)
        self._log_v = -a * nodes.log_j
        self._weight = nodes.weight
        self._far = nodes.log_end if nodes.log_end < math.log(dimension + 0.5) else math.inf

    def degrees(self, log_k: float) -> tuple[float, float]:
        """f1 = sum v/(v+k) and f1 - f2 = sum v k/(v+k)^2."""
        with np.errstate(over="ignore"):
            inside = 1.0 / (1.0 + np.exp(log_k - self._log_v))
            outside = 1.0 / (1.0 + np.exp(self._log_v - log_k))
        f1, spread = float(self._weight @ inside), float(self._weight @ (inside * outside))
        if math.isfinite(self._far):
            once = math.exp(-log_k) * power_integral(1.0 - self.a, self._far)
            twice = math.exp(-2.0 * log_k) * power_integral(1.0 - 2.0 * self.a, self._far)
            f1, spread = f1 + once - twice, spread + once - 2.0 * twice
        return f1, spread

    def degrees_along(self, log_k: FloatArray) -> tuple[FloatArray, FloatArray]:
        f1, spread = _along(self._log_v, self._weight, log_k)
        if math.isfinite(self._far):
            once = np.exp(-log_k) * power_integral(1.0 - self.a, self._far)
            twice = np.exp(-2.0 * log_k) * power_integral(1.0 - 2.0 * self.a, self._far)
            f1, spread = f1 + once - twice, spread + once - 2.0 * twice
        return f1, spread

    def cubes(self, log_k: float) -> float:
        with np.errstate(over="ignore"):  # beyond the nodes (v/k)^3 is below 1e-27
            return float(self._weight @ (1.0 + np.exp(log_k - self._log_v)) ** -3.0)

    def first_cutoff(self, size: float) -> float:
        return self.a * (math.log(resolved_edge(self.a)) - math.log(size))

    def total(self) -> float:
        """tr Sigma, the loss before any training."""
        far = power_integral(1.0 - self.a, self._far) if math.isfinite(self._far) else 0.0
        return float(self._weight @ np.exp(self._log_v)) + far


class TableSpectrum(VarianceSums):
    """Sums over variances given one by one."""

    def __init__(self, variances: FloatArray) -> None:
        self._log_v = np.sort(np.log(variances))[::-1]

    def degrees(self, log_k: float) -> tuple[float, float]:
        with np.errstate(over="ignore"):
            inside = 1.0 / (1.0 + np.exp(log_k - self._log_v))
            outside = 1.0 / (1.0 + np.exp(self._log_v - log_k))
        return float(inside.sum()), float((inside * outside).sum())

    def degrees_along(self, log_k: FloatArray) -> tuple[FloatArray, FloatArray]:
        return _along(self._log_v, np.ones_like(self._log_v), log_k)

    def cubes(self, log_k: float) -> float:
        with np.errstate(over="ignore"):
            return float(np.sum((1.0 + np.exp(log_k - self._log_v)) ** -3.0))

    def first_cutoff(self, size: float) -> float:
        return float(self._log_v[min(int(size), self._log_v.size - 1)])

    def total(self) -> float:
        return float(np.exp(self._log_v).sum())


def _along(log_v: FloatArray, weight: FloatArray, log_k: FloatArray) -> tuple[FloatArray, FloatArray]:
    """sum weight v/(v+k) and sum weight v k/(v+k)^2 for each k, in blocks that stay in the cache."""
    f1, spread = np.empty_like(log_k), np.empty_like(log_k)
    block = max(1, _ENTRIES // max(log_v.size, 1))
    for start in range(0, log_k.size, block):
        part = slice(start, start + block)
        with np.errstate(over="ignore"):
            ratio = np.exp(np.subtract.outer(log_k[part], log_v))
        inside = 1.0 / (1.0 + ratio)
        f1[part] = inside @ weight
        # v k/(v+k)^2 = (k/v)/(1 + k/v)^2, zero where k/v is infinite
        spread[part] = np.where(np.isinf(ratio), 0.0, ratio * inside * inside) @ weight
    return f1, spread
