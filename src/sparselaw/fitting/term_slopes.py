"""Derivatives of a sum of powers at many thetas, by array operations; the maths is in kernel.py.

A row's gradient is sparse: term k has its intercept, one for each sweep, and its exponent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.fitting.misfit import rho


@dataclass(frozen=True, slots=True, kw_only=True)
class TermSlopes:
    """Terms t_k = theta[intercept_k + sweep] - theta[slope_k] x_k at thetas (fits, p)."""

    terms: FloatArray  # (fits, terms, rows): t
    x: FloatArray  # (terms, rows)
    intercept: IntArray  # (terms,)
    slope: IntArray  # (terms,): -1 for a term without an exponent
    sweep: FloatArray  # (sweeps, rows): one where the row is of the sweep
    free: int  # p

    def log_losses(self) -> FloatArray:
        """(fits, rows): log sum_k exp(t_k)."""
        top = self.terms.max(axis=1)
        found: FloatArray = top + np.log(np.exp(self.terms - top[:, None]).sum(axis=1))
        return found

    def derivatives(
        self, y: FloatArray, inverse_scale: FloatArray, weights: FloatArray, delta: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """f, gradient, Hessian and the sum of w J_j^2 / s^2 of every fit."""
        eta = self.log_losses()
        share = np.exp(self.terms - eta[:, None])
        found = rho((y - eta) * inverse_scale, weights, delta)
        pull = found.first * inverse_scale
        outer = found.second * inverse_scale**2 + pull  # J J^T enters with rho'' and, through V, with rho'
        fits, _, rows = share.shape
        sweeps = len(self.sweep)
        J = np.zeros((fits, self.free, rows))
        pulled = share * pull[:, None]
        for k, (first, slope) in enumerate(zip(self.intercept, self.slope, strict=True)):
            J[:, first : first + sweeps] += share[:, k, None] * self.sweep
            if slope >= 0:
                J[:, slope] -= share[:, k] * self.x[k]
        gradient = -(J @ pull[:, :, None])[:, :, 0]
        hessian = (J * outer[:, None]) @ J.swapaxes(1, 2)
        for k, (first, slope) in enumerate(zip(self.intercept, self.slope, strict=True)):
            own = np.arange(first, first + sweeps)
            hessian[:, own, own] -= pulled[:, k] @ self.sweep.T
            if slope >= 0:
                by_x = pulled[:, k] * self.x[k]
                cross = by_x @ self.sweep.T
                hessian[:, own, slope] += cross
                hessian[:, slope, own] += cross
                hessian[:, slope, slope] -= by_x @ self.x[k]
        square = np.broadcast_to(weights * inverse_scale**2, eta.shape)
        return found.value, gradient, hessian, ((J * J) @ square[:, :, None])[:, :, 0]
