r"""The coupled law in logarithms, with its exact slopes and its prior.

With x = (ln N, ln D) minus its mean over the runs and theta = (ln E, a, b, ln alpha, ln beta, ln g),

    u = a - alpha x_N,   v = b - beta x_D,   m = g ln(e^(u/g) + e^(v/g)),   ln L = ln(E + e^m).

a = ln A - alpha * (mean ln N), and b likewise: a change of variables of unit determinant, so a flat prior on
ln A and ln B is flat on a and b. With p the share of N's term in the bracket, q = 1 - p, and s = e^m / L:

    d ln L / d theta = (1 - s, s p, s q, -s p alpha x_N, -s q beta x_D, s g h),   h = -p ln p - q ln q.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.forecasting.settings import Settings

NAMES = ("E", "A", "B", "alpha", "beta", "g")
FLAT = 10.0  # a and b: so wide that it moves nothing, but a term that is not there keeps a finite place


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """A normal prior on theta. ``root`` whitens: root (theta - centre) has unit covariance; zero is flat."""

    centre: FloatArray  # (p,)
    root: FloatArray  # (p, p)

    def scores(self, theta: FloatArray) -> FloatArray:
        return np.asarray(self.root @ (theta - self.centre))


def centre_and_sd(loss: FloatArray, settings: Settings) -> tuple[FloatArray, FloatArray]:
    """What real runs have had, for theta: centres and standard deviations. A and B are free."""
    middle = float(np.log(0.5 * np.median(loss)))
    floor, exponent, coupling = settings.floor, settings.exponent, settings.coupling
    centres = np.log([floor[0] * loss.min(), exponent[0], exponent[0], coupling[0]])
    sd = np.array([floor[1], FLAT, FLAT, exponent[1], exponent[1], coupling[1]])
    return np.concatenate([centres[:1], [middle, middle], centres[1:]]), sd


def prior_of(loss: FloatArray, settings: Settings) -> Prior:
    """For the runs of one recipe."""
    centre, sd = centre_and_sd(loss, settings)
    return Prior(centre=centre, root=np.diag(1.0 / sd))


def log_loss(theta: FloatArray, x: FloatArray) -> FloatArray:
    """(rows,) at centred x (rows, 2)."""
    return value_and_slopes(theta, x)[0]


def value_and_slopes(theta: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """ln L (rows,) and d ln L / d theta (rows, 6); infinite or nan where numbers do not reach."""
    log_E, a, b = theta[:3]
    with np.errstate(all="ignore"):
        alpha, beta, g = np.exp(theta[3:])
        fall_N, fall_D = alpha * x[:, 0], beta * x[:, 1]
        u, v = a - fall_N, b - fall_D
        p, q = (1.0 / (1.0 + np.exp(w)) for w in ((v - u) / g, (u - v) / g))
        term = np.maximum(u, v) + g * np.log1p(np.exp(-np.abs(u - v) / g))
        value = np.logaddexp(log_E, term)
        s = np.exp(term - value)
        mixing = -sum(np.where(share > 0.0, share * np.log(share), 0.0) for share in (p, q))
        slopes = np.column_stack(
            [np.exp(log_E - value), s * p, s * q, -s * p * fall_N, -s * q * fall_D, s * g * mixing]
        )
    return value, slopes


def log_parameters(theta: FloatArray, centre: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The logarithms of E, A, B, alpha, beta, g, and their slopes (6, 6) in theta."""
    alpha, beta = np.exp(theta[3:5])
    logs, slopes = theta.copy(), np.eye(6)
    logs[1] += alpha * centre[0]
    logs[2] += beta * centre[1]
    slopes[1, 3], slopes[2, 4] = alpha * centre[0], beta * centre[1]
    return logs, slopes
