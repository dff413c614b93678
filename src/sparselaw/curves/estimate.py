"""Fits a form to points of curves: a robust estimate, and the covariance of everything that is predicted.

The estimate minimises Huber's function of single residuals, as if each were known to 0.3 %: under a law that
is a little wrong this is better out of sample than weighting by the covariance of the residuals, and it lets
the priors count. Its error does come from that covariance (a sandwich), whose three scales are those of
restricted likelihood under priors.

Residuals of log losses of one run are far from independent. Their covariance has four parts: white noise of
single points; noise of a run with a short memory, in proportion to its rate; a smooth misfit along ln tau
(Matern 3/2), larger early in training and beyond the last tau that was fitted; and a random walk along the
depth of annealing, for the law is wrong about how much annealing brings. Half of the last two is shared by
all runs of a size, half is the run's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.optimize import least_squares, minimize

from sparselaw.arrays import FloatArray
from sparselaw.curves.law import Form, Track, Units

LENGTH = 0.7  # of the smooth misfit, in ln tau
EARLIER, BEYOND = 0.5, 1.5  # growth of the misfit: by tau^-1/2 before the last tau, by 1.5 ln tau after it
FULL_DROP = 0.07  # relative: a usual annealing from the peak to nothing
SHARED, ACROSS = 0.5, 0.25  # of the misfit and the walk: between runs of one size, and of two
OF_SIZE = 2e-3  # misfit of the law over sizes, one number a size, where there are several
MEMORY = 0.08  # of the short noise, in ln tau
SCALES = np.log([5e-4, 0.03, 2e-4]), np.array([1.0, 0.7, 1.0])  # of misfit, walk, short noise: ln, sd
POINT = 3e-3  # of a log loss in the estimate: tempers many correlated points against the priors
STEP = 1e-4  # of the differences that stand for slopes
SCALE_POINTS = 300  # points from which the scales are read; the rest has its say in the estimate
LOWEST = 1e-3  # of the typical loss: where a law that goes below is held


@dataclass(frozen=True, slots=True)
class Places:
    """Where points lie: ln(tau/last), relative depth of annealing, rate over the largest, run, size."""

    log_tau: FloatArray
    depth: FloatArray
    heat: FloatArray
    run: FloatArray
    N: FloatArray

    def growth(self) -> FloatArray:
        """The misfit over its size at the last tau of the fit."""
        u = self.log_tau
        return np.where(u < 0.0, np.exp(-EARLIER * np.minimum(u, 0.0)), 1.0 + BEYOND * np.maximum(u, 0.0))


def places(tracks: Sequence[Track], depth: FloatArray, units: Units) -> Places:
    """``depth`` is how far annealing has lowered the loss, over the loss."""
    return Places(
        np.log(np.concatenate([t.tau for t in tracks]) / units.last),
        depth,
        np.concatenate([t.schedule.rate(t.step) for t in tracks]) / units.rate,
        np.concatenate([np.full(t.step.size, float(t.run)) for t in tracks]),
        np.concatenate([np.full(t.step.size, t.N) for t in tracks]),
    )


def covariance(one: Places, two: Places, several_sizes: bool) -> FloatArray:
    """Of two lists of places: (4, points, points) parts that ``scaled`` adds up.

    Of the misfit, the walk, the short noise and of sizes, without the white noise, which is no covariance of
    two points.
    """
    apart = np.abs(one.log_tau[:, None] - two.log_tau[None, :]) / LENGTH
    run = one.run[:, None] == two.run[None, :]
    size = one.N[:, None] == two.N[None, :]
    share = ACROSS + (SHARED - ACROSS) * size + (1.0 - SHARED) * run
    smooth = share * (1.0 + apart) * np.exp(-apart) * one.growth()[:, None] * two.growth()[None, :]
    walk = share * FULL_DROP * np.minimum(one.depth[:, None], two.depth[None, :])
    short = run * one.heat[:, None] * two.heat[None, :] * np.exp(-apart * (LENGTH / MEMORY))
    return np.stack([smooth, walk, short, OF_SIZE**2 * several_sizes * size])


def scaled(parts: FloatArray, scales: FloatArray) -> FloatArray:
    """``scales``: of the misfit, of the walk and of the short noise."""
    return np.asarray(np.tensordot(np.append(scales**2, 1.0), parts, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A fitted form, and what prediction needs: read ``predict``."""

    form: Form
    units: Units
    theta: FloatArray
    covariance: FloatArray  # of theta
    scales: FloatArray  # of the smooth misfit, the walk and the short memory
    residual: FloatArray  # ln of the measured over the fitted loss
    where: Places
    several_sizes: bool
    converged: bool
    slopes: FloatArray  # of the fitted log losses in theta
    answer: FloatArray  # of theta to the residuals
    of_prior: FloatArray  # covariance of theta that the priors leave
    factor: tuple[FloatArray, bool]  # Cholesky's, of the covariance of the residuals
    residual_covariance: FloatArray

    def at(self, tracks: Sequence[Track]) -> tuple[FloatArray, Places]:
        """Losses of the law at the points, and where they lie for the covariance of residuals."""
        return law_at(self.form, self.theta, tracks, self.units)

    def predict(
        self, tracks: Sequence[Track], own: Sequence[bool], wider: float = 1.0
    ) -> tuple[FloatArray, FloatArray]:
        """Mean and covariance of log losses at all points of the tracks, without the noise of single points.

        The residuals of the fit are carried along as far as they are shared. Where ``own`` holds, a track
        continues the fitted run of its number, and its error is ``wider`` times that of the residuals,
        beside what the priors leave open.
        """
        loss, where = self.at(tracks)
        slopes = slopes_at(self.form, self.theta, tracks, self.units)
        prior = scaled(covariance(where, where, self.several_sizes), self.scales)
        known = scaled(covariance(where, self.where, self.several_sizes), self.scales)
        kriged = cho_solve(self.factor, known.T).T
        free = slopes - kriged @ self.slopes
        weight = kriged + free @ self.answer  # of the residuals of the fit in what is predicted
        cross = weight @ known.T
        of_residuals = prior - cross - cross.T + weight @ self.residual_covariance @ weight.T
        counts = [t.step.size for t in tracks]
        scale = np.repeat(np.where(own, wider, 1.0), counts)
        cov = of_residuals * np.outer(scale, scale) + free @ self.of_prior @ free.T
        return np.log(loss) + kriged @ self.residual, cov


