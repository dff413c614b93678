r"""The law with a smooth discrepancy: ln L_i = ln law_theta(x_i) + h(x_i) + e_i.

h is a Gaussian process of size tau with a Matern 3/2 kernel of length 2 in x = (ln N, ln D); e_i has standard
deviation sigma_i, and rows of one run share one more part of variance sigma^2. At one tau,

    K = tau^2 k + diag(sigma_i^2) (+ sigma^2 between rows of one run),      r = y - ln law_theta(x),
    F = r^T K^-1 r + prior(theta), smallest at theta;      H = J^T K^-1 J + prior precision,

and at x*, with k* = tau^2 k(x*, x) and G = J* - J^T K^-1 k* (J* = d ln law(x*) / d theta),

    m = ln law(x*) + k*^T K^-1 r,
    v = tau^2 + sigma^2 (+ sigma^2 with runs of several rows) - k*^T K^-1 k* + G^T H^-1 G.

Everything is done with the inverse of the Cholesky factor C of K: a vector a is whitened as C^-1 a. There are
a few hundred rows, and C^-1 is used hundreds of times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.fitting.forecast.coupled_model import Prior, value_and_slopes
from sparselaw.fitting.forecast.marquardt import marquardt

LENGTH = 2.0
SMALL = 48  # rows of a triangle that is inverted in one piece


class Rows(NamedTuple):
    """What is known: centred log sizes, log losses, noise; which rows are of one run, if any."""

    x: FloatArray  # (n, 2)
    y: FloatArray  # (n,)
    row_noise: FloatArray  # (n,)
    noise: float  # sigma of a run like the others
    group: IntArray | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Posterior:
    """At one tau. ``evidence`` is F + ln|K| + ln|H|."""

    rows: Rows
    tau: float
    theta: FloatArray
    covariance: FloatArray  # H^-1 (6, 6)
    whitening: FloatArray  # C^-1 (n, n), lower: K = C C^T
    whitened: FloatArray  # C^-1 r (n,)
    slopes: FloatArray  # C^-1 J (n, 6)
    value: float  # F
    evidence: float
    converged: bool

    def predict(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the log loss of a new run at centred x (points, 2)."""
        law, at = value_and_slopes(self.theta, x)
        nearby = self._whitened_kernel(x)
        through = at - nearby.T @ self.slopes  # G
        parts = 1.0 if self.rows.group is None else 2.0
        variance = self.tau**2 + parts * self.rows.noise**2 - np.sum(nearby**2, axis=0)
        variance += np.einsum("ij,jk,ik->i", through, self.covariance, through)
        return law + nearby.T @ self.whitened, variance

    def pulls(self, x: FloatArray) -> FloatArray:
        """(points, n): by how much each row moves the mean at x (points, 2), against the forecast without it.

        The mean is linear in y with weights w = K^-1 (k* + J H^-1 G), and leaving out a row is putting it
        where the others expect it.
        """
        nearby = self._whitened_kernel(x)
        through = value_and_slopes(self.theta, x)[1] - nearby.T @ self.slopes
        weights = self._back(nearby + self.slopes @ (self.covariance @ through.T))
        return np.asarray(weights.T * self.left_out_residuals())

    def left_out_residuals(self) -> FloatArray:
        """(n,): each row minus what the others expect of it, (Q y)_i / Q_ii, the law taken as linear.

        Q = K^-1 - K^-1 J H^-1 J^T K^-1 is the inverse of the rows' covariance once theta is integrated out;
        at the minimum of F, Q y about the prior is K^-1 r.
        """
        inverse = np.sum(self.whitening**2, axis=0)  # the diagonal of K^-1 = C^-T C^-1
        spread = self._back(self.slopes)  # K^-1 J
        precision = inverse - np.einsum("ij,jk,ik->i", spread, self.covariance, spread)
        return np.asarray(self._back(self.whitened) / np.maximum(precision, 1e-300))

    def _whitened_kernel(self, x: FloatArray) -> FloatArray:
        """C^-1 k* (n, points)."""
        return np.asarray(self.whitening @ (self.tau**2 * matern(self.rows.x, x)))

    def _back(self, a: FloatArray) -> FloatArray:
        """C^-T a."""
        return np.asarray(self.whitening.T @ a)


def matern(x: FloatArray, other: FloatArray) -> FloatArray:
    """(1 + z) e^-z, z = sqrt(3) |x - x'| / 2.

    >>> matern(np.zeros((1, 2)), np.zeros((1, 2)))
    array([[1.]])
    """
    apart = x[:, None, :] - other[None, :, :]
    z = np.sqrt(3.0) / LENGTH * np.sqrt(np.einsum("ijk,ijk->ij", apart, apart))
    return np.asarray((1.0 + z) * np.exp(-z))


def inverse_of_lower(triangle: FloatArray) -> FloatArray:
    """By halves: of [[A, 0], [B, C]] it is [[A^-1, 0], [-C^-1 B A^-1, C^-1]].

    >>> inverse_of_lower(np.array([[2.0, 0.0], [1.0, 4.0]]))
    array([[ 0.5  ,  0.   ],
           [-0.125,  0.25 ]])
    """
    n = len(triangle)
    if n <= SMALL:
        return np.asarray(np.tril(np.linalg.inv(triangle)))
    half = n // 2
    found = np.zeros_like(triangle)
    found[:half, :half] = inverse_of_lower(triangle[:half, :half])
    found[half:, half:] = inverse_of_lower(triangle[half:, half:])
    found[half:, :half] = -found[half:, half:] @ triangle[half:, :half] @ found[:half, :half]
    return found


def covariance(rows: Rows, tau: float, kernel: FloatArray | None = None) -> FloatArray:
    """K (n, n)."""
    K = tau**2 * (matern(rows.x, rows.x) if kernel is None else kernel)
    if rows.group is not None:
        K = K + rows.noise**2 * (rows.group[:, None] == rows.group[None, :])
    K[np.diag_indices_from(K)] += rows.row_noise**2
    return K


def posterior(
    rows: Rows, prior: Prior, tau: float, start: FloatArray, kernel: FloatArray | None = None
) -> Posterior:
    """The smallest F from ``start``. ``kernel`` is matern(x, x), where it is known already."""
    root = np.asarray(np.linalg.cholesky(covariance(rows, tau, kernel)), dtype=np.float64)
    whitening = inverse_of_lower(root)

    def residuals(theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        law, J = value_and_slopes(theta, rows.x)
        white = whitening @ np.column_stack([rows.y - law, -J])
        with np.errstate(invalid="ignore"):
            of_prior = prior.root_precision * (theta - prior.centre)
        return (
            np.concatenate([white[:, 0], of_prior]),
            np.vstack([white[:, 1:], np.diag(prior.root_precision)]),
        )

    found = marquardt(residuals, start)
    z, slopes = residuals(found.theta)
    n = rows.y.size
    curvature = slopes.T @ slopes  # H
    factor = np.linalg.cholesky(curvature)
    log_H = 2.0 * float(np.sum(np.log(np.diag(factor))))
    log_K = 2.0 * float(np.sum(np.log(np.diag(root))))
    return Posterior(
        rows=rows,
        tau=tau,
        theta=found.theta,
        covariance=np.asarray(np.linalg.inv(curvature), dtype=np.float64),
        whitening=whitening,
        whitened=z[:n],
        slopes=-slopes[:n],
        value=found.value,
        evidence=found.value + log_K + log_H,
        converged=found.converged,
    )
