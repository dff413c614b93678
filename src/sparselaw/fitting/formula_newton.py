"""The minimiser of kernel.py for any smooth formula: the same objective and steps, numerical derivatives.

With z = (y - eta(theta)) / s, J the gradient and V the Hessian of eta, by central differences of step h:

    grad f = -sum_i w_i rho'(z_i) J_i / s_i,
    hess f =  sum_i w_i (rho''(z_i) J_i J_i^T / s_i^2 - rho'(z_i) V_i / s_i).

Differences of step 1e-5 leave errors of about 1e-10 in J and 1e-5 in V: enough for a Newton step, whose goal
is a zero of the gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.fitting import kernel
from sparselaw.fitting.design import End

STEP = 1e-5
LogLosses = Callable[[FloatArray], FloatArray]  # (thetas, p) -> (thetas, rows)


class Problem(NamedTuple):
    log_losses: LogLosses  # eta
    y: FloatArray
    inverse_scale: FloatArray
    weights: FloatArray
    lower: FloatArray
    upper: FloatArray


def minimise(start: FloatArray, problem: Problem, delta: float) -> End:
    """Newton in stages: delta falls from the typical residual at the start to the one asked for."""
    theta = start
    if delta < np.inf:
        stage = float(np.median(np.abs(_z(theta, problem)[problem.weights != 0.0])))
        while np.isfinite(stage) and stage > delta * kernel.DELTA_STEP:
            theta = newton(theta, problem, stage, kernel.STAGE_TOLERANCE).theta
            stage /= kernel.DELTA_STEP
    return newton(theta, problem, delta, kernel.TOLERANCE)


def newton(theta: FloatArray, problem: Problem, delta: float, tolerance: float) -> End:
    """Newton's method with Levenberg's damping inside the box; see kernel.newton."""
    weight = max(float(problem.weights.sum()), 1e-300)
    damping = 1e-3 if np.isinf(delta) else 1e-3 / delta
    step, norm, f = np.empty(theta.size), np.inf, np.inf
    for _ in range(kernel.MOST_STEPS):
        f, gradient, hessian, size = _derivatives(theta, problem, delta)
        size = np.maximum(size, 1e-12 * weight)
        free = ~(
            ((theta <= problem.lower) & (gradient >= 0.0)) | ((theta >= problem.upper) & (gradient <= 0.0))
        )
        norm = float(np.linalg.norm(gradient[free])) / weight
        if not np.isfinite(norm) or norm <= tolerance:
            break
        moved = False
        for _attempt in range(60):
            if kernel.damped_step(hessian, gradient, size, damping, free, step):
                trial = np.clip(theta + step, problem.lower, problem.upper)
                taken = trial - theta
                predicted = float(-gradient @ taken - 0.5 * taken @ hessian @ taken)
                found = _value(trial, problem, delta)
                if found < f:
                    ratio = (f - found) / predicted if predicted > 0.0 else 0.0
                    damping *= 0.1 if ratio > 0.75 else 3.0 if ratio < 0.25 else 1.0
                    theta, moved = trial, True
                    break
            damping = max(damping, 1e-12) * 5.0
            if damping > 1e30:
                break
        if not moved:
            break
    return End(theta, f, norm, norm <= max(tolerance, kernel.ROUNDING))


def slopes(log_losses: LogLosses, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """eta (rows,), J (rows, p), and eta at every point that V needs, (p, p, rows) above the diagonal."""
    p = theta.size
    h = STEP * np.maximum(1.0, np.abs(theta))
    shifts = np.diag(h)
    pairs = [shifts[a] + shifts[b] for a in range(p) for b in range(a)]
    found = log_losses(theta + np.vstack([np.zeros((1, p)), shifts, -shifts, *([pairs] if pairs else [])]))
    here, up, down = found[0], found[1 : p + 1], found[p + 1 : 2 * p + 1]
    with np.errstate(invalid="ignore"):
        jacobian = ((up - down) / (2.0 * h[:, None])).T
        second = np.empty((p, p, here.size))
        mixed = iter(found[2 * p + 1 :])
        for a in range(p):
            second[a, a] = (up[a] - 2.0 * here + down[a]) / h[a] ** 2
            for b in range(a):
                second[a, b] = second[b, a] = (next(mixed) - up[a] - up[b] + here) / (h[a] * h[b])
    return here, jacobian, second


def _derivatives(
    theta: FloatArray, problem: Problem, delta: float
) -> tuple[float, FloatArray, FloatArray, FloatArray]:
    eta, jacobian, second = slopes(problem.log_losses, theta)
    inv_s, w = problem.inverse_scale, problem.weights
    used = w != 0.0
    with np.errstate(invalid="ignore"):
        z = np.where(used, (problem.y - eta) * inv_s, 0.0)
        jacobian = np.where(used[:, None], jacobian, 0.0)
        f, first, curve = kernel.misfit(z, w, delta)
        pull = w * first * inv_s
        gradient = -(pull @ jacobian)
        bent = np.where(used, second, 0.0) @ pull
        hessian = (jacobian.T * (w * curve * inv_s**2)) @ jacobian - bent
        size = (w * inv_s**2) @ jacobian**2
    return float(f), gradient, np.ascontiguousarray(0.5 * (hessian + hessian.T)), size


def _value(theta: FloatArray, problem: Problem, delta: float) -> float:
    value, _, _ = kernel.misfit(_z(theta, problem), problem.weights, delta)
    return float(value) if np.isfinite(value) else np.inf


def _z(theta: FloatArray, problem: Problem) -> FloatArray:
    with np.errstate(invalid="ignore"):
        return np.asarray((problem.y - problem.log_losses(theta[None, :])[0]) * problem.inverse_scale)
