r"""One component of the posterior: the law and its discrepancy at one size of the wiggles and of the drift.

    ln L_i = ln law_theta(x_i) + h(x_i) + d(x_i) + e_i,
    cov(h + d) = c(x, x') = tau^2 Matern + (k s0)^2 drift,

and between two recipes c is multiplied by rho. With K = c + noise, r = y - ln law_theta(x) and J the slopes
of ln law in theta,

    F = r^T K^-1 r + prior(theta), smallest at theta;    H = J^T K^-1 J + prior precision.

Everything around that minimum is Gaussian. At points x, with k(x) their covariances with the rows and
G(x) = J(x) - J^T K^-1 k(x),

    mean(x) = ln law(x) + k(x)^T K^-1 r,
    cov(x, x') = [c(x, x') - k(x)^T K^-1 k(x')] + G(x)^T H^-1 G(x'):

what is left of the discrepancy, and what is not known of the law. The inverse of the Cholesky factor C of K
whitens: there are a few hundred rows, and C^-1 is used hundreds of times.

**Covariances** between points x = (ln N, ln D). Wiggles: Matern 3/2, (1 + z) e^-z with z = sqrt(3) |x - x'| /
length. Drift: integrated Brownian motion away from the frontier, in ln N, in ln D and in ln ND, each measured
from there. Pinned at the frontier to value 0 and slope 0, and independent on either side,

    W(s, t) = a^3/3 + a^2 b/2 where s t > 0, else 0;   a = min(|s|, |t|), b = ||s| - |t||,
    W(s, s) = |s|^3 / 3.

Its slope is a Brownian motion: exponents wander, the further from the frontier the more. Small runs stray
from a law more than large ones (the start of training, embeddings that are counted), so a distance behind the
frontier counts 1.5 times: what the runs show of their drift is not expected in full of what lies ahead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.forecasting.coupled_model import Prior, marquardt, value_and_slopes
from sparselaw.forecasting.settings import Settings

PARAMETERS = 6
BLOCK_ROWS = 48  # rows of a triangle that is inverted in one piece


class Rows(NamedTuple):
    """What is known: centred log sizes, log losses, which recipe each row is of."""

    x: FloatArray  # (n, 2)
    y: FloatArray  # (n,)
    recipe: IntArray  # (n,)


class Moments(NamedTuple):
    """One component at some points."""

    mean: FloatArray  # (points,)
    law_slopes: FloatArray  # J(x): (points, parameters)
    slopes: FloatArray  # G(x): (points, parameters)
    near: FloatArray  # C^-1 k(x): (rows, points)


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """At one tau, k and rho. ``log_evidence`` is Laplace's, but for a constant of the rows."""

    tau: float
    k: float
    rho: float
    noise: FloatArray  # (recipes,): standard deviation of a run's own part
    theta: FloatArray  # (p,): six parameters for each recipe
    covariance: FloatArray  # H^-1 (p, p)
    whitening: FloatArray  # C^-1 (n, n), lower
    whitened: FloatArray  # C^-1 r (n,)
    slopes: FloatArray  # C^-1 J (n, p)
    log_evidence: float
    converged: bool

    def moments(self, x: FloatArray, recipe: IntArray, between: FloatArray) -> Moments:
        """At centred x (points, 2); ``between`` (rows, points) are the covariances with the rows."""
        value, J = law_of_recipes(self.theta, x, recipe)
        near = self.whitening @ between
        return Moments(value + near.T @ self.whitened, J, J - near.T @ self.slopes, near)

    def pulls(self, found: Moments) -> FloatArray:
        """(points, n): by how much each row moves the mean, against the forecast without it.

        The mean is linear in y with weights w = K^-1 (k + J H^-1 G), and leaving out a row is putting it
        where the others expect it.
        """
        weights = self.whitening.T @ (found.near + self.slopes @ (self.covariance @ found.slopes.T))
        return np.asarray(weights.T * self.left_out_residuals())

    def left_out_residuals(self) -> FloatArray:
        """(n,): each row minus what the others expect of it, (Q y)_i / Q_ii, the law taken as linear.

        Q = K^-1 - K^-1 J H^-1 J^T K^-1 is the inverse of the rows' covariance once theta is integrated out;
        at the minimum of F, Q y about the prior is K^-1 r.
        """
        inverse = np.sum(self.whitening**2, axis=0)  # the diagonal of K^-1 = C^-T C^-1
        through = self.whitening.T @ self.slopes  # K^-1 J
        precision = inverse - np.einsum("ij,jk,ik->i", through, self.covariance, through)
        return np.asarray((self.whitening.T @ self.whitened) / np.maximum(precision, 1e-300))


