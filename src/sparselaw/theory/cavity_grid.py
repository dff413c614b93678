"""Integrals of the cavity closure: from Lam(w) = E e^{-wY} to means over R = 1/(k + Y).

All are linear in e^{-kw} Lam(w), so their kernels are made once for a range of k:

    Q = E R = int e^{-kw} Lam(w) dw,
    h(c) = E 1/(1 + c R) = 1 - c int e^{-(k+c)w} Lam(w) dw,
    psi(v) = E e^{-vR}, the inverse Laplace transform of h(1/s)/s, by Gaver and Stehfest's sum,
    E r^m = int_0^inf u^(m-1) e^{-u} psi(cu)^n du / Gamma(m),  r = 1/(1 + c (R_1 + ... + R_n)).

The law of R is broad, and psi smooth in log v; n = 1 gives h back and is a check. Trapezoid in the
logarithms.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray

BLOCK = 3.0  # kernels serve cut-offs within this range of log k
STEP = 0.35
TERMS = 10  # of Stehfest's sum: its weights reach 1e5, so that double precision leaves 1e-8


class CavityGrid:
    """Points and kernels for log k in [log_lowest, log_lowest + BLOCK]."""

    def __init__(self, log_lowest: float, largest: float) -> None:
        log_top = math.log(largest + math.exp(log_lowest + BLOCK))
        self.w = _grid(math.log(1e-6 / 60.0) - log_top, math.log(40.0) - log_lowest)
        self._dw = STEP * self.w
        self._dw[0] += self.w[0] * (1.0 - 0.5 * STEP)  # and int_0^w0 dw, where the transform is one
        self.v = _grid(math.log(1e-7) + log_lowest, math.log(45.0) + log_top)
        j = np.arange(1, TERMS + 1)
        share = _stehfest(TERMS) / j
        c = self.v[:, None] / (j * math.log(2.0))
        self._to_psi = np.zeros((self.v.size, self.w.size))
        for i in range(TERMS):
            self._to_psi += share[i] * c[:, i, None] * np.exp(-c[:, i, None] * self.w) * self._dw
        self._log_v = np.log(self.v)
        self._to_h = self.v[:, None] * np.exp(-self.v[:, None] * self.w) * self._dw
        self._weights: dict[bytes, FloatArray] = {}

    def mean(self, transform: FloatArray) -> FloatArray:
        """Q = E R, for each row of transforms."""
        return np.asarray(transform @ self._dw)

    def fluctuating(self, transform: FloatArray, row: NDArray[np.int64], c: FloatArray) -> FloatArray:
        """h(c) = E 1/(1 + c R) with the transform of that row, between the points of a grid of c."""
        log_lost = np.log(np.maximum(transform @ self._to_h.T, 1e-300))  # c E R/(1 + c R)
        place = np.clip((np.log(c) - self._log_v[0]) / STEP, 0.0, self.v.size - 1.000001)
        i = place.astype(np.int64)
        inside = log_lost[row, i] + (place - i) * (log_lost[row, i + 1] - log_lost[row, i])
        linear = np.minimum(c / self.v[0], 1.0)  # below the grid c R is small
        return np.asarray(1.0 - linear * np.exp(inside))

    def several(
        self, transform: FloatArray, row: NDArray[np.int64], n: FloatArray, c: FloatArray
    ) -> FloatArray:
        """Means of r, r^2, r^3, r = 1/(1 + c_row (R_1 + ... + R_n)), the R by the transform of that row."""
        key = c.tobytes()
        if key not in self._weights:
            ratio = np.minimum(self.v / c[:, None], 700.0)
            kernels = STEP * np.exp(-ratio) * np.stack([ratio, ratio**2, 0.5 * ratio**3])
            kernels[:, :, 0] += np.maximum(1.0 - kernels.sum(axis=2), 0.0)  # below the grid psi is one
            self._weights = {key: kernels}
        log_psi = np.log(np.clip(1.0 - transform @ self._to_psi.T, 1e-300, 1.0))
        powers = np.exp(n[:, None] * log_psi[row])
        return np.stack([np.einsum("iv,iv->i", kernel[row], powers) for kernel in self._weights[key]])


def _grid(start: float, stop: float) -> FloatArray:
    return np.asarray(np.exp(np.arange(start, stop + STEP, STEP)))


def _stehfest(terms: int) -> FloatArray:
    f, half = math.factorial, terms // 2
    return np.array(
        [
            (-1) ** (j + half)
            * sum(
                i**half * f(2 * i) / (f(half - i) * f(i) * f(i - 1) * f(j - i) * f(2 * i - j))
                for i in range((j + 1) // 2, min(j, half) + 1)
            )
            for j in range(1, terms + 1)
        ]
    )
