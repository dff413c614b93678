"""Minimises a robust misfit of log losses, for any law that is a sum of power laws.

The logarithm of such a law is eta_i(theta) = log sum_k exp(t_ki), and every t_ki is an intercept minus an
exponent times the logarithm of a size: linear in theta. With z_i = (y_i - eta_i) / s_i the objective is

    f(theta) = sum_i w_i rho(z_i),    rho(z) = z^2 / (2 delta) for |z| <= delta, else |z| - delta / 2,

which is Huber's objective divided by delta. It tends to least absolute deviation as delta goes to 0; an
infinite delta stands for z^2 / 2, least squares. With p_k = exp(t_k - eta), J = sum_k p_k grad t_k and
V = sum_k p_k grad t_k grad t_k^T - J J^T, gradient and Hessian are exact:

    grad f = -sum_i w_i rho'(z_i) J_i / s_i,
    hess f =  sum_i w_i (rho''(z_i) J_i J_i^T / s_i^2 - rho'(z_i) V_i / s_i).

The minimiser is Newton's method with Levenberg's damping inside a box. A small delta leaves few rows with
curvature, so delta comes down in stages, each starting where the last one ended. newton_side_by_side.py takes
the same steps by array operations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sparselaw.compiled import njit
from sparselaw.fitting.misfit import DELTA_STEP, MOST_STEPS, ROUNDING, STAGE_TOLERANCE, TOLERANCE, Problem

jit: Any = njit(nogil=True, error_model="numpy")

CONVERGED, STALLED = 0, 1


@jit
def rho(z, w, delta):  # type: ignore[no-untyped-def]
    """w rho(z), rho'(z), rho''(z)."""
    if abs(z) > delta:
        return w * (abs(z) - 0.5 * delta), np.sign(z), 0.0
    if delta == np.inf:
        return w * 0.5 * z * z, z, 1.0
    return w * 0.5 * z * z / delta, z / delta, 1.0 / delta


@jit
def _log_sum(theta, x, intercept, slope, shift, i):  # type: ignore[no-untyped-def]
    """eta_i in one pass. The derivatives need every term and take two; their last digit may differ."""
    top = -np.inf
    total = 0.0
    for k in range(intercept.size):
        t = theta[intercept[k] + shift]
        if slope[k] >= 0:
            t -= theta[slope[k]] * x[k, i]
        if t > top:
            total = total * np.exp(top - t) + 1.0
            top = t
        else:
            total += np.exp(t - top)
    return top + np.log(total)


@jit
def objective(theta, problem, delta):  # type: ignore[no-untyped-def]
    """f(theta) alone: what a rejected step needs."""
    x, intercept, slope, sweep, y, inv_s, w, _, _ = problem
    total = 0.0
    for i in range(y.size):
        if w[i] != 0.0:
            z = (y[i] - _log_sum(theta, x, intercept, slope, sweep[i], i)) * inv_s[i]
            total += rho(z, w[i], delta)[0]
    return total


@jit
def derivatives(theta, problem, delta, gradient, hessian, size):  # type: ignore[no-untyped-def]
    """Fills gradient, Hessian and the sum of w J_j^2 / s^2 (a scale for each parameter); returns f."""
    x, intercept, slope, sweep, y, inv_s, w, _, _ = problem
    p, terms = theta.size, intercept.size
    gradient[:] = 0.0
    hessian[:] = 0.0
    size[:] = 0.0
    share = np.empty(terms)
    jac = np.empty(p)
    total = 0.0
    for i in range(y.size):
        if w[i] == 0.0:
            continue
        shift = sweep[i]
        top = -np.inf
        for k in range(terms):
            t = theta[intercept[k] + shift]
            if slope[k] >= 0:
                t -= theta[slope[k]] * x[k, i]
            share[k] = t
            top = max(top, t)
        norm = 0.0
        for k in range(terms):
            share[k] = np.exp(share[k] - top)
            norm += share[k]
        jac[:] = 0.0
        for k in range(terms):
            share[k] /= norm
            jac[intercept[k] + shift] += share[k]
            if slope[k] >= 0:
                jac[slope[k]] -= share[k] * x[k, i]
        value, first, second = rho((y[i] - top - np.log(norm)) * inv_s[i], w[i], delta)
        total += value
        pull = w[i] * first * inv_s[i]
        # J J^T enters with rho'' and, through V, with rho'
        outer = w[i] * second * inv_s[i] * inv_s[i] + pull
        square = w[i] * inv_s[i] * inv_s[i]
        for a in range(p):
            if jac[a] == 0.0:
                continue
            gradient[a] -= pull * jac[a]
            size[a] += square * jac[a] * jac[a]
            for b in range(a + 1):
                hessian[a, b] += outer * jac[a] * jac[b]
        for k in range(terms):
            c = intercept[k] + shift
            hessian[c, c] -= pull * share[k]
            if slope[k] >= 0:
                s = slope[k]
                hessian[s, s] -= pull * share[k] * x[k, i] * x[k, i]
                hessian[max(c, s), min(c, s)] += pull * share[k] * x[k, i]
    for a in range(p):
        for b in range(a):
            hessian[b, a] = hessian[a, b]
    return total


