"""Where the search for a sum of powers starts: variable projection over a coarse grid of exponents.

Given the exponents the law is linear in its coefficients, and a relative residual is close to a residual in
log loss. So at every grid point a small nonnegative least-squares problem, reweighted for the robust
objective, gives the best coefficients; the points with the smallest objective that lie apart become starts.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.compiled import njit
from sparselaw.fitting.kernel import Problem, objective

jit: Any = njit(nogil=True, error_model="numpy")

GRID = np.geomspace(0.02, 8.0, 18)
COARSE_GRID = np.geomspace(0.02, 8.0, 7)  # for three exponents and more
STARTS = 8
LARGEST_GRID_ROWS = 2000
POINTS_AT_A_TIME = 500  # of the grid, in memory
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
    parts = np.array_split(grid[places], 1 + len(places) // POINTS_AT_A_TIME)
    values, thetas = map(
        np.concatenate, zip(*(_scan(part, axis, problem, delta) for part in parts), strict=True)
    )
    chosen: list[int] = []
    for flat in np.argsort(values, kind="stable"):
        if not np.isfinite(values[flat]) or len(chosen) == STARTS:
            break
        if all(np.max(np.abs(places[flat] - places[other])) > 1 for other in chosen):
            chosen.append(int(flat))
    return np.asarray(thetas[chosen])


def _scan(
    exponents: FloatArray, axis: IntArray, problem: Problem, delta: float
) -> tuple[FloatArray, FloatArray]:
    """The objective and theta at every row of ``exponents``; term k has the one in column axis_k."""
    columns, tops = _columns(exponents, axis, problem.x, problem.log_loss)
    coefficients = np.zeros(tops.shape)
    for passing in range(1 if delta == np.inf else 4):
        equations = _normal_equations(columns, problem, delta, coefficients, passing > 0)
        coefficients = _nonnegative(*equations)
    found: tuple[FloatArray, FloatArray] = _evaluate(coefficients, tops, exponents, axis, problem, delta)
    return found


@jit
def _columns(exponents, axis, x, y):  # type: ignore[no-untyped-def]
    """(grid points, terms, rows): each term over the loss, and the logarithm of what it was divided by."""
    terms, rows = x.shape
    columns = np.empty((exponents.shape[0], terms, rows))
    tops = np.zeros((exponents.shape[0], terms))
    inverse_loss = np.exp(-y)
    for g in range(exponents.shape[0]):
        for k in range(terms):
            exponent = exponents[g, axis[k]] if axis[k] >= 0 else 0.0
            top = -np.inf
            for r in range(rows):
                top = max(top, -exponent * x[k, r])
            for r in range(rows):
                columns[g, k, r] = np.exp(-exponent * x[k, r] - top) * inverse_loss[r]
            tops[g, k] = top
    return columns, tops


@jit
def _normal_equations(columns, problem, delta, best, again):  # type: ignore[no-untyped-def]
    """Of least squares that make c . columns close to one; again: reweighted by the residuals of ``best``."""
    w, inv_s = problem.weights, problem.inverse_scale
    points, terms, rows = columns.shape
    normal = np.zeros((points, terms, terms))
    right = np.zeros((points, terms))
    for g in range(points):
        for r in range(rows):
            weight = w[r] * inv_s[r] * inv_s[r]
            if again:
                fitted = 0.0
                for a in range(terms):
                    fitted += best[g, a] * columns[g, a, r]
                weight /= max(abs(1.0 - fitted) * inv_s[r], max(delta, 1e-3))
            for a in range(terms):
                right[g, a] += weight * columns[g, a, r]
                for b in range(a + 1):
                    normal[g, a, b] += weight * columns[g, a, r] * columns[g, b, r]
        for a in range(terms):
            for b in range(a):
                normal[g, b, a] = normal[g, a, b]
    return normal, right


def _nonnegative(normal: FloatArray, right: FloatArray) -> FloatArray:
    """Nonnegative least squares in two or three unknowns, at every grid point: every support is tried.

    The systems of a support are solved together by numpy: compiled here, LAPACK would take eight seconds.
    """
    points, terms = right.shape
    best, lowest = np.zeros((points, terms)), np.zeros(points)
    for support in range(1, 2**terms):
        index = [a for a in range(terms) if support >> a & 1]
        matrix, vector = normal[:, index][:, :, index], right[:, index]
        diagonal = range(len(index))
        matrix[:, diagonal, diagonal] *= 1.0 + 1e-12  # keeps two equal columns solvable
        with np.errstate(all="ignore"):
            at = np.flatnonzero(np.linalg.det(matrix) > 0.0)
            solution = np.linalg.solve(matrix[at], vector[at, :, None])[:, :, 0]
            value = np.zeros(at.size)
            for a in diagonal:
                value -= 0.5 * solution[:, a] * vector[at, a]
        better = ~np.any(solution < 0.0, axis=1) & (value < lowest[at])
        at = at[better]
        lowest[at], best[at] = value[better], 0.0
        best[np.ix_(at, index)] = solution[better]
    return best


@jit
def _evaluate(coefficients, tops, exponents, axis, problem, delta):  # type: ignore[no-untyped-def]
    """The objective and theta of the law with these coefficients, within its box."""
    points, terms = coefficients.shape
    values = np.empty(points)
    thetas = np.zeros((points, problem.lower.size))
    sweeps = 1
    for r in range(problem.sweep.size):
        sweeps = max(sweeps, problem.sweep[r] + 1)
    for g in range(points):
        theta = thetas[g]
        for k in range(terms):
            value = coefficients[g, k]
            for s in range(sweeps):
                theta[problem.intercept[k] + s] = np.log(value) - tops[g, k] if value > 0.0 else ABSENT
            if axis[k] >= 0:
                theta[problem.slope[k]] = exponents[g, axis[k]]
        for a in range(theta.size):
            theta[a] = min(max(theta[a], problem.lower[a]), problem.upper[a])
        values[g] = objective(theta, problem, delta)
    return values, thetas
