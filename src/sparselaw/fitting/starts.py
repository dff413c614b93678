"""Where the search for the minimum begins.

Of a sum of powers: from a coarse grid of exponents (variable projection). Given the exponents the law is
linear in its coefficients, and a relative residual is close to a residual in log loss. So at every grid point
a small nonnegative least-squares problem, reweighted for the robust objective, gives the best coefficients;
the points with the smallest objective that lie apart become starts. A term is the same at every grid point
that shares its exponent, so powers are taken once for each exponent.

Of any other law: from the best combinations of the starts that it names.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.fitting.minimise import Objective, misfit

if TYPE_CHECKING:
    from sparselaw.fitting.design import Design

GRID = np.geomspace(0.02, 8.0, 12)
COARSE_GRID = np.geomspace(0.02, 8.0, 7)  # for three exponents and more
STARTS = 8
MOST_COMBINATIONS = 4096
LARGEST_START_ROWS = 500
LARGEST_GRID_ROWS = 2000
REWEIGHTINGS = 2
ABSENT = np.log(0.01)  # a coefficient that came out as zero starts so small, but where its slope is felt


def combined_starts(design: Design, objective: Objective, weights: FloatArray) -> FloatArray:
    """(starts, p): the best combinations of the starts that the ranges of the law name."""
    each = [held.starts if held.linear else tuple(np.log(held.starts)) for held in design.ranges]
    combinations = np.array(list(itertools.islice(itertools.product(*each), 100 * MOST_COMBINATIONS)))
    generator = np.random.Generator(np.random.PCG64(0))
    if len(combinations) > MOST_COMBINATIONS:
        chosen = generator.choice(len(combinations), MOST_COMBINATIONS, replace=False)
        combinations = combinations[np.sort(chosen)]
    combinations = np.clip(combinations, design.lower, design.upper)
    used = np.flatnonzero(weights)
    if used.size > LARGEST_START_ROWS:
        used = np.sort(generator.choice(used, LARGEST_START_ROWS, replace=False))
        design, weights = design.take(used), weights[used]
    z = (design.log_loss - design.log_losses(combinations)) * design.inverse_scale
    with np.errstate(invalid="ignore"):
        values = misfit(z, weights, objective.delta)
    return np.asarray(combinations[np.argsort(values, kind="stable")[:STARTS]])


def grid_starts(design: Design, delta: float, weights: FloatArray) -> FloatArray:
    """(starts, p): the best grid points that are not neighbours of a better one."""
    if design.rows > LARGEST_GRID_ROWS:
        generator = np.random.Generator(np.random.PCG64(0))
        few = np.sort(generator.choice(design.rows, LARGEST_GRID_ROWS, replace=False))
        design, weights = design.take(few), weights[few]
    assert design.terms is not None
    distinct = np.flatnonzero([held.linear for held in design.ranges])
    grid = GRID if len(distinct) <= 2 else COARSE_GRID
    places = np.array(list(itertools.product(range(grid.size), repeat=len(distinct))))
    values, coefficients = scan(places, grid, distinct, design, delta, weights)
    chosen: list[int] = []
    for flat in np.argsort(values, kind="stable"):
        if not np.isfinite(values[flat]) or len(chosen) == STARTS:
            break
        if not chosen or np.abs(places[chosen] - places[flat]).max(axis=1).min() > 1:
            chosen.append(int(flat))
    thetas = np.zeros((len(chosen), design.lower.size))
    for k, (linear, height) in enumerate(zip(*design.terms, strict=True)):
        thetas[:, linear.any(axis=1)] = coefficients[chosen, k, None] - height
    thetas[:, distinct] = grid[places[chosen]]
    return np.clip(thetas, design.lower, design.upper)


def scan(
    places: IntArray,
    grid: FloatArray,
    distinct: IntArray,
    design: Design,
    delta: float,
    weights: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """The objective (points,) and the logarithms of the coefficients (points, terms) at every grid point.

    ``places`` (points, exponents) says which exponents of the grid a point has; ``distinct`` names the
    exponents by their place in theta.
    """
    assert design.terms is not None
    powers, tops, at = [], [], []
    for linear in design.terms.linear:
        logs, at_grid = np.zeros((1, design.rows)), np.zeros(len(places), np.int64)
        for own, exponent in zip(places.T, distinct, strict=True):
            if linear[exponent].any():
                logs, at_grid = grid[:, None] * linear[exponent], own
        top = logs.max(axis=1)
        powers.append(np.exp(logs - top[:, None] - design.log_loss))
        at.append(at_grid)
        tops.append(top[at[-1]])
    columns = [power[own] for power, own in zip(powers, at, strict=True)]
    values, found = _projected(columns, design.inverse_scale, weights, delta)
    with np.errstate(divide="ignore"):
        return values, np.where(found > 0.0, np.log(found) - np.stack(tops, axis=1), ABSENT)


def _projected(
    columns: list[FloatArray], inv_s: FloatArray, w: FloatArray, delta: float
) -> tuple[FloatArray, FloatArray]:
    """The objective (points,) and the best coefficients (points, terms).

    Each of ``columns`` (points, rows) is a term over the loss: their sum should be one.
    """
    plain = w * inv_s**2
    best, fitted = _least_squares(columns, plain[None, :])
    for _ in range(0 if delta == np.inf else REWEIGHTINGS):
        weight = plain / np.maximum(np.abs(1.0 - fitted) * inv_s, max(delta, 1e-3))
        best, fitted = _least_squares(columns, weight)
    with np.errstate(divide="ignore", invalid="ignore"):
        return misfit(np.log(fitted) * inv_s, w, delta), best.T


def _least_squares(columns: list[FloatArray], weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The nonnegative coefficients (terms, points) that bring the sum closest to one, and that sum."""
    weighted = [column * weight for column in columns]
    right = np.stack([column.sum(axis=1) for column in weighted])
    normal = np.empty((len(columns), *right.shape))
    for a, b in itertools.combinations_with_replacement(range(len(columns)), 2):
        normal[a, b] = normal[b, a] = np.einsum("gr,gr->g", weighted[a], columns[b])
    best = _nonnegative(normal, right)
    fitted = best[0, :, None] * columns[0]
    for c, column in zip(best[1:], columns[1:], strict=True):
        fitted += c[:, None] * column
    return best, fitted


def _nonnegative(normal: FloatArray, right: FloatArray) -> FloatArray:
    """Nonnegative least squares in a few unknowns, at each grid point (last axis): every support is tried."""
    terms, points = right.shape
    best, lowest, every = np.zeros((terms, points)), np.zeros(points), np.arange(points)
    for size in range(1, terms + 1):
        supports = np.array(list(itertools.combinations(range(terms), size))).T  # (size, supports)
        vector = right[supports]
        matrix = np.moveaxis(normal[supports[:, None], supports[None, :]], (0, 1), (-2, -1))
        matrix[..., range(size), range(size)] *= 1.0 + 1e-12  # keeps two equal columns solvable
        solution = np.moveaxis(np.linalg.solve(matrix, np.moveaxis(vector, 0, -1)[..., None])[..., 0], -1, 0)
        with np.errstate(invalid="ignore"):
            value = -0.5 * np.sum(solution * vector, axis=0)
            value = np.where((solution >= 0.0).all(axis=0), value, np.inf)
        which = value.argmin(axis=0)
        value = value[which, every]
        better = np.flatnonzero(value < lowest)
        lowest[better] = value[better]
        best[:, better] = 0.0
        best[supports[:, which[better]], better] = solution[:, which[better], better]
    return best
