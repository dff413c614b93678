"""The law alone, robustly: where the posterior starts from, how noisy the rows are, and which lie far off.

From nine starts, the smallest sum of Huber's function at 1.345 s of the residuals r plus the prior. The scale
is s = 1.26 mean min(|r|, c m) sqrt(n / (n - 6)), where m = 1.4826 median|r| and c = 4: 1.26 mean|r| is the
standard deviation of normal residuals, and beyond four scales by the median a residual counts as four. So a
run that diverged does not make the others look noisy. The noise of the posterior is sigma = max(0.001, c s)
with c = 0.7 or 1 by evidence, the rest being the discrepancy's; a row with |r| > 2 s has sigma |r| / (2 s).
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.forecasting.coupled_model import Prior, value_and_slopes
from sparselaw.forecasting.marquardt import Found, Residuals, marquardt
from sparselaw.forecasting.settings import SETTINGS, Settings

HUBER, OUTLYING = 1.345, 2.0
FAR = 8.0  # scales from the law: a row to be named
FLOOR_SHARES, EXPONENTS = (0.35, 0.65, 0.9), (0.15, 0.3, 0.6)
FOLLOWED = 3  # of the nine starts, after one round
ROUNDS, LAST_ROUNDS, INNER_STEPS = 4, 30, 6


class LawAlone(NamedTuple):
    theta: FloatArray
    scale: float  # s
    least: float  # noise
    relative: FloatArray  # (rows,): noise of each over that of a run like the others
    residuals: FloatArray  # (rows,): log loss minus the law's
    converged: bool

    def noise(self, share: float) -> float:
        """Standard deviation of a run's own part, where it is this share of the residuals' scale."""
        return max(self.least, share * self.scale)

    def far_off(self) -> IntArray:
        """The rows that lie so far from the law that they hardly count, the furthest first."""
        sizes = np.abs(self.residuals)
        far = np.flatnonzero(sizes > FAR * max(self.scale, self.least))
        return np.asarray(far[np.argsort(-sizes[far], kind="stable")])


class _Fit(NamedTuple):
    """What is fitted: centred log sizes, log losses, relative standard errors, prior, settings."""

    x: FloatArray
    y: FloatArray
    weight: FloatArray
    prior: Prior
    settings: Settings

    def residuals(self, theta: FloatArray) -> FloatArray:
        return np.asarray((self.y - value_and_slopes(theta, self.x)[0]) / self.weight)

    def scale(self, theta: FloatArray) -> float:
        """Not below a millionth: residuals of exact laws are rounding."""
        return max(scale_of(self.residuals(theta), self.settings.winsor), 1e-6)

    def merit(self, found: Found) -> float:
        """n ln s + prior / 2: minus the log likelihood, the scale profiled out."""
        scores = self.prior.scores(found.theta)
        return self.y.size * float(np.log(self.scale(found.theta))) + 0.5 * float(scores @ scores)


def law_alone(
    x: FloatArray, y: FloatArray, weight: FloatArray, prior: Prior, settings: Settings = SETTINGS
) -> LawAlone:
    """``x`` (rows, 2) centred log sizes, ``y`` log losses, ``weight`` relative standard errors (ones)."""
    fit = _Fit(x, y, weight, prior, settings)
    tried = sorted((_rounds(start, 1, fit) for start in starts(y, prior)), key=fit.merit)
    best = min((_rounds(one.theta, ROUNDS, fit) for one in tried[:FOLLOWED]), key=fit.merit)
    found = _rounds(best.theta, LAST_ROUNDS, fit)
    r = fit.residuals(found.theta)
    s = scale_of(r, settings.winsor)
    outlying = np.maximum(1.0, np.abs(r) / (OUTLYING * s)) if s > 0.0 else np.ones(r.size)
    return LawAlone(found.theta, s, settings.least_noise, weight * outlying, r * weight, found.converged)


def starts(y: FloatArray, prior: Prior) -> list[FloatArray]:
    """Three floors by three exponents; both terms equal in the middle, where the law meets the median."""
    lowest, middle, g = np.exp(y.min()), np.exp(np.median(y)), np.exp(prior.centre[5])
    found = []
    for share, exponent in itertools.product(FLOOR_SHARES, EXPONENTS):
        E = share * lowest
        term = np.log(middle - E) - g * np.log(2.0)
        found.append(np.array([np.log(E), term, term, np.log(exponent), np.log(exponent), np.log(g)]))
    return found


def scale_of(r: FloatArray, winsor: float = SETTINGS.winsor) -> float:
    """The standard deviation of normal residuals, whatever a few wild ones are.

    >>> calm = np.linspace(-1.0, 1.0, 101)
    >>> wild = scale_of(np.append(calm, 1e6))
    >>> bool(1.0 < wild / scale_of(calm) < 1.1)
    True
    """
    size = np.abs(r)
    most = winsor * 1.4826 * float(np.median(size)) if np.isfinite(winsor) else np.inf
    used = np.minimum(size, most) if most > 0.0 else size
    return float(1.26 * np.mean(used) * np.sqrt(r.size / max(r.size - 6, 1)))


def huber_residuals(s: float, fit: _Fit) -> Residuals:
    """z^2 = 2 rho(r / s): r/s itself within 1.345, the root of a straight line beyond; and the prior's."""

    def residuals(theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        value, slopes = value_and_slopes(theta, fit.x)
        with np.errstate(all="ignore"):
            t = (fit.y - value) / (fit.weight * s)
            size = np.abs(t)
            beyond = size > HUBER
            root = np.sqrt(np.maximum(HUBER * (2.0 * size - HUBER), HUBER**2))
            z = np.where(beyond, np.sign(t) * root, t)
            slope = np.where(beyond, HUBER / root, 1.0)
            found = -(slope / (fit.weight * s))[:, None] * slopes
        return np.concatenate([z, fit.prior.scores(theta)]), np.vstack([found, fit.prior.root])

    return residuals


def _rounds(theta: FloatArray, rounds: int, fit: _Fit) -> Found:
    """Scale and law in turn, until the scale stays."""
    found = Found(theta, np.inf, False)
    s = fit.scale(theta)
    for _ in range(rounds):
        found = marquardt(huber_residuals(s, fit), found.theta, INNER_STEPS)
        new = fit.scale(found.theta)
        if abs(new / s - 1.0) < 1e-5:
            return found._replace(converged=True)
        s = new
    return found
