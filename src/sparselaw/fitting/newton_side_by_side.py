"""The minimiser of kernel.py by array operations, for any smooth formula: many fits side by side.

With z = (y - eta(theta)) / s, J the gradient and V the Hessian of eta:

    grad f = -sum_i w_i rho'(z_i) J_i / s_i,
    hess f =  sum_i w_i (rho''(z_i) J_i J_i^T / s_i^2 - rho'(z_i) V_i / s_i).

Every fit has its own weights, delta and damping, and one array operation serves them all. None waits for
another: in each round every fit tries one step, and goes on from it or damps the next one more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.fitting.design import End
from sparselaw.fitting.misfit import DELTA_STEP, MOST_STEPS, ROUNDING, STAGE_TOLERANCE, TOLERANCE, rho

FIRST_DAMPING = 1e-3  # over delta
STUCK = 1e30  # a damping at which no step lowers f any more
Derivatives = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


class AnySlopes(Protocol):
    """First and second derivatives of eta at many thetas."""

    def derivatives(
        self, y: FloatArray, inverse_scale: FloatArray, weights: FloatArray, delta: FloatArray
    ) -> Derivatives:
        """f, gradient, Hessian and the sum of w J_j^2 / s^2 (a scale for each parameter) of every fit."""


class Fits(NamedTuple):
    """Fits side by side; y and the weights have a row for each, or one row for all."""

    log_losses: Callable[[FloatArray], FloatArray]  # eta: (fits, p) -> (fits, rows)
    slopes: Callable[[FloatArray], AnySlopes]
    y: FloatArray
    inverse_scale: FloatArray
    weights: FloatArray
    lower: FloatArray
    upper: FloatArray

    def of(self, fits: IntArray) -> Fits:
        """Some of them."""
        y, w = (a[fits] if len(a) > 1 else a for a in (self.y, self.weights))
        return self._replace(y=y, weights=w)

    def z(self, theta: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore"):
            return np.asarray((self.y - self.log_losses(theta)) * self.inverse_scale)

    def values(self, theta: FloatArray, delta: FloatArray) -> FloatArray:
        """f of every fit; infinite where it has no value."""
        with np.errstate(invalid="ignore"):
            found = rho(self.z(theta), self.weights, delta).value
        return np.where(np.isfinite(found), found, np.inf)

    def derivatives(self, theta: FloatArray, delta: FloatArray) -> Derivatives:
        with np.errstate(invalid="ignore"):
            return self.slopes(theta).derivatives(self.y, self.inverse_scale, self.weights, delta)


class Ends(NamedTuple):
    """Where the searches ended, one row or entry for each."""

    theta: FloatArray
    value: FloatArray
    norm: FloatArray
    converged: Any

    def one(self, fit: int) -> End:
        return End(self.theta[fit], float(self.value[fit]), float(self.norm[fit]), bool(self.converged[fit]))


def minimise(starts: FloatArray, fits: Fits, delta: float) -> Ends:
    """Newton in stages: delta falls from the typical residual at the start to the one asked for."""
    theta = np.clip(starts, fits.lower, fits.upper)
    width = np.full(len(theta), delta)
    if delta < np.inf:
        typical = np.nanmedian(np.where(fits.weights != 0.0, np.abs(fits.z(theta)), np.nan), axis=1)
        width = np.where(np.isfinite(typical), _stage(typical, delta), delta)
    return newton(theta, fits, width, delta)


def _stage(width: FloatArray, delta: float) -> FloatArray:
    """The last stage is delta itself."""
    return np.where(width > delta * DELTA_STEP, width, delta)


def newton(start: FloatArray, fits: Fits, width: FloatArray, delta: float) -> Ends:
    """Newton's method with Levenberg's damping inside the box; ``width`` is each fit's first delta."""
    theta, width = start.copy(), width.copy()
    count, p = theta.shape
    weight = np.maximum(np.broadcast_to(fits.weights.sum(axis=1), (count,)), 1e-300)
    f, norm, damping = np.empty(count), np.full(count, np.inf), np.empty(count)
    gradient, hessian, size = np.empty((count, p)), np.empty((count, p, p)), np.empty((count, p))
    steps = np.zeros(count, np.int64)

    def look(which: IntArray) -> None:
        """The derivatives where these fits are."""
        f[which], gradient[which], hessian[which], found = fits.of(which).derivatives(
            theta[which], width[which]
        )
        size[which] = np.maximum(found, 1e-12 * weight[which, None])

    def begin(which: IntArray) -> None:
        """A stage."""
        damping[which] = np.where(np.isinf(width[which]), FIRST_DAMPING, FIRST_DAMPING / width[which])
        steps[which] = 0
        look(which)

    going = np.arange(count)
    begin(going)
    while going.size:
        here, slope = theta[going], gradient[going]
        free = ~(((here <= fits.lower) & (slope >= 0.0)) | ((here >= fits.upper) & (slope <= 0.0)))
        norm[going] = np.sqrt(np.sum(np.where(free, slope, 0.0) ** 2, axis=1)) / weight[going]
        last = width[going] <= delta
        wanted = norm[going] > np.where(last, TOLERANCE, STAGE_TOLERANCE)
        ended = ~wanted | (steps[going] >= MOST_STEPS) | (damping[going] > STUCK)
        if ended.any():
            next_stage = going[ended & ~last]
            if next_stage.size:
                width[next_stage] = _stage(width[next_stage] / DELTA_STEP, delta)
                begin(next_stage)
            going = going[~(ended & last)]
            continue
        step, solved = damped_steps(hessian[going], slope, size[going], damping[going], free)
        trial = np.clip(here + step, fits.lower, fits.upper)
        step = trial - here
        predicted = -np.sum(slope * step, axis=1)
        predicted -= 0.5 * np.einsum("ta,tab,tb->t", step, hessian[going], step)
        found = np.where(solved, fits.of(going).values(trial, width[going]), np.inf)
        gain = f[going] - found
        better = gain > 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(predicted > 0.0, gain / predicted, 0.0)
        ease = np.where(ratio > 0.75, 0.1, np.where(ratio < 0.25, 3.0, 1.0))
        damping[going] = np.where(better, damping[going] * ease, np.maximum(damping[going], 1e-12) * 5.0)
        moved = going[better]
        if moved.size:
            theta[moved] = trial[better]
            steps[moved] += 1
            look(moved)
    return Ends(theta, f, norm, norm <= ROUNDING)


