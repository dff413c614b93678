"""Where the minimiser starts: variable projection over a coarse grid of exponents.

Given the exponents the law is linear in (E, A, B), and a relative residual is close to a residual in log
loss. So at every grid point a small nonnegative least-squares inputs, reweighted for the robust objective,
gives the best coefficients; the points with the smallest objective that lie apart become starts.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.fitting.design import Design
from sparselaw.fitting.kernel import objective

jit: Any = numba.njit(cache=True, nogil=True, error_model="numpy")

GRID = np.geomspace(0.02, 8.0, 18)
STARTS = 8
LARGEST_GRID_ROWS = 2000
ABSENT = -30.0  # the log of a coefficient that came out as zero


def starting_points(design: Design, delta: float, w: FloatArray) -> FloatArray:
    """(starts, p): the best grid points that are not neighbours of a better one."""
    if design.rows > LARGEST_GRID_ROWS:
        rows = np.random.Generator(np.random.PCG64(0)).choice(design.rows, LARGEST_GRID_ROWS, replace=False)
        design, w = design.take(np.sort(rows)), w[np.sort(rows)]
    tied = len(set(design.slope[design.slope >= 0].tolist())) == 1
    values, thetas = _scan(
        GRID, tied, design.x, design.intercept, design.slope, design.sweep, design.log_loss,
        design.inverse_scale, w, delta, design.lower, design.upper,
    )  # fmt: skip
    chosen: list[tuple[int, int]] = []
    for flat in np.argsort(values, axis=None, kind="stable"):
        i, j = divmod(int(flat), len(GRID))
        if not np.isfinite(values[i, j]) or len(chosen) == STARTS:
            break
        if all(max(abs(i - a), abs(j - b)) > 1 for a, b in chosen):
            chosen.append((i, j))
    return np.array([thetas[i, j] for i, j in chosen])


@jit
def _scan(grid, tied, x, intercept, slope, sweep, y, inv_s, w, delta, lower, upper):  # type: ignore[no-untyped-def]
    g = grid.size
    terms, rows = x.shape
    p = lower.size
    values = np.full((g, g), np.inf)
    thetas = np.zeros((g, g, p))
    columns = np.ones((terms, rows))
    column_top = np.zeros(terms)
    inverse_loss = np.exp(-y)
    for i in range(g):
        for j in range(g):
            if tied and i != j:
                continue
            for k in range(terms):
                if slope[k] >= 0:
                    exponent = grid[i] if k == terms - 2 else grid[j]
                    column_top[k] = np.max(-exponent * x[k])
                    for r in range(rows):
                        columns[k, r] = np.exp(-exponent * x[k, r] - column_top[k]) * inverse_loss[r]
                else:
                    columns[k] = inverse_loss
            coefficients = _coefficients(columns, inv_s, w, delta)
            theta = thetas[i, j]
            for k in range(terms):
                value = coefficients[k]
                theta[intercept[k]] = np.log(value) - column_top[k] if value > 0.0 else ABSENT
                if slope[k] >= 0:
                    theta[slope[k]] = grid[i] if k == terms - 2 else grid[j]
            theta[:] = np.minimum(np.maximum(theta, lower), upper)
            values[i, j] = objective(theta, x, intercept, slope, sweep, y, inv_s, w, delta)
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
