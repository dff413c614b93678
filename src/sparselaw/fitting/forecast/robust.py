"""The law alone, robustly: where the process starts from, and how noisy the rows are.

From nine starts, the smallest sum of Huber's function at 1.345 s of the residuals plus the prior, with the
scale s = 1.26 mean|r| sqrt(n / (n - 6)) of its own residuals (1.26 mean|r| is the standard deviation of
normal ones). Noise of the process: sigma = max(0.001, 0.7 s), the rest being left to the discrepancy; a row
with |r| > 2 s has sigma |r| / (2 s).
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.fitting.forecast.coupled_model import Prior, value_and_slopes
from sparselaw.fitting.forecast.marquardt import Found, Residuals, marquardt

HUBER, OUTLYING = 1.345, 2.0
LEAST_NOISE, NOISE_SHARE = 0.001, 0.7
FLOOR_SHARES, EXPONENTS = (0.35, 0.65, 0.9), (0.15, 0.3, 0.6)
FOLLOWED = 3  # of the nine starts, after one round
ROUNDS, LAST_ROUNDS, INNER_STEPS = 4, 30, 6


class LawAlone(NamedTuple):
    theta: FloatArray
    scale: float  # s
    noise: float  # sigma of a run like the others
    row_noise: FloatArray  # (rows,)
    converged: bool


def law_alone(x: FloatArray, y: FloatArray, weight: FloatArray, prior: Prior) -> LawAlone:
    """``x`` (rows, 2) centred log sizes, ``y`` log losses, ``weight`` relative standard errors (ones)."""

    def merit(found: Found) -> float:
        return _merit(found, x, y, weight, prior)

    tried = sorted((_rounds(start, 1, x, y, weight, prior) for start in starts(y, prior)), key=merit)
    best = min((_rounds(one.theta, ROUNDS, x, y, weight, prior) for one in tried[:FOLLOWED]), key=merit)
    found = _rounds(best.theta, LAST_ROUNDS, x, y, weight, prior)
    r = (y - value_and_slopes(found.theta, x)[0]) / weight
    s = scale_of(r)
    noise = max(LEAST_NOISE, NOISE_SHARE * s)
    outlying = np.maximum(1.0, np.abs(r) / (OUTLYING * s)) if s > 0.0 else np.ones(r.size)
    return LawAlone(found.theta, s, noise, noise * weight * outlying, found.converged)


def starts(y: FloatArray, prior: Prior) -> list[FloatArray]:
    """Three floors by three exponents; both terms equal in the middle, where the law meets the median."""
    lowest, middle, g = np.exp(y.min()), np.exp(np.median(y)), np.exp(prior.centre[5])
    found = []
    for share, exponent in itertools.product(FLOOR_SHARES, EXPONENTS):
        E = share * lowest
        term = np.log(middle - E) - g * np.log(2.0)
        found.append(np.array([np.log(E), term, term, np.log(exponent), np.log(exponent), np.log(g)]))
    return found


def scale_of(r: FloatArray) -> float:
    return float(1.26 * np.mean(np.abs(r)) * np.sqrt(r.size / max(r.size - 6, 1)))


def huber_residuals(s: float, x: FloatArray, y: FloatArray, weight: FloatArray, prior: Prior) -> Residuals:
    """z^2 = 2 rho(r / s): r/s itself within 1.345, the root of a straight line beyond; and the prior's."""

    def residuals(theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        value, slopes = value_and_slopes(theta, x)
        with np.errstate(all="ignore"):
            t = (y - value) / (weight * s)
            size = np.abs(t)
            beyond = size > HUBER
            root = np.sqrt(np.maximum(HUBER * (2.0 * size - HUBER), HUBER**2))
            z = np.where(beyond, np.sign(t) * root, t)
            slope = np.where(beyond, HUBER / root, 1.0)
            of_prior = prior.root_precision * (theta - prior.centre)
            found = -(slope / (weight * s))[:, None] * slopes
        return np.concatenate([z, of_prior]), np.vstack([found, np.diag(prior.root_precision)])

    return residuals


def _rounds(
    theta: FloatArray, rounds: int, x: FloatArray, y: FloatArray, weight: FloatArray, prior: Prior
) -> Found:
    """Scale and law in turn, until the scale stays."""
    found = Found(theta, np.inf, False)
    s = _scale_at(theta, x, y, weight)
    for _ in range(rounds):
        found = marquardt(huber_residuals(s, x, y, weight, prior), found.theta, INNER_STEPS)
        new = _scale_at(found.theta, x, y, weight)
        if abs(new / s - 1.0) < 1e-5:
            return found._replace(converged=True)
        s = new
    return found


def _scale_at(theta: FloatArray, x: FloatArray, y: FloatArray, weight: FloatArray) -> float:
    """Not below a millionth: residuals of exact laws are rounding."""
    return max(scale_of((y - value_and_slopes(theta, x)[0]) / weight), 1e-6)


def _merit(found: Found, x: FloatArray, y: FloatArray, weight: FloatArray, prior: Prior) -> float:
    """n ln s + prior / 2: minus the log likelihood, the scale profiled out."""
    from_prior = prior.root_precision * (found.theta - prior.centre)
    return y.size * float(np.log(_scale_at(found.theta, x, y, weight))) + 0.5 * float(from_prior @ from_prior)
