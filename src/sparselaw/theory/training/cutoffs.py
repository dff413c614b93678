"""The random embedding as a shift of the Laplace variable: the root k of phi(k) = z in the upper half plane.

For a diagonal Gram phi(k) = k (1 - B1(k)/N), B1 = sum g/(g+k), and the resolvent of u^T u G is (k/z)/(g+k) on
average. k has the sign of z's imaginary part.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.theory.training.contour import ComplexArray

CLOSE = 1e-10
Shift = Callable[[ComplexArray], tuple[ComplexArray, ComplexArray]]


def embedded(rates: FloatArray, weight: FloatArray, N: float) -> Shift:
    """phi(k) = k (1 - sum weight g/(g+k) / N) and its slope."""
    weighted = weight * rates / N

    def shift(k: ComplexArray) -> tuple[ComplexArray, ComplexArray]:
        inverse = 1.0 / (rates[:, None] + k)
        first = weighted @ inverse
        np.multiply(inverse, inverse, out=inverse)
        return k * (1.0 - first), 1.0 - first + k * (weighted @ inverse)

    return shift


def solve(shift: Shift, z: ComplexArray, start: float) -> ComplexArray:
    """k at every z of the upper half plane, by Newton's method.

    From k = z + start at the first row of z (the first time); each row then starts from the one before.
    """
    if z.ndim == 1:
        return _newton(shift, z, z + start)[0]
    rows = np.empty_like(z)
    guess = z[0] + start
    for i, row in enumerate(z):
        rows[i], slope = _newton(shift, row, guess)
        if i + 1 < len(z):
            guess = rows[i] + (z[i + 1] - row) / slope
            guess = np.where(guess.imag > 0.0, guess, rows[i])
    return rows


def _newton(shift: Shift, z: ComplexArray, k: ComplexArray) -> tuple[ComplexArray, ComplexArray]:
    """The roots and the slopes there."""
    for _ in range(200):
        value, slope = shift(k)
        step = _damped(k, (value - z) / slope)
        k = k - step
        if np.all(np.abs(step) <= CLOSE * np.abs(k)):
            break
    return k, slope


def _damped(k: ComplexArray, step: ComplexArray) -> ComplexArray:
    """Shortened where k - step would leave the upper half plane, and to nine tenths of k's size."""
    length = np.abs(step)
    share = np.minimum(1.0, 0.9 * np.abs(k) / np.where(length > 0.0, length, 1.0))
    falls = step.imag * share
    share = np.where(falls >= k.imag, share * 0.5 * k.imag / np.where(falls > 0.0, falls, 1.0), share)
    return np.asarray(step * share)
