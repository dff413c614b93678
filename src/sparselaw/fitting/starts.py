"""Where the search for a sum of powers starts: variable projection over a coarse grid of exponents.

Given the exponents the law is linear in its coefficients, and a relative residual is close to a residual in
log loss. So at every grid point a small nonnegative least-squares problem, reweighted for the robust
objective, gives the best coefficients; the points with the smallest objective that lie apart become starts.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.compiled import njit
from sparselaw.fitting.kernel import Problem, objective

jit: Any = njit(nogil=True, error_model="numpy")

GRID = np.geomspace(0.02, 8.0, 18)
COARSE_GRID = np.geomspace(0.02, 8.0, 7)  # for three exponents and more
STARTS = 8
LARGEST_GRID_ROWS = 2000
ABSENT = -30.0  # the log of a coefficient that came out as zero


def grid_starts(problem: Problem, delta: float) -> FloatArray:
    """(starts, p): the best grid points that are not neighbours of a better one."""
    rows = problem.log_loss.size
    if rows > LARGEST_GRID_ROWS:
        few = np.sort(np.random.Generator(np.random.PCG64(0)).choice(rows, LARGEST_GRID_ROWS, replace=False))
        problem = problem._replace(
            x=np.ascontiguousarray(problem.x[:, few]),
            sweep=problem.sweep[few],
            log_loss=problem.log_loss[few],
            inverse_scale=problem.inverse_scale[few],
            weights=problem.weights[few],
        )
    distinct = sorted(set(problem.slope[problem.slope >= 0].tolist()))
    axis = np.array([-1 if s < 0 else distinct.index(s) for s in problem.slope])
    grid = GRID if len(distinct) <= 2 else COARSE_GRID
    places = np.array(list(itertools.product(range(grid.size), repeat=len(distinct))))
    values, thetas = _scan(grid[places], axis, problem, delta)
    chosen: list[int] = []
    for flat in np.argsort(values, kind="stable"):
        if not np.isfinite(values[flat]) or len(chosen) == STARTS:
            break
        if all(np.max(np.abs(places[flat] - places[other])) > 1 for other in chosen):
            chosen.append(int(flat))
    return np.asarray(thetas[chosen])


@jit
def _scan(exponents, axis, problem, delta):  # type: ignore[no-untyped-def]
    """The objective and theta at every row of ``exponents``; term k has the one in column axis_k."""
    x, y = problem.x, problem.log_loss
    terms, rows = x.shape
    p = problem.lower.size
    sweeps = problem.sweep.max() + 1
    values = np.full(exponents.shape[0], np.inf)
    thetas = np.zeros((exponents.shape[0], p))
    columns = np.ones((terms, rows))
    column_top = np.zeros(terms)
    inverse_loss = np.exp(-y)
    for g in range(exponents.shape[0]):
        for k in range(terms):
            if axis[k] >= 0:
                exponent = exponents[g, axis[k]]
                column_top[k] = np.max(-exponent * x[k])
                for r in range(rows):
                    columns[k, r] = np.exp(-exponent * x[k, r] - column_top[k]) * inverse_loss[r]
            else:
                columns[k] = inverse_loss
        coefficients = _coefficients(columns, problem.inverse_scale, problem.weights, delta)
        theta = thetas[g]
        for k in range(terms):
            value = coefficients[k]
            for s in range(sweeps):
                theta[problem.intercept[k] + s] = np.log(value) - column_top[k] if value > 0.0 else ABSENT
            if axis[k] >= 0:
                theta[problem.slope[k]] = exponents[g, axis[k]]
        theta[:] = np.minimum(np.maximum(theta, problem.lower), problem.upper)
        values[g] = objective(theta, problem, delta)
    return values, thetas


@jit
def _coefficients(columns, inv_s, w, delta):  # type: ignore[no-untyped-def]
    """Nonnegative c that makes c . columns close to one, by reweighted least squares."""
    terms, rows = columns.shape
    normal = np.empty((terms, terms))
    right = np.empty(terms)
    best = np.zeros(terms)
    for passing in range(4):
        normal[:] = 0.0
        right[:] = 0.0
        for r in range(rows):
            weight = w[r] * inv_s[r] * inv_s[r]
            if passing > 0:
                fitted = 0.0
                for a in range(terms):
                    fitted += best[a] * columns[a, r]
                weight /= max(abs(1.0 - fitted) * inv_s[r], max(delta, 1e-3))
            for a in range(terms):
                right[a] += weight * columns[a, r]
                for b in range(a + 1):
                    normal[a, b] += weight * columns[a, r] * columns[b, r]
        for a in range(terms):
            for b in range(a):
                normal[b, a] = normal[a, b]
        best = _nonnegative(normal, right)
        if delta == np.inf:
            break
    return best


@jit
def _nonnegative(normal, right):  # type: ignore[no-untyped-def]
    """Nonnegative least squares in two or three unknowns: every support is tried."""
    terms = right.size
    best = np.zeros(terms)
    lowest = 0.0
    for support in range(1, 2**terms):
        index = np.array([a for a in range(terms) if support >> a & 1])
        n = index.size
        matrix = np.empty((n, n))
        vector = np.empty(n)
        for a in range(n):
            vector[a] = right[index[a]]
            for b in range(n):
                matrix[a, b] = normal[index[a], index[b]]
            matrix[a, a] *= 1.0 + 1e-12  # keeps two equal columns solvable
        if np.linalg.det(matrix) <= 0.0:
            continue
        solution = np.linalg.solve(matrix, vector)
        if np.any(solution < 0.0):
            continue
        value = 0.0
        for a in range(n):
            value -= 0.5 * solution[a] * vector[a]
        if value < lowest:
            lowest = value
            best = np.zeros(terms)
            for a in range(n):
                best[index[a]] = solution[a]
    return best
