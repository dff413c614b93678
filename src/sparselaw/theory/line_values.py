"""Values along a line from those at a few places: losses with their terms, label noise, medians."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.sums.chebyshev import chebyshev_places, interpolate
from sparselaw.theory.sharp_counts import Sharp, with_noise

MEDIANS = 7
Exact = Callable[[float], Sharp]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    leading: FloatArray  # the leading surface at x
    u: FloatArray  # in which the rest is smooth
    x: FloatArray
    back: FloatArray  # from what is smooth to a loss


def interpolated(
    index: NDArray[np.int64], line: Line, exact: Exact, nodes: tuple[FloatArray, FloatArray, FloatArray]
) -> dict[int, Sharp]:
    """Values of the line at some places from those at ``nodes``: u, x, and what makes a loss there smooth.

    The loss and its corrections are interpolated; the leading surface is known, and the first correction
    (that of the rank or of co-activation) is what is left.
    """
    places, sizes, scale = nodes
    distinct = np.unique(line.x[index])
    if distinct.size <= places.size or places.size < 3:
        own = {float(x): exact(float(x)) for x in distinct}
        return {int(i): own[float(line.x[i])] for i in index}
    at = [exact(float(size)) for size in sizes]
    names = list(dict.fromkeys(name for value in at for name in value.terms if name != "leading"))
    others = names[1:]
    rows = [[value.loss, *(value.terms.get(name, 0.0) for name in others)] for value in at]
    table, errors = np.array(rows) * scale[:, None], np.array([[value.error] for value in at])
    if not (np.isfinite(table).all() and np.isfinite(errors).all() and (errors > 0.0).all()):
        return {int(i): exact(float(line.x[i])) for i in index}
    found = interpolate(places, table, line.u[index]) * line.back[index, None]
    error = np.exp(interpolate(places, np.log(errors), line.u[index]))[:, 0]
    if not (found[:, 0] > 0.0).all():
        return {int(i): exact(float(line.x[i])) for i in index}
    values = {}
    for i, row, e in zip(index, found, error, strict=True):
        rest = float(row[0] - row[1:].sum())
        leading = float(line.leading[i])
        if not (names and math.isfinite(leading)):
            leading = rest
        terms = {"leading": leading, **({names[0]: rest - leading} if names else {})}
        terms |= dict(zip(others, map(float, row[1:]), strict=True))
        values[int(i)] = Sharp(float(row[0]), terms, float(e))
    return values


def add_noise(
    values: dict[int, Sharp],
    index: NDArray[np.int64],
    line: Line,
    noise: float,
    unit: Callable[[float], tuple[float, float]],
    nodes: tuple[FloatArray, FloatArray, FloatArray],
) -> None:
    """What label noise adds, from ``unit`` at the nodes: by its logarithm, since it may run over decades."""
    places, sizes, scale = nodes
    distinct = np.unique(line.x[index])
    few = distinct.size <= places.size or places.size < 3
    at = np.array([unit(float(x)) for x in (distinct if few else sizes)])
    if few:
        found = at[np.searchsorted(distinct, line.x[index])]
    elif np.isinf(at[:, 0]).all():
        found = np.full((index.size, 2), np.inf)
    else:
        with np.errstate(all="ignore"):
            table = np.log(at * np.stack([scale, np.ones_like(scale)], axis=1))
            found = np.exp(interpolate(places, table, line.u[index]))
            found[:, 0] *= line.back[index]
        if np.isnan(found).any():
            found = np.array([unit(float(line.x[i])) for i in index])
    for i, (part, error) in zip(index, found, strict=True):
        values[int(i)] = with_noise(values[int(i)], noise, float(part), float(error))


def add_medians(
    values: list[Sharp],
    x: FloatArray,
    near: NDArray[np.bool_],
    median: Callable[[float], tuple[float, float]],
) -> None:
    """Medians and their errors near the peak: each its own, or a few and what lies between them."""
    index = np.flatnonzero(near)
    distinct = np.unique(x[index])
    if distinct.size <= MEDIANS:
        own = np.array([median(float(place)) for place in distinct])
        found = own[np.searchsorted(distinct, x[index])]
    else:
        places = chebyshev_places(float(x[index].min()), float(x[index].max()), MEDIANS)
        at = np.log([median(float(place)) for place in places])
        found = np.exp(interpolate(places, at, x[index]))
    for i, (value, error) in zip(index, found, strict=True):
        values[i] = replace(values[i], median=float(value), median_error=float(error))
