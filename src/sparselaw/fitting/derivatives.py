"""Log losses of a law at many thetas, with their first and second derivatives.

A sum of powers has terms whose derivatives are sparse. A law that knows its derivatives gives J and V with
respect to the logarithms phi of its own parameters. Theta differs from phi by units (sparselaw.laws.ranges),
phi_A = theta_A + log unit + alpha log(mean size), so with T = dphi/dtheta and the only curved part
d^2 phi_A / dtheta_alpha^2 = alpha log(mean size):

    grad_theta = T^T grad_phi,    hess_theta = T^T hess_phi T + diag(sum_A grad_phi_A d^2 phi_A/dtheta^2).

Other laws are looked at around theta. Central differences of step 1e-5 leave errors of about 1e-10 in J and
1e-5 in V: enough for a Newton step, whose goal is a zero of the gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.fitting.minimise import rho

STEP = 1e-5  # of differences


class Terms(NamedTuple):
    """A sum of powers is log sum_k exp(t_k), with t_k = height_k + theta . grad t_k linear in theta.

    The gradient has a one for the coefficient, of its own in every sweep, and minus the centred log size for
    the exponent, which sweeps share.
    """

    linear: FloatArray  # (terms, p, rows): grad t_k
    height: FloatArray  # (terms,): of the unit of the coefficient, in centred log losses

    def at(self, thetas: FloatArray) -> TermSlopes:
        """At thetas (fits, p)."""
        return TermSlopes(terms=self, values=self.height[:, None] + np.tensordot(thetas, self.linear, (1, 1)))


@dataclass(frozen=True, slots=True, kw_only=True)
class TermSlopes:
    """The terms at some thetas, and the derivatives of their sum.

    With p_k = exp(t_k - eta) the share of a term, J = sum_k p_k grad t_k and V = sum_k p_k grad t_k
    grad t_k^T - J J^T.
    """

    terms: Terms
    values: FloatArray  # (fits, terms, rows): t

    def log_losses(self) -> FloatArray:
        """(fits, rows): log sum_k exp(t_k)."""
        top = self.values.max(axis=1)
        found: FloatArray = top + np.log(np.exp(self.values - top[:, None]).sum(axis=1))
        return found

    def jacobian(self) -> FloatArray:
        """(fits, rows, p): J."""
        share = np.exp(self.values - self.log_losses()[:, None])
        return np.asarray(np.einsum("fkr,kpr->frp", share, self.terms.linear))

    def derivatives(
        self,
        y: FloatArray,
        inverse_scale: FloatArray,
        weights: FloatArray,
        delta: FloatArray,
        tilt: float = 0.0,
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """f, gradient, Hessian and the sum of w J_j^2 / s^2 of every fit."""
        eta = self.log_losses()
        share = np.exp(self.values - eta[:, None])
        value, first, second = rho((y - eta) * inverse_scale, weights, delta, tilt)
        pull = first * inverse_scale
        outer = second * inverse_scale**2 + pull  # J J^T enters with rho'' and, through V, with rho'
        J = sum(share[:, k, None] * gradient for k, gradient in enumerate(self.terms.linear))
        gradient = -(J @ pull[:, :, None])[:, :, 0]
        hessian = (J * outer[:, None]) @ J.swapaxes(1, 2)
        for k, linear in enumerate(self.terms.linear):
            hessian -= (linear * (share[:, k] * pull)[:, None]) @ linear.T
        square = np.broadcast_to(weights * inverse_scale**2, eta.shape)
        return value, gradient, hessian, ((J * J) @ square[:, :, None])[:, :, 0]


class FormulaSlopes(NamedTuple):
    """Of every theta and row; with ``turn`` and ``curvature`` J and V are those of phi."""

    log_loss: FloatArray  # (thetas, rows)
    first: FloatArray  # (thetas, rows, q): J
    second: FloatArray  # (thetas, rows, q, q): V, its lower triangle
    turn: FloatArray | None = None  # (thetas, q, p): T
    curvature: FloatArray | None = None  # (thetas, q, p): d^2 phi_a / dtheta_b^2

    def jacobian(self) -> FloatArray:
        """(thetas, rows, p): J with respect to theta."""
        return self.first if self.turn is None else np.asarray(self.first @ self.turn)

    def derivatives(
        self,
        y: FloatArray,
        inverse_scale: FloatArray,
        weights: FloatArray,
        delta: FloatArray,
        tilt: float = 0.0,
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """f, gradient, Hessian and the sum of w J_j^2 / s^2 (a scale for each parameter) of every fit."""
        J, V = self.first, self.second
        fits, _, q = J.shape
        f, pull, bending = rho((y - self.log_loss) * inverse_scale, weights, delta, tilt)
        pull = (pull * inverse_scale)[:, None, :]
        gradient = -(pull @ J)[:, 0]
        if not np.isfinite(gradient).all():  # perhaps at a row without weight, which has no say
            seen = np.broadcast_to(weights != 0.0, self.log_loss.shape)[:, :, None]
            J, V = np.where(seen, J, 0.0), np.where(seen[..., None], V, 0.0)
            gradient = -(pull @ J)[:, 0]
        bent = (pull @ V.reshape(fits, -1, q * q)).reshape(fits, q, q)
        transposed = np.swapaxes(J, 1, 2)
        hessian = transposed @ (J * (bending * inverse_scale**2)[:, :, None]) - bent
        hessian = np.tril(hessian) + np.swapaxes(np.tril(hessian, -1), 1, 2)
        square = transposed @ (J * np.broadcast_to(weights * inverse_scale**2, pull[:, 0].shape)[:, :, None])
        if self.turn is None:
            return f, gradient, hessian, np.diagonal(square, axis1=1, axis2=2).copy()
        T, turned = self.turn, np.swapaxes(self.turn, 1, 2)
        whole = turned @ hessian @ T
        if self.curvature is not None:
            places = np.arange(T.shape[2])
            whole[:, places, places] += np.einsum("ta,tap->tp", gradient, self.curvature)
        size = np.diagonal(turned @ square @ T, axis1=1, axis2=2).copy()
        return f, (turned @ gradient[:, :, None])[:, :, 0], np.ascontiguousarray(whole), size


def by_differences(log_losses: Callable[[FloatArray], FloatArray], thetas: FloatArray) -> FormulaSlopes:
    """From the formula alone."""
    fits, p = thetas.shape
    h = STEP * np.maximum(1.0, np.abs(thetas))
    first, second = np.tril_indices(p, -1)
    places = np.eye(p)
    moves = np.vstack([np.zeros((1, p)), places, -places, places[first] + places[second]])
    found = log_losses((thetas[:, None, :] + moves * h[:, None, :]).reshape(-1, p))
    found = found.reshape(fits, len(moves), -1)
    here, up, down, mixed = np.split(found, [1, p + 1, 2 * p + 1], axis=1)
    with np.errstate(invalid="ignore"):
        jacobian = (up - down) / (2.0 * h[:, :, None])
        curved = np.empty((fits, p, p, here.shape[2]))
        every = np.arange(p)
        curved[:, every, every] = (up - 2.0 * here + down) / h[:, :, None] ** 2
        cross = (mixed - up[:, first] - up[:, second] + here) / (h[:, first] * h[:, second])[:, :, None]
        curved[:, first, second] = curved[:, second, first] = cross
    return FormulaSlopes(
        here[:, 0],
        np.ascontiguousarray(jacobian.swapaxes(1, 2)),
        np.ascontiguousarray(curved.transpose(0, 3, 1, 2)),
    )