@jit
def damped_step(hessian, gradient, size, damping, free, step):  # type: ignore[no-untyped-def]
    """Solves (H + damping diag(size)) step = -gradient on the free parameters; False if not positive."""
    p = gradient.size
    index = np.empty(p, np.int64)
    n = 0
    for a in range(p):
        step[a] = 0.0
        if free[a]:
            index[n] = a
            n += 1
    low = np.zeros((n, n))
    for a in range(n):
        for b in range(a + 1):
            value = hessian[index[a], index[b]]
            if a == b:
                value += damping * size[index[a]]
            for c in range(b):
                value -= low[a, c] * low[b, c]
            if a == b:
                if not value > 1e-14 * (abs(hessian[index[a], index[a]]) + damping * size[index[a]]):
                    return False
                low[a, a] = np.sqrt(value)
            else:
                low[a, b] = value / low[b, b]
    y = np.empty(n)
    for a in range(n):
        value = -gradient[index[a]]
        for c in range(a):
            value -= low[a, c] * y[c]
        y[a] = value / low[a, a]
    for a in range(n - 1, -1, -1):
        value = y[a]
        for c in range(a + 1, n):
            value -= low[c, a] * step[index[c]]
        step[index[a]] = value / low[a, a]
    return True


@jit
def newton(theta, problem, delta, tolerance):  # type: ignore[no-untyped-def]
    """Improves theta in place. Returns f, the norm of the gradient it can still follow, and how it ended."""
    lower, upper = problem.lower, problem.upper
    p = theta.size
    gradient = np.empty(p)
    hessian = np.empty((p, p))
    size = np.empty(p)
    step = np.empty(p)
    trial = np.empty(p)
    free = np.empty(p, np.bool_)
    weight = max(problem.weights.sum(), 1e-300)
    damping = 1e-3 if delta == np.inf else 1e-3 / delta
    norm = np.inf
    f = 0.0
    for _ in range(MOST_STEPS):
        f = derivatives(theta, problem, delta, gradient, hessian, size)
        norm = 0.0
        for a in range(p):
            size[a] = max(size[a], 1e-12 * weight)
            free[a] = not (
                (theta[a] <= lower[a] and gradient[a] >= 0.0) or (theta[a] >= upper[a] and gradient[a] <= 0.0)
            )
            if free[a]:
                norm += gradient[a] * gradient[a]
        norm = np.sqrt(norm) / weight
        if norm <= tolerance:
            return f, norm, CONVERGED
        moved = False
        for _attempt in range(60):
            if damped_step(hessian, gradient, size, damping, free, step):
                predicted = 0.0
                for a in range(p):
                    trial[a] = min(max(theta[a] + step[a], lower[a]), upper[a])
                    step[a] = trial[a] - theta[a]
                for a in range(p):
                    predicted -= gradient[a] * step[a]
                    for b in range(p):
                        predicted -= 0.5 * step[a] * hessian[a, b] * step[b]
                found = objective(trial, problem, delta)
                if found < f:
                    ratio = (f - found) / predicted if predicted > 0.0 else 0.0
                    for a in range(p):  # numba takes seconds to compile the assignment of a slice
                        theta[a] = trial[a]
                    moved = True
                    if ratio > 0.75:
                        damping *= 0.1
                    elif ratio < 0.25:
                        damping *= 3.0
                    break
            damping = max(damping, 1e-12) * 5.0
            if damping > 1e30:
                break
        if not moved:
            break
    return f, norm, CONVERGED if norm <= ROUNDING else STALLED


@jit
def minimise(theta, problem, delta):  # type: ignore[no-untyped-def]
    """Newton in stages: delta falls from the typical residual at the start to the one asked for."""
    x, intercept, slope, sweep, y, inv_s, w, _, _ = problem
    z = np.empty(y.size)
    used = 0
    for i in range(y.size):
        if w[i] != 0.0:
            z[used] = abs((y[i] - _log_sum(theta, x, intercept, slope, sweep[i], i)) * inv_s[i])
            used += 1
    stage = np.median(z[:used])
    if delta < np.inf:
        while stage > delta * DELTA_STEP:
            newton(theta, problem, stage, STAGE_TOLERANCE)
            stage /= DELTA_STEP
    return newton(theta, problem, delta, TOLERANCE)


@jit
def minimise_many(starts, problem, losses, weights, delta):  # type: ignore[no-untyped-def]
    """The best end over ``starts`` for every row of ``weights`` or of ``losses``; the other has one row."""
    draws = max(weights.shape[0], losses.shape[0])
    thetas = np.empty((draws, starts.shape[1]))
    values = np.full(draws, np.inf)
    for b in range(draws):
        drawn = Problem(
            problem.x, problem.intercept, problem.slope, problem.sweep, losses[b % losses.shape[0]],
            problem.inverse_scale, weights[b % weights.shape[0]], problem.lower, problem.upper,
        )  # fmt: skip
        for start in range(starts.shape[0]):
            theta = starts[start].copy()
            f, _, _ = minimise(theta, drawn, delta)
            if f < values[b]:
                values[b] = f
                for a in range(theta.size):
                    thetas[b, a] = theta[a]
    return thetas, values
