"""The minimiser of kernel.py for any smooth formula: the same objective and steps, many fits side by side.

With z = (y - eta(theta)) / s, J the gradient and V the Hessian of eta:

    grad f = -sum_i w_i rho'(z_i) J_i / s_i,
    hess f =  sum_i w_i (rho''(z_i) J_i J_i^T / s_i^2 - rho'(z_i) V_i / s_i).

Every fit of a bootstrap has its own weights, delta and damping, and one array operation serves them all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.compiled import njit
from sparselaw.fitting import kernel
from sparselaw.fitting.design import End
from sparselaw.fitting.formula_slopes import Slopes

jit: Any = njit(nogil=True, error_model="numpy")
MOST_ATTEMPTS = 60


class Problem(NamedTuple):
    """Fits side by side; y and the weights have a row for each, or one row for all."""

    log_losses: Callable[[FloatArray], FloatArray]  # eta: (fits, p) -> (fits, rows)
    slopes: Callable[[FloatArray], Slopes]
    y: FloatArray
    inverse_scale: FloatArray
    weights: FloatArray
    lower: FloatArray
    upper: FloatArray

    def of(self, fits: IntArray) -> Problem:
        """Some of them."""
        y, w = (a[fits] if len(a) > 1 else a for a in (self.y, self.weights))
        return self._replace(y=y, weights=w)


class Ends(NamedTuple):
    """Where the searches ended, one row or entry for each."""

    theta: FloatArray
    value: FloatArray
    norm: FloatArray
    converged: Any

    def one(self, fit: int) -> End:
        return End(self.theta[fit], float(self.value[fit]), float(self.norm[fit]), bool(self.converged[fit]))


def minimise(starts: FloatArray, problem: Problem, delta: float) -> Ends:
    """Newton in stages: delta falls from the typical residual at the start to the one asked for."""
    theta = np.clip(starts, problem.lower, problem.upper)
    every = np.arange(len(theta))
    if delta < np.inf:
        size = np.where(problem.weights != 0.0, np.abs(_z(theta, problem)), np.nan)
        stage = np.nanmedian(size, axis=1)
        while True:
            going = every[np.isfinite(stage) & (stage > delta * kernel.DELTA_STEP)]
            if not going.size:
                break
            ends = newton(theta[going], problem.of(going), stage[going], kernel.STAGE_TOLERANCE)
            theta[going] = ends.theta
            stage[going] /= kernel.DELTA_STEP
    return newton(theta, problem, np.full(len(theta), delta), kernel.TOLERANCE)


def newton(theta: FloatArray, problem: Problem, delta: FloatArray, tolerance: float) -> Ends:
    """Newton's method with Levenberg's damping inside the box; see kernel.newton."""
    theta = theta.copy()
    fits = len(theta)
    weight = np.maximum(np.broadcast_to(problem.weights.sum(axis=1), (fits,)), 1e-300)
    damping = np.where(np.isinf(delta), 1e-3, 1e-3 / delta)
    norm, f = np.full(fits, np.inf), np.full(fits, np.inf)
    going = np.arange(fits)
    for _ in range(kernel.MOST_STEPS):
        part = problem.of(going)
        here = theta[going]
        f[going], gradient, hessian, size = _derivatives(here, part, delta[going])
        size = np.maximum(size, 1e-12 * weight[going, None])
        free = ~(((here <= part.lower) & (gradient >= 0.0)) | ((here >= part.upper) & (gradient <= 0.0)))
        norm[going] = np.sqrt(np.sum(np.where(free, gradient, 0.0) ** 2, axis=1)) / weight[going]
        wanted = np.isfinite(norm[going]) & (norm[going] > tolerance)
        moved = np.zeros(going.size, bool)
        trying = np.flatnonzero(wanted)
        for _attempt in range(MOST_ATTEMPTS):
            if not trying.size:
                break
            fit = going[trying]
            step, solved = damped_steps(
                hessian[trying], gradient[trying], size[trying], damping[fit], free[trying]
            )
            trial = np.clip(theta[fit] + step, part.lower, part.upper)
            step = trial - theta[fit]
            predicted = -np.sum(gradient[trying] * step, axis=1)
            predicted -= 0.5 * np.einsum("ta,tab,tb->t", step, hessian[trying], step)
            found = np.where(solved, _values(trial, part.of(trying), delta[fit]), np.inf)
            better = found < f[fit]
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.where(predicted > 0.0, (f[fit] - found) / predicted, 0.0)
            gain = np.where(ratio > 0.75, 0.1, np.where(ratio < 0.25, 3.0, 1.0))
            damping[fit] = np.where(better, damping[fit] * gain, np.maximum(damping[fit], 1e-12) * 5.0)
            theta[fit[better]] = trial[better]
            moved[trying[better]] = True
            trying = trying[~better & (damping[fit] <= 1e30)]
        going = going[wanted & moved]
        if not going.size:
            break
    return Ends(theta, f, norm, norm <= max(tolerance, kernel.ROUNDING))


@jit
def damped_steps(hessian, gradient, size, damping, free):  # type: ignore[no-untyped-def]
    """The step of each fit, and whether its damped Hessian is positive."""
    steps = np.zeros_like(gradient)
    solved = np.zeros(gradient.shape[0], np.bool_)
    for i in range(gradient.shape[0]):
        solved[i] = kernel.damped_step(hessian[i], gradient[i], size[i], damping[i], free[i], steps[i])
    return steps, solved


def _derivatives(
    theta: FloatArray, problem: Problem, delta: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    return problem.slopes(theta).derivatives(problem.y, problem.inverse_scale, problem.weights, delta)


@jit
def misfits(eta, y, inv_s, w, delta):  # type: ignore[no-untyped-def]
    """f of every fit; infinite where it has no value."""
    f = np.zeros(eta.shape[0])
    for t in range(f.size):
        of_y, of_w = t % y.shape[0], t % w.shape[0]
        for i in range(eta.shape[1]):
            if w[of_w, i] != 0.0:
                f[t] += kernel.rho((y[of_y, i] - eta[t, i]) * inv_s[i], w[of_w, i], delta[t])[0]
        if not np.isfinite(f[t]):
            f[t] = np.inf
    return f


def _values(theta: FloatArray, problem: Problem, delta: FloatArray) -> FloatArray:
    eta = problem.log_losses(theta)
    return np.asarray(misfits(eta, problem.y, problem.inverse_scale, problem.weights, delta))


def _z(theta: FloatArray, problem: Problem) -> FloatArray:
    with np.errstate(invalid="ignore"):
        return np.asarray((problem.y - problem.log_losses(theta)) * problem.inverse_scale)