def estimate(
    form: Form, tracks: Sequence[Track], log_loss: FloatArray, white: FloatArray, units: Units
) -> Estimate:
    """Fit ``form`` to measured log losses at the points of ``tracks``; ``white`` is the noise of each."""
    centre, width = form.priors(units)
    tight = 1.0 / width
    early = law_at(form, centre, tracks, units)[1].growth()
    known = np.hypot(POINT * early, white)  # early points are trusted less

    def residual(theta: FloatArray) -> FloatArray:
        loss = losses_at(form, theta, tracks, units)
        return np.concatenate([(np.log(loss) - log_loss) / known, (theta - centre) * tight])

    def slope(theta: FloatArray) -> FloatArray:
        return np.vstack([slopes_at(form, theta, tracks, units) / known[:, None], np.diag(tight)])

    found = least_squares(
        residual, centre, slope, loss="huber", x_scale=width, max_nfev=100, xtol=1e-5, ftol=1e-6
    )
    theta = found.x
    loss, where = law_at(form, theta, tracks, units)
    slopes = slopes_at(form, theta, tracks, units)
    left = log_loss - np.log(loss)
    several = np.unique(where.N).size > 1
    among = covariance(where, where, several)
    scales = _scales(among, white, left + slopes @ (theta - centre), slopes * width)
    K = scaled(among, scales)
    K[np.diag_indices_from(K)] += white**2
    inner = np.linalg.inv((slopes.T / known**2) @ slopes + np.diag(tight**2))
    answer = inner @ slopes.T / known**2
    pull = inner * tight**2
    of_prior = (pull * width**2) @ pull.T
    return Estimate(
        form=form, units=units, theta=theta, covariance=answer @ K @ answer.T + of_prior, scales=scales,
        residual=left, where=where, several_sizes=several, converged=found.status > 0,
        slopes=slopes, answer=answer, of_prior=of_prior, factor=cho_factor(K, lower=True),
        residual_covariance=K,
    )  # fmt: skip


def _scales(among: FloatArray, white: FloatArray, left: FloatArray, spanned: FloatArray) -> FloatArray:
    """The most likely scales of the residuals, parameters integrated out of the linearised law."""
    rows = np.arange(left.size)
    if left.size > SCALE_POINTS:  # evenly among the points
        rows = np.unique(np.linspace(0, left.size - 1, SCALE_POINTS).astype(int))
    part = among[:, rows[:, None], rows]
    floor = spanned[rows] @ spanned[rows].T + np.diag(white[rows] ** 2)
    centre, width = SCALES
    start = centre.copy()  # neighbours that differ are noise of short memory, and no misfit to begin with
    start[2] = max(start[2], np.log(np.median(np.abs(np.diff(left))) + 1e-12))

    def deviance(ln: FloatArray) -> float:
        try:
            lower = np.linalg.cholesky(scaled(part, np.exp(ln)) + floor)
        except np.linalg.LinAlgError:
            return 1e9
        z = solve_triangular(lower, left[rows], lower=True, check_finite=False)
        return float(z @ z + 2.0 * np.log(np.diag(lower)).sum() + np.sum(((ln - centre) / width) ** 2))

    found = minimize(
        deviance, start, method="Nelder-Mead", options={"maxiter": 120, "xatol": 0.03, "fatol": 0.05}
    )
    return np.asarray(np.exp(found.x))


def losses_at(form: Form, theta: FloatArray, tracks: Sequence[Track], units: Units) -> FloatArray:
    parts = [form.parts(theta, t, units)[0] for t in tracks]
    return np.maximum(np.concatenate(parts), LOWEST * units.loss)


def law_at(form: Form, theta: FloatArray, tracks: Sequence[Track], units: Units) -> tuple[FloatArray, Places]:
    """Losses at the points, and where they lie for the covariance of residuals."""
    loss = losses_at(form, theta, tracks, units)
    depth = np.concatenate([form.parts(theta, t, units)[1] for t in tracks]) / loss
    return loss, places(tracks, depth, units)


def slopes_at(form: Form, theta: FloatArray, tracks: Sequence[Track], units: Units) -> FloatArray:
    """Of the log losses in each parameter, by differences."""
    loss = losses_at(form, theta, tracks, units)
    moved = [losses_at(form, theta + STEP * unit, tracks, units) / loss for unit in np.eye(theta.size)]
    return np.asarray(np.log(np.array(moved).T) / STEP)
