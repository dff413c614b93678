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

from sparselaw.sums.roots import solve_decreasing
from sparselaw.sums.spectrum import VarianceSums
from sparselaw.theory.surface_value import SurfaceValue


def gaussian_loss(
    spectrum: VarianceSums, dimension: float, N: float, D: float, ridge: float, noise: float
) -> SurfaceValue:
    """The loss of N features and D samples of Gaussian inputs, given the sums over their variances."""
    smaller = min(N, D)
    if ridge == 0.0 and N == D and smaller < dimension:
        return SurfaceValue(math.inf, -math.inf, "N equals D: the double-descent peak")
    if ridge == 0.0 and smaller >= dimension:
        if noise > 0.0 and D <= dimension:
            return SurfaceValue(
                math.inf, -math.inf, "D does not exceed the dimension: label noise is fitted exactly"
            )
        return SurfaceValue(noise * dimension / (D - dimension) if noise > 0.0 else 0.0, -math.inf)
    log_k = cutoff(spectrum, N, D, ridge)
    f1, spread = spectrum.degrees(log_k)
    f2 = f1 - spread
    if ridge == 0.0:  # f1 = min(N, D) exactly; the differences below would be rounding noise
        free = (N - D) * (D - f2) / (D * (N - f2)) if N > D else 1.0 - N / D
    else:
        free = 1.0 - (f1 - (N - f1) * spread / (N - f2)) / D
    bias = math.exp(log_k) * N * spread / (N - f2)
    return SurfaceValue((bias + (1.0 - free) * noise) / free, log_k)


def cutoff(spectrum: VarianceSums, N: float, D: float, ridge: float) -> float:
    """log k: f1 = min(N, D) without ridge; else  D k (1 - f1/N)(1 - f1/D) = ridge."""
    smaller, larger = min(N, D), max(N, D)
    ridgeless = spectrum.first_cutoff(smaller)
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