def law_of_recipes(theta: FloatArray, x: FloatArray, recipe: IntArray) -> tuple[FloatArray, FloatArray]:
    """ln law (points,) of each point's recipe, and its slopes (points, p)."""
    if theta.size == PARAMETERS:
        return value_and_slopes(theta, x)
    value, slopes = np.empty(len(x)), np.zeros((len(x), theta.size))
    for r in range(theta.size // PARAMETERS):
        own, at = slice(PARAMETERS * r, PARAMETERS * (r + 1)), np.flatnonzero(recipe == r)
        value[at], slopes[at, own] = value_and_slopes(theta[own], x[at])
    return value, slopes


def component(
    rows: Rows,
    prior: Prior,
    covariance: FloatArray,
    start: FloatArray,
    *,
    tau: float,
    k: float,
    rho: float,
    noise: FloatArray,
) -> Component:
    """The smallest F from ``start``; ``covariance`` (n, n) is K."""
    root = np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
    whitening = inverse_of_lower(root)

    def residuals(theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        law, J = law_of_recipes(theta, rows.x, rows.recipe)
        with np.errstate(all="ignore"):
            white = whitening @ np.column_stack([rows.y - law, -J])
        z = np.concatenate([white[:, 0], prior.scores(theta)])
        return z, np.vstack([white[:, 1:], prior.root])

    found = marquardt(residuals, start)
    z, slopes = residuals(found.theta)
    n = rows.y.size
    curvature = slopes.T @ slopes  # H
    log_H = float(np.linalg.slogdet(curvature)[1])
    log_K = 2.0 * float(np.sum(np.log(np.diag(root))))
    known = np.diag(prior.root)[np.diag(prior.root) > 0.0]  # a flat direction counts for nothing
    return Component(
        tau=tau,
        k=k,
        rho=rho,
        noise=noise,
        theta=found.theta,
        covariance=np.asarray(np.linalg.inv(curvature), dtype=np.float64),
        whitening=whitening,
        whitened=z[:n],
        slopes=-slopes[:n],
        log_evidence=-0.5 * (found.value + log_K + log_H) + float(np.sum(np.log(known))),
        converged=found.converged,
    )


def inverse_of_lower(triangle: FloatArray) -> FloatArray:
    """By halves: of [[A, 0], [B, C]] it is [[A^-1, 0], [-C^-1 B A^-1, C^-1]].

    >>> inverse_of_lower(np.array([[2.0, 0.0], [1.0, 4.0]]))
    array([[ 0.5  ,  0.   ],
           [-0.125,  0.25 ]])
    """
    n = len(triangle)
    if n <= BLOCK_ROWS:
        return np.asarray(np.tril(np.linalg.inv(triangle)))
    half = n // 2
    found = np.zeros_like(triangle)
    found[:half, :half] = inverse_of_lower(triangle[:half, :half])
    found[half:, half:] = inverse_of_lower(triangle[half:, half:])
    found[half:, :half] = -found[half:, half:] @ triangle[half:, :half] @ found[:half, :half]
    return found


def matern(x: FloatArray, other: FloatArray, length: float) -> FloatArray:
    """(rows of x, rows of other).

    >>> matern(np.zeros((1, 2)), np.zeros((1, 2)), 4.0)
    array([[1.]])
    """
    apart = x[:, None, :] - other[None, :, :]
    z = np.sqrt(3.0) / length * np.sqrt(np.einsum("ijk,ijk->ij", apart, apart))
    return np.asarray((1.0 + z) * np.exp(-z))


def integrated_brownian(s: FloatArray, t: FloatArray) -> FloatArray:
    """W(s, t): (len(s), len(t)).

    >>> integrated_brownian(np.array([3.0, -3.0]), np.array([1.0]))
    array([[1.33333333],
           [0.        ]])
    """
    s, t = s[:, None], t[None, :]
    near, far = np.minimum(np.abs(s), np.abs(t)), np.maximum(np.abs(s), np.abs(t))
    return np.asarray(np.where(s * t > 0.0, near**2 * (3.0 * far - near) / 6.0, 0.0))


def distances(x: FloatArray, settings: Settings) -> FloatArray:
    """(points, 3): in ln N, ln D and ln ND from the frontier; those behind it are stretched."""
    each = np.column_stack([x, x.sum(axis=1)])
    return np.where(each < 0.0, settings.drift_behind * each, each)


def drift(x: FloatArray, other: FloatArray, settings: Settings) -> FloatArray:
    """For k s0 = 1; ``x`` and ``other`` measured from the frontier."""
    s, t = distances(x, settings), distances(other, settings)
    each = [integrated_brownian(s[:, i], t[:, i]) for i in range(3)]
    return np.asarray(
        settings.drift_of_sizes**2 * (each[0] + each[1]) + settings.drift_of_compute**2 * each[2]
    )


def drift_variance(x: FloatArray, settings: Settings) -> FloatArray:
    """The diagonal of ``drift(x, x)``."""
    each = np.abs(distances(x, settings)) ** 3 / 3.0
    sizes = np.array([settings.drift_of_sizes, settings.drift_of_sizes, settings.drift_of_compute])
    return np.asarray(each @ sizes**2)
