"""The loss surface of dense Gaussian inputs with variances v_j, ridge and label noise included.

Given the embedding, the readout is a ridge regression on N Gaussian features; given the data law, the
embedding is a random projection. Each step replaces the ridge by a larger effective one. Together, with
f1 = sum v/(v+k) and f2 = sum v^2/(v+k)^2:

    ridge = D k (1 - f1/N) (1 - f1/D)                         (ridge = 0: f1 = min(N, D))
    gamma = (f1 - (N - f1)(f1 - f2)/(N - f2)) / D
    loss  = (k N (f1 - f2)/(N - f2) + gamma * noise) / (1 - gamma).

Without ridge and noise this is k m max/(max - m), m = min(N, D), max = max(N, D): the same after
exchanging N and D. It is also the leading behaviour of sparse inputs with alpha1 <= 0, whose coordinates
are all seen often.
"""

from __future__ import annotations

import math

import numpy as np

from sparselaw.sums.coordinates import coordinate_nodes, power_integral
from sparselaw.sums.roots import solve_decreasing
from sparselaw.theory.constants import resolved_edge
from sparselaw.theory.sparse_surface import SurfaceValue

_FAR = 1e-9  # v/k beyond the nodes: v/(v+k) = v/k - (v/k)^2 to 1e-18 there


class PowerSpectrum:
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

    def total(self) -> float:
        """tr Sigma, the loss before any training."""
        far = power_integral(1.0 - self.a, self._far) if math.isfinite(self._far) else 0.0
        return float(self._weight @ np.exp(self._log_v)) + far


def dense_loss(a: float, dimension: float, N: float, D: float, ridge: float, noise: float) -> SurfaceValue:
    """The loss of N features and D samples of Gaussian inputs with variances j^-a, j <= dimension."""
    smaller = min(N, D)
    if ridge == 0.0 and N == D and smaller < dimension:
        return SurfaceValue(math.inf, -math.inf, "N equals D: the double-descent peak")
    spectrum = PowerSpectrum(a, dimension, smaller)
    if ridge == 0.0 and smaller >= dimension:
        if noise > 0.0 and D <= dimension:
            return SurfaceValue(
                math.inf, -math.inf, "D does not exceed the dimension: label noise is fitted exactly"
            )
        return SurfaceValue(noise * dimension / (D - dimension) if noise > 0.0 else 0.0, -math.inf)
    log_k = _cutoff(spectrum, N, D, ridge)
    f1, spread = spectrum.degrees(log_k)
    f2 = f1 - spread
    if ridge == 0.0:  # f1 = min(N, D) exactly; the differences below would be rounding noise
        free = (N - D) * (D - f2) / (D * (N - f2)) if N > D else 1.0 - N / D
    else:
        free = 1.0 - (f1 - (N - f1) * spread / (N - f2)) / D
    bias = math.exp(log_k) * N * spread / (N - f2)
    return SurfaceValue((bias + (1.0 - free) * noise) / free, log_k)


def _cutoff(spectrum: PowerSpectrum, N: float, D: float, ridge: float) -> float:
    """log k: f1 = min(N, D) without ridge; else  D k (1 - f1/N)(1 - f1/D) = ridge."""
    smaller, larger = min(N, D), max(N, D)
    a = spectrum.a
    ridgeless = a * (math.log(resolved_edge(a)) - math.log(smaller))
    if ridge == 0.0:
        return solve_decreasing(lambda x: _negated(spectrum.degrees(x)), smaller, ridgeless)

    # f1 + ridge m / (D k (1 - f1/max)) = m: for growing k both terms fall, so the root is one.
    def balance(log_k: float) -> tuple[float, float]:
        f1, spread = spectrum.degrees(log_k)
        room = 1.0 - f1 / larger
        if room <= 0.0:
            return math.inf, -math.inf
        pull = ridge * smaller / D * math.exp(-log_k) / room
        return f1 + pull, -spread - pull * (1.0 + spread / larger / room)

    return solve_decreasing(balance, smaller, max(ridgeless, math.log(ridge / D)))


def _negated(values: tuple[float, float]) -> tuple[float, float]:
    return values[0], -values[1]
