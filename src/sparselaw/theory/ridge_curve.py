"""The sharp surface with a ridge along a line of sizes: no peak is infinite, and one factor is smooth.

Sharp over leading, both with the ridge, is found at a few places in the logarithm of the size; where every
second of them does not give the others, the line is halved: so near the peak of a small ridge.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import ActivationInputs, Inputs
from sparselaw.sums.chebyshev import chebyshev_places, interpolate
from sparselaw.theory.count_setting import count_setting
from sparselaw.theory.leading_curve import leading_losses
from sparselaw.theory.sharp_counts import Sharp, sharp_count_loss
from sparselaw.theory.sharp_gaussian import sharp_gaussian_loss
from sparselaw.theory.surface import sharp_applies

PLACES = 9
AGREED = 1e-2  # relative error by every second place that is good enough: by all it is far smaller


def ridge_values(
    inputs: ActivationInputs, N: FloatArray, D: FloatArray, ridge: float, noise: float
) -> list[Sharp]:
    """The values along a line, where N or D is a single one."""
    along_N = D.size == 1

    def exact(x: float) -> Sharp:
        n, d = (x, float(D[0])) if along_N else (float(N[0]), round(x))
        return sharp_count_loss(count_setting(inputs, float(d)), n, ridge, noise, median=False)

    def leading(x: FloatArray) -> FloatArray:
        if along_N:
            return leading_losses(inputs, x, D, ridge, noise)
        return leading_losses(inputs, N, np.rint(x), ridge, noise)

    x = N if along_N else D
    applies = np.array([sharp_applies(inputs, float(d)) for d in np.broadcast_to(D, x.shape)], bool)
    values: dict[float, Sharp] = {}
    if applies.any():
        values = values_between(np.unique(x[applies]), exact, leading)
    for size, loss in zip(x[~applies], leading(x[~applies]) if not applies.all() else (), strict=True):
        values[float(size)] = Sharp(float(loss), {"leading": float(loss)}, math.nan)
    return [values[float(size)] for size in x]


def gaussian_values(inputs: Inputs, N: FloatArray, D: FloatArray, ridge: float, noise: float) -> list[Sharp]:
    """Of dense inputs: one by one where they are formulas, without ridge and without noise or at N < D."""
    spectrum = inputs.variance_sums(float(min(N.max(), D.max())))
    along_N = D.size == 1
    sizes, other = (N, float(D[0])) if along_N else (D, float(N[0]))

    def exact(x: float) -> Sharp:
        n, d = (x, other) if along_N else (other, x)
        return sharp_gaussian_loss(spectrum, inputs.dimension, n, d, ridge, noise)

    def leading(x: FloatArray) -> FloatArray:
        return leading_losses(inputs, *((x, D) if along_N else (N, x)), ridge, noise)

    costly = np.full(sizes.size, ridge > 0.0)
    if noise > 0.0 and ridge == 0.0:
        costly = sizes > other + 1.0 if along_N else sizes < other - 1.0
    values = values_between(np.unique(sizes[costly]), exact, leading)
    return [values[float(x)] if float(x) in values else exact(float(x)) for x in sizes]


def values_between(
    x: FloatArray, exact: Callable[[float], Sharp], rough: Callable[[FloatArray], FloatArray]
) -> dict[float, Sharp]:
    """The values at increasing whole x, where exact/rough is smooth."""
    if x.size <= PLACES:
        return {float(size): exact(float(size)) for size in x}
    log_x = np.log(x)
    places = np.log(np.rint(np.exp(chebyshev_places(float(log_x[0]), float(log_x[-1]), PLACES))))
    if np.unique(places).size == PLACES:
        at = [exact(float(size)) for size in np.rint(np.exp(places))]
        names = [name for name in at[-1].terms if name != "leading"]
        rows = [[value.loss, value.error, *(value.terms.get(name, 0.0) for name in names)] for value in at]
        table, scale = np.array(rows), rough(np.rint(np.exp(places)))
        with np.errstate(all="ignore"):
            table[:, 0] /= scale
            table[:, 2:] /= scale[:, None]
        if np.isfinite(table).all() and (table[:, :2] > 0.0).all():
            table[:, :2] = np.log(table[:, :2])
            half = interpolate(places[::2], table[::2, 0], places[1::2])
            if np.max(np.abs(half - table[1::2, 0])) < AGREED:
                return _read(x, interpolate(places, table, log_x), rough(x), names)
    middle = x.size // 2
    return values_between(x[:middle], exact, rough) | values_between(x[middle:], exact, rough)


def _read(x: FloatArray, table: FloatArray, rough: FloatArray, names: list[str]) -> dict[float, Sharp]:
    values = {}
    for size, row, scale in zip(x, table, rough, strict=True):
        loss = float(np.exp(row[0]) * scale)
        terms = dict(zip(names, map(float, row[2:] * scale), strict=True))
        terms = {"leading": loss - sum(terms.values()), **terms}
        values[float(size)] = Sharp(loss, terms, float(np.exp(row[1])))
    return values
