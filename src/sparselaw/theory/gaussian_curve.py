"""The leading surface of dense inputs at many pairs (N, D) at once: ``gaussian_surface``, vectorised."""

from __future__ import annotations

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import Inputs
from sparselaw.sums.many_roots import solve_decreasing_many
from sparselaw.sums.spectrum import VarianceSums
from sparselaw.theory.gaussian_surface import cutoff


def gaussian_losses(
    inputs: Inputs, N: FloatArray, D: FloatArray, ridge: float = 0.0, noise: float = 0.0
) -> FloatArray:
    """The loss of every pair; to 1e-9 that of ``gaussian_loss``."""
    smaller, dimension = np.minimum(N, D), inputs.dimension
    losses = np.full(N.size, np.inf)
    whole = (smaller >= dimension) & (ridge == 0.0)
    if noise > 0.0:
        fitted = whole & (dimension < D)
        losses[fitted] = noise * dimension / (D[fitted] - dimension)
    else:
        losses[whole] = 0.0
    rest = ~whole & ((N != D) | (ridge > 0.0))
    if rest.any():
        spectrum = inputs.variance_sums(float(smaller[rest].max()))
        losses[rest] = _cut_off(spectrum, N[rest], D[rest], ridge, noise)
    return losses


def _cut_off(spectrum: VarianceSums, N: FloatArray, D: FloatArray, ridge: float, noise: float) -> FloatArray:
    log_k = _cutoffs(spectrum, N, D, ridge)
    with np.errstate(all="ignore"):
        f1, spread = spectrum.degrees_along(log_k)
        f2 = f1 - spread
        if ridge == 0.0:
            free = np.where(N > D, (N - D) * (D - f2) / (D * (N - f2)), 1.0 - N / D)
        else:
            free = 1.0 - (f1 - (N - f1) * spread / (N - f2)) / D
        bias = np.exp(log_k) * N * spread / (N - f2)
        return np.asarray((bias + (1.0 - free) * noise) / free)


def _cutoffs(spectrum: VarianceSums, N: FloatArray, D: FloatArray, ridge: float) -> FloatArray:
    if ridge > 0.0:
        return np.array([cutoff(spectrum, float(n), float(d), ridge) for n, d in zip(N, D, strict=True)])
    sizes, place = np.unique(np.minimum(N, D), return_inverse=True)
    starts = np.array([spectrum.first_cutoff(float(size)) for size in sizes])

    def degrees(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        f1, spread = spectrum.degrees_along(x)
        return f1, -spread

    return np.asarray(solve_decreasing_many(degrees, sizes, starts)[np.ravel(place)])