def damped_steps(
    hessian: FloatArray, gradient: FloatArray, size: FloatArray, damping: FloatArray, free: Any
) -> tuple[FloatArray, Any]:
    """Solves (H + damping diag(size)) step = -gradient on the free parameters; the step of each fit, and
    whether its damped Hessian is positive."""
    places = np.arange(size.shape[1])
    matrix = np.where(free[:, :, None] & free[:, None, :], hessian, 0.0)
    matrix[:, places, places] += np.where(free, damping[:, None] * size, 1.0)
    scale = 1.0 / np.sqrt(np.maximum(np.abs(matrix[:, places, places]), 1e-300))
    matrix *= scale[:, :, None] * scale[:, None, :]
    solved = _positive(matrix)
    steps = np.zeros_like(gradient)
    right = np.where(free, -gradient, 0.0) * scale
    steps[solved] = np.linalg.solve(matrix[solved], right[solved, :, None])[:, :, 0] * scale[solved]
    return steps, solved


def _positive(matrix: FloatArray) -> Any:
    """Which matrices, scaled to a diagonal of one, are positive."""
    finite: Any = np.isfinite(matrix).all(axis=(1, 2))
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        lowest = np.linalg.eigvalsh(np.where(finite[:, None, None], matrix, 0.0))[:, 0]
        return finite & (lowest > 1e-14)
    return finite
