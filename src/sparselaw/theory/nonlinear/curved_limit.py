"""The losses of dense inputs where the odd part of f is not linear: coordinates are vectors among others.

With r = nu/(K + nu) and tr(1 - r) = D, b = tr (1 - r)^2,

    L_D = sum_j <x_j, r^2 x_j> / (1 - b/D),    added by finitely many features: sum_j <x_j, r x_j> D/(N - D),

which are the formulas of ``gaussian_limit`` where each x_j has one eigenvalue. N features see types too.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import Inputs
from sparselaw.sums.roots import solve_decreasing
from sparselaw.theory.nonlinear.curved_tables import curved_table
from sparselaw.theory.nonlinear.gaussian_tables import (
    FINER,
    FURTHER,
    MAIN_NODES,
    NODES,
    Level,
    level_of,
)
from sparselaw.theory.nonlinear.limit import NonlinearLimit
from sparselaw.theory.nonlinear.response import Response
from sparselaw.theory.nonlinear.sector_tables import SectorTable
from sparselaw.theory.nonlinear.unit_types import unit_types
from sparselaw.theory.nonlinear.width_limit import width_limit

SHARED = 0.3  # of what further types change: how far off that may be
ALIKE = 0.7  # of what the points leave out: large samples weigh much there, and are few


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
    error = math.hypot(ALIKE * points, SHARED * further, 0.5 * fine.correction, 0.03)
    return NonlinearLimit(size=N, loss=loss * math.exp(further), error=error, linear=fine.linear)


def curved_data(inputs: Inputs, response: Response, D: float) -> NonlinearLimit:
    """The loss of infinitely many features on D samples."""
    level, cutoff = level_of(D), curved_cutoff(inputs, response, D)
    found = _resolved(inputs, response, level, cutoff)
    loss = found.twice / (1.0 - found.squares / D)
    points = math.log(found.twice / _sums(_plain(inputs, response, *level.main), inputs, cutoff).twice)
    error = math.hypot(ALIKE * points, 0.05)
    return NonlinearLimit(size=D, loss=loss, error=error, linear=found.spent)


def curved_spill(inputs: Inputs, response: Response, D: float) -> float:
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
    total = inputs.variance_sums(1.0).total()
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
