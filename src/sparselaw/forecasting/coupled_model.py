r"""The coupled law in logarithms, with its exact slopes and its prior; and its robust fit to runs.

With x = (ln N, ln D) minus its mean over the runs and theta = (ln E, a, b, ln alpha, ln beta, ln g),

    u = a - alpha x_N,   v = b - beta x_D,   m = g ln(e^(u/g) + e^(v/g)),   ln L = ln(E + e^m).

a = ln A - alpha * (mean ln N), and b likewise: a change of variables of unit determinant, so a flat prior on
ln A and ln B is flat on a and b. With p the share of N's term in the bracket, q = 1 - p, and s = e^m / L:

    d ln L / d theta = (1 - s, s p, s q, -s p alpha x_N, -s q beta x_D, s g h),   h = -p ln p - q ln q.

The robust fit is where the posterior starts from; it also says how noisy the rows are, and which lie far off.
From nine starts, the smallest sum of Huber's function at 1.345 s of the residuals r plus the prior. The scale
is s = 1.26 mean min(|r|, c m) sqrt(n / (n - 6)), where m = 1.4826 median|r| and c = 8: 1.26 mean|r| is the
standard deviation of normal residuals, and beyond eight scales by the median a residual counts as eight. So a
run that diverged does not make the others look noisy. Nor may the law bend to it: rows whose own loss decides
the law there (leverage above 0.9) are left out once, and the fit with the smaller n ln s + prior / 2 counts.

The noise of the posterior is sigma = max(0.001, c s) with c = 0.7 or 1 by evidence, the rest being the
discrepancy's; a row with |r| > 2 s has sigma |r| / (2 s).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.forecasting.settings import SETTINGS, Settings

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


Residuals = Callable[[FloatArray], tuple[FloatArray, FloatArray]]  # theta -> z (m,), dz/dtheta (m, p)
STEPS, ATTEMPTS = 300, 12
LONGEST = 2.0  # of a step, in any parameter: all are logarithms
DECREMENT_LEFT = 1e-3  # of the decrement: the minimum is nearer than a thirtieth of a standard deviation


class Found(NamedTuple):
    theta: FloatArray
    value: float
    converged: bool


def marquardt(residuals: Residuals, theta: FloatArray, steps: int = STEPS, tolerance: float = 1e-9) -> Found:
    """Stops when the decrement g^T H^-1 g falls below ``tolerance``: what a full step promises to gain.

    z is in units of its standard deviation, so the root of the decrement is the distance from the minimum in
    standard deviations of theta.
    """
    z, slopes = residuals(theta)
    value, damping, decrement = float(z @ z), 1e-3, np.inf
    for _ in range(steps):
        square, gradient = slopes.T @ slopes, slopes.T @ z
        size = np.maximum(np.diag(square), 1e-12 * square.trace())
        decrement = float(gradient @ np.linalg.solve(square + 1e-12 * np.diag(size), gradient))
        if decrement <= tolerance:
            break
        for _attempt in range(ATTEMPTS):
            step = -np.linalg.solve(square + damping * np.diag(size), gradient)
            step *= min(1.0, LONGEST / float(np.abs(step).max(initial=1e-300)))
            new_z, new_slopes = residuals(theta + step)
            with np.errstate(all="ignore"):
                new = float(new_z @ new_z)
            if np.isfinite(new) and np.isfinite(new_slopes).all() and new <= value:
                break
            damping = max(10.0 * damping, 1e-8)
        else:  # nothing nearby is lower: a minimum to rounding, or no minimum
            break
        theta, z, slopes, value = theta + step, new_z, new_slopes, new
        damping *= 0.1
    return Found(theta, value, decrement <= DECREMENT_LEFT)


HUBER, OUTLYING = 1.345, 2.0
OUTLIER_SCALES = 8.0  # scales from the law: a row to be named
FLOOR_SHARES, EXPONENTS = (0.35, 0.65, 0.9), (0.15, 0.3, 0.6)
FOLLOWED = 3  # of the nine starts, after one round
ROUNDS, LAST_ROUNDS, INNER_STEPS = 4, 30, 6
OWN_LEVERAGE = 0.9  # beyond it the law follows a row wherever it lies
ENOUGH = 10  # rows for a law without those


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
        far = np.flatnonzero(sizes > OUTLIER_SCALES * max(self.scale, self.least))
        return np.asarray(far[np.argsort(-sizes[far], kind="stable")])


def law_alone(
    x: FloatArray, y: FloatArray, weight: FloatArray, prior: Prior, settings: Settings = SETTINGS
) -> LawAlone:
    """``x`` (rows, 2) centred log sizes, ``y`` log losses, ``weight`` relative standard errors (ones)."""

    def residuals(theta: FloatArray) -> FloatArray:
        return np.asarray((y - value_and_slopes(theta, x)[0]) / weight)

    def scale(theta: FloatArray) -> float:
        """Not below a millionth: residuals of exact laws are rounding."""
        return max(scale_of(residuals(theta), settings.winsor), 1e-6)

    def merit(found: Found) -> float:
        """n ln s + prior / 2: minus the log likelihood, the scale profiled out."""
        scores = prior.scores(found.theta)
        return y.size * float(np.log(scale(found.theta))) + 0.5 * float(scores @ scores)

    def huber(theta: FloatArray, s: float) -> tuple[FloatArray, FloatArray]:
        """z^2 = 2 rho(r / s): r/s itself within 1.345, beyond it the root of a line; and the prior's."""
        value, slopes = value_and_slopes(theta, x)
        with np.errstate(all="ignore"):
            t = (y - value) / (weight * s)
            size = np.abs(t)
            beyond = size > HUBER
            root = np.sqrt(np.maximum(HUBER * (2.0 * size - HUBER), HUBER**2))
            z = np.where(beyond, np.sign(t) * root, t)
            slope = np.where(beyond, HUBER / root, 1.0)
            found = -(slope / (weight * s))[:, None] * slopes
        return np.concatenate([z, prior.scores(theta)]), np.vstack([found, prior.root])

    def fitted(theta: FloatArray, rounds: int) -> Found:
        """Scale and law in turn, until the scale stays."""
        found = Found(theta, np.inf, False)
        s = scale(theta)
        for _ in range(rounds):
            found = marquardt(partial(huber, s=s), found.theta, INNER_STEPS)
            new = scale(found.theta)
            if abs(new / s - 1.0) < 1e-5:
                return found._replace(converged=True)
            s = new
        return found

    def leverage(theta: FloatArray) -> FloatArray:
        """(rows,): by how much a row's own loss moves the law there."""
        slopes = value_and_slopes(theta, x)[1] / (weight * scale(theta))[:, None]
        left = np.linalg.inv(slopes.T @ slopes + prior.root.T @ prior.root)
        return np.asarray(np.einsum("ij,jk,ik->i", slopes, left, slopes))

    # Three floors by three exponents; both terms equal in the middle, where the law meets the median.
    lowest, middle, g = np.exp(y.min()), np.exp(np.median(y)), np.exp(prior.centre[5])
    tried = []
    for share, exponent in itertools.product(FLOOR_SHARES, EXPONENTS):
        term = np.log(middle - share * lowest) - g * np.log(2.0)
        start = [np.log(share * lowest), term, term, np.log(exponent), np.log(exponent), np.log(g)]
        tried.append(fitted(np.array(start), 1))
    best = min((fitted(one.theta, ROUNDS) for one in sorted(tried, key=merit)[:FOLLOWED]), key=merit)
    found = fitted(best.theta, LAST_ROUNDS)
    others = leverage(found.theta) < OWN_LEVERAGE
    if ENOUGH <= np.sum(others) < y.size:  # the law may have bent to a run that diverged
        without = law_alone(x[others], y[others], weight[others], prior, settings)
        found = min(found, Found(without.theta, np.inf, without.converged), key=merit)
    r = residuals(found.theta)
    s = scale_of(r, settings.winsor)
    outlying = np.maximum(1.0, np.abs(r) / (OUTLYING * s)) if s > 0.0 else np.ones(r.size)
    return LawAlone(found.theta, s, settings.least_noise, weight * outlying, r * weight, found.converged)


def scale_of(r: FloatArray, winsor: float = SETTINGS.winsor) -> float:
    """The standard deviation of normal residuals, whatever a few wild ones are.

    >>> calm = np.linspace(-1.0, 1.0, 101)
    >>> wild = scale_of(np.append(calm, 1e6))
    >>> bool(1.0 < wild / scale_of(calm) < 1.2)
    True
    """
    size = np.abs(r)
    most = winsor * 1.4826 * float(np.median(size)) if np.isfinite(winsor) else np.inf
    used = np.minimum(size, most) if most > 0.0 else size
    return float(1.26 * np.mean(used) * np.sqrt(r.size / max(r.size - 6, 1)))
