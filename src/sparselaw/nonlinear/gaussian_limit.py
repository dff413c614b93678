"""The loss of nonlinear features of dense Gaussian inputs: N-limited, D-limited, and between.

Features and samples play the same part: with T(k) = sum v/(v+k) + sum l/(l + k/4), l the eigenvalues of the
even kernel, D samples resolve T(k) = D and leave

    L_D = k^2 sum v/(v+k)^2 / (1 - b/D),    b the sum of the squares of the terms of T.

N features see types too (``width_limit``), which samples do as well but hardly matter there. Between them

    N > D: loss = L_D + k_D T_lin(k_D) D/(N - D - 1),    N < D: see ``leverage``.

Where the odd part of f is not linear the coordinates are vectors among others (``curved_``...). With
r = nu/(K + nu) and tr(1 - r) = D, b = tr (1 - r)^2,

    L_D = sum_j <x_j, r^2 x_j> / (1 - b/D),    N > D: loss = L_D + sum_j <x_j, r x_j> D/(N - D - 1),

which are the formulas above where each x_j has one eigenvalue.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import Inputs
from sparselaw.nonlinear.gaussian_tables import (
    FINER,
    FURTHER,
    LEVELS,
    MAIN_NODES,
    NODES,
    Level,
    curved_table,
    further_gaussian_tables,
    level_of,
    main_gaussian_table,
    missing_share,
    resolved,
)
from sparselaw.nonlinear.response import Response
from sparselaw.nonlinear.sector_tables import SectorTable, unit_types
from sparselaw.nonlinear.variance_sums import variance_sums
from sparselaw.nonlinear.width_limit import NonlinearLimit, between_nodes, width_limit
from sparselaw.search import solve_decreasing

MOST = LEVELS[-1].most  # directions that the points resolve
MOST_TYPED = LEVELS[0].most  # and that they resolve with types
SHARED = 0.3  # of what further types change: how far off that may be
ALIKE = 0.15  # of what the points leave out
CURVED_ALIKE = 0.7  # the same for a curved odd part: large samples weigh much there, and are few
DATA_ERROR = 0.07


def gaussian_features_limit(inputs: Inputs, response: Response, N: float) -> NonlinearLimit:
    """The loss of N features with all the data there are, between those of two nodes."""
    return between_nodes(lambda node: gaussian_limit_at(inputs, response, node), N)


@functools.lru_cache(maxsize=4096)
def gaussian_limit_at(inputs: Inputs, response: Response, N: float) -> NonlinearLimit:
    """The same at N itself; beyond MOST_TYPED the exponent there goes on."""
    if N > MOST_TYPED:
        half = _features_at(inputs, response, MOST_TYPED / 2.0)
        return _features_at(inputs, response, MOST_TYPED).continued(half, N)
    return _features_at(inputs, response, N)


@functools.lru_cache(maxsize=4096)
def gaussian_data_limit(inputs: Inputs, response: Response, D: float) -> NonlinearLimit:
    """The loss of infinitely many features on D samples."""
    if D > MOST:
        return _data_at(inputs, response, MOST).continued(_data_at(inputs, response, MOST / 2.0), D)
    return _data_at(inputs, response, D)


def gaussian_variance_term(inputs: Inputs, response: Response, D: float) -> float:
    """k_D T_lin(k_D): what finitely many features add above the peak, in units of D/(N - D - 1)."""
    size, scale = min(D, MOST), 1.0
    if D > MOST:
        scale = (
            gaussian_data_limit(inputs, response, D).loss / gaussian_data_limit(inputs, response, MOST).loss
        )
    if response.slope is None:
        return scale * curved_variance_term(inputs, response, size)
    k = _cutoff(inputs, response, size)
    return scale * k * variance_sums(inputs, size).degrees(math.log(k))[0]


def _features_at(inputs: Inputs, response: Response, N: float) -> NonlinearLimit:
    if response.slope is None:
        return curved_features(inputs, response, N)
    cutoff, level, part = _cutoff(inputs, response, N) / 4.0, level_of(N), response.parts[0]
    weight = response.even_weight
    missing = missing_share(inputs, part, level, cutoff / weight)
    plain = width_limit(inputs, main_gaussian_table(inputs, part, level), N, weight, missing, cutoff)
    first, *others = (
        width_limit(inputs, table, N, weight, 0.0, cutoff).loss
        for table in further_gaussian_tables(inputs, part, level)
    )
    further = sum(math.log(other / first) for other in others)
    error = math.hypot(ALIKE * missing, SHARED * further, 0.5 * plain.correction, 0.015)
    return NonlinearLimit(size=N, loss=plain.loss * math.exp(further), error=error, linear=plain.linear)


def _data_at(inputs: Inputs, response: Response, D: float) -> NonlinearLimit:
    if response.slope is None:
        return curved_data(inputs, response, D)
    k, part = _cutoff(inputs, response, D), response.parts[0]
    linear, df1_df2 = variance_sums(inputs, D).degrees(math.log(k))
    squares = linear - df1_df2 + resolved(inputs, part, level_of(D), k / (4.0 * response.even_weight))[1]
    return NonlinearLimit(size=D, loss=k * df1_df2 / (1.0 - squares / D), error=DATA_ERROR, linear=linear)


@functools.lru_cache(maxsize=4096)
def _cutoff(inputs: Inputs, response: Response, size: float) -> float:
    """k with T_lin(k) + T_even(k/4) = size."""
    sums, level, part = variance_sums(inputs, size), level_of(size), response.parts[0]

    def spent(log_k: float) -> tuple[float, float]:
        linear, df1_df2 = sums.degrees(log_k)
        even, squares = resolved(inputs, part, level, math.exp(log_k) / (4.0 * response.even_weight))
        return linear + even, -df1_df2 - (even - squares)

    return math.exp(solve_decreasing(spent, size, -1.5 * math.log(size)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """Sums at one cut-off: tr f, tr f^2, what r and what r^2 leave of the coordinates; f = 1 - r."""

    spent: float
    squares: float
    once: float
    twice: float


def curved_features(inputs: Inputs, response: Response, N: float) -> NonlinearLimit:
    """The loss of N features with all the data there are; what the points leave out falls as 1/n."""
    level, cutoff = level_of(N), curved_cutoff(inputs, response, N)
    n, q = level.main
    coarse, fine = (
        width_limit(inputs, _typed(inputs, response, k * n, q, 0, MAIN_NODES), N, 1.0, 0.0, cutoff)
        for k in (1, FINER)
    )
    first, *others = (
        width_limit(inputs, _typed(inputs, response, *level.coarse, j, NODES), N, 1.0, 0.0, cutoff).loss
        for j in (0, *(j for j in FURTHER if j <= inputs.dimension))
    )
    further = sum(math.log(other / first) for other in others)
    loss = _limit(coarse.loss, fine.loss)
    points = math.log(loss / coarse.loss)
    error = math.hypot(CURVED_ALIKE * points, SHARED * further, 0.5 * fine.correction, 0.03)
    return NonlinearLimit(size=N, loss=loss * math.exp(further), error=error, linear=fine.linear)


def curved_data(inputs: Inputs, response: Response, D: float) -> NonlinearLimit:
    """The loss of infinitely many features on D samples."""
    level, cutoff = level_of(D), curved_cutoff(inputs, response, D)
    found = _resolved(inputs, response, level, cutoff)
    loss = found.twice / (1.0 - found.squares / D)
    points = math.log(found.twice / _sums(_plain(inputs, response, *level.main), inputs, cutoff).twice)
    error = math.hypot(CURVED_ALIKE * points, 0.05)
    return NonlinearLimit(size=D, loss=loss, error=error, linear=found.spent)


def curved_variance_term(inputs: Inputs, response: Response, D: float) -> float:
    return _resolved(inputs, response, level_of(D), curved_cutoff(inputs, response, D)).once


@functools.lru_cache(maxsize=4096)
def curved_cutoff(inputs: Inputs, response: Response, size: float) -> float:
    """nu with tr f = size."""
    level = level_of(size)

    def spent(log_nu: float) -> tuple[float, float]:
        found = _resolved(inputs, response, level, math.exp(log_nu))
        return found.spent, found.squares - found.spent

    return math.exp(solve_decreasing(spent, size, -1.5 * math.log(size) - math.log(4.0)))


def _resolved(inputs: Inputs, response: Response, level: Level, cutoff: float) -> Resolved:
    """In the limit of many points; the error goes as 1/n."""
    n, q = level.main
    coarse, fine = (_sums(_plain(inputs, response, k * n, q), inputs, cutoff) for k in (1, FINER))
    return Resolved(
        spent=_limit(coarse.spent, fine.spent),
        squares=_limit(coarse.squares, fine.squares),
        once=_limit(coarse.once, fine.once),
        twice=_limit(coarse.twice, fine.twice),
    )


def _limit(coarse: float, fine: float) -> float:
    return max(fine + (fine - coarse) / (FINER - 1.0), 0.3 * fine)


def _sums(eigen: _Eigen, inputs: Inputs, cutoff: float) -> Resolved:
    values, often, weights = eigen.values, eigen.often, eigen.weights
    r = cutoff / (np.maximum(values, 0.0) + cutoff)
    total = variance_sums(inputs, 1.0).total()
    return Resolved(
        spent=float(often @ (1.0 - r)),
        squares=float(often @ (1.0 - r) ** 2),
        once=total - float(weights @ (1.0 - r)),
        twice=total - float(weights @ (1.0 - r**2)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Eigen:
    values: FloatArray
    often: FloatArray
    weights: FloatArray  # of the coordinates' variance, along each


@functools.lru_cache(maxsize=32)
def _plain(inputs: Inputs, response: Response, n: int, q: int) -> _Eigen:
    """Without types: eigenvalues, how often each occurs, and what of the coordinates lies along them."""
    table = curved_table(inputs, response.parts, n, q, unit_types(False))
    values, often, weights = [], [], []
    for group in table.groups:
        found, vectors = np.linalg.eigh(group.mean(table.types.weights))
        along = np.zeros_like(found)
        if group.target is not None:
            along = group.alike[:, None] * np.einsum("cij,ci->cj", vectors, group.target) ** 2
        values.append(found.ravel())
        often.append(np.repeat(group.alike, found.shape[1]))
        weights.append(along.ravel())
    return _Eigen(*(np.concatenate(x) for x in (values, often, weights)))


@functools.lru_cache(maxsize=16)
def _typed(
    inputs: Inputs, response: Response, n: int, q: int, other: int, nodes: tuple[int, int]
) -> SectorTable:
    return curved_table(inputs, response.parts, n, q, unit_types(True, other, nodes))
