"""Gaussian moments of activations: of a smooth one by its Hermite coefficients, of a kink in closed form.

For g standard normal and the polynomials h_n orthonormal under it, f(s g) = sum_n c_n(s) h_n(g) with
c_n(s) = E[f(s g) h_n(g)], and two normals a, b of deviations s, t and correlation r have (Mehler)

    E[f(a) f(b)] = sum_n c_n(s) c_n(t) r^n.

Means over g are sums on an even grid, which for functions that are analytic near the real line are exact to
rounding once the step is small against their distance from a pole. What the orders beyond the last hold
together is known, E f(s g)^2 - sum c_n^2; it is given to the next order, which is exact for r = 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.compiled import lazy_njit

REACH = 13.0  # of the grid: beyond it sqrt of the normal density is below 1e-18
STEP = 0.05  # at a deviation of one; exact to rounding for poles further than 0.3 from the real line
MOST_ORDERS = 300
NEGLIGIBLE = 1e-13  # of E f^2: what the orders left out may hold

Function = Callable[[FloatArray], FloatArray]


def gaussian_mean(f: Function, deviations: FloatArray) -> FloatArray:
    """E f(s g) for each deviation s."""
    points, density = _grid(deviations)
    return np.asarray(f(deviations[:, None] * points) @ density)


def hermite_moments(f: Function, covariance: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """E[f(a_i) f(b_j)] for jointly Gaussian a_i, b_j of deviations left_i, right_j."""
    size = np.outer(left, right)
    r = np.clip(np.divide(covariance, size, out=np.zeros_like(size), where=size > 0.0), -1.0, 1.0)
    both = coefficients(f, np.concatenate([left, right]))
    rows, columns = both[: len(left)], both[len(left) :]
    total = np.zeros_like(r)
    for n in reversed(range(both.shape[1])):  # Horner's scheme; a row of zeros (an odd function) is left out
        total *= r
        if np.any(rows[:, n]):
            total += np.outer(rows[:, n], columns[:, n])
    return total


def coefficients(f: Function, deviations: FloatArray) -> FloatArray:
    """c_n(s), a row for each deviation; the last column is the root of what further orders hold."""
    points, density = _grid(deviations)
    values = f(deviations[:, None] * points)
    left = values**2 @ density
    whole = float(left.max(initial=0.0))
    weighted = values * np.sqrt(density)
    before, polynomial = np.zeros_like(points), np.sqrt(density)  # times sqrt(density): nothing overflows
    columns = []
    for n in range(MOST_ORDERS):
        column = weighted @ polynomial
        column[np.abs(column) < 1e-15 * np.sqrt(whole)] = 0.0  # of an odd f every other one
        columns.append(column)
        left = left - column**2
        if left.max(initial=0.0) <= NEGLIGIBLE * whole:
            break
        following = (points * polynomial - np.sqrt(n) * before) / np.sqrt(n + 1.0)
        before, polynomial = polynomial, following
    columns.append(np.sqrt(np.clip(left, 0.0, None)))
    return np.column_stack(columns)


def _grid(deviations: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Points and their share of the normal law."""
    step = STEP / max(1.0, float(deviations.max(initial=0.0)))
    half = int(np.ceil(REACH / step))
    points = step * np.arange(-half, half + 1.0)
    density = np.exp(-0.5 * points**2)
    return points, density / density.sum()


def arc_cosine(covariance: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """left right (sin f + (pi - f) cos f) / (2 pi) with cos f = covariance / (left right).

    A deviation of zero gives zero.
    """
    moments = np.empty_like(covariance)
    _arc_cosine(covariance, left, right, moments)
    return moments


@lazy_njit(error_model="numpy")
def _arc_cosine(covariance, left, right, moments):  # type: ignore[no-untyped-def]
    for i in range(covariance.shape[0]):
        for j in range(covariance.shape[1]):
            size = left[i] * right[j]
            cosine = 0.0
            if size > 0.0:
                cosine = min(1.0, max(-1.0, covariance[i, j] / size))
            sine = np.sqrt((1.0 - cosine) * (1.0 + cosine))
            angle = np.arccos(cosine)
            moments[i, j] = size * (sine + (np.pi - angle) * cosine) / (2.0 * np.pi)
