"""How the sums S(k) of single data sets scatter about the closure's, where rare coordinates share samples.

Which coordinate is active in which sample: these choices are independent. Coordinate j with its n samples
brings log(1 + c sum R) to log det(1 + G/k), a sample brings log(1 + Y/k), and one activation log(1 + c r R).
What coordinates explain, and what samples explain, less what both do,

    C(x, x') = sum_j Cov_n + D Cov_sample - D sum_j p (1-p) E[.] E[.],   x = log k,

is the covariance of log det. Each part comes from the closure's transforms, since log(1 + z) = int (1 -
e^{-uz}) e^{-u} dlog u: given n it is int (1 - psi^n) e^{-u} dlog u, averaged over points of n; of a sample it
is a double integral. S = -d/dx of it, so that Cov(S, S') = d^2 C/dx dx'. For k to 0 it is the variance of the
rank. The covariance of S with t is that of the coordinates alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.gram.cavity import STEP, Cavity, CavityState
from sparselaw.gram.counts import WHOLE_COUNTS, cells, count_points, derivative_weights
from sparselaw.gram.nodes import unseen

EVERY = 3  # of the points of the grids: scatter is wanted to a few per cent
SELDOM_SEEN = 1e-7  # coordinates whose expected number of sightings is below this are left out
CELL = 0.5  # width in log p and log c of the cells of coordinates
FREQUENT = 0.1  # p from which on all orders of a sample's coordinate are kept
EVERY_COUNT = 6.0  # mean count up to which every n is a point
LARGEST = 6_000  # coordinates given one by one; more are put together in cells
EQUAL = 0.01  # width of a cell in log p and log c


@dataclass(frozen=True, slots=True)
class CountNodes:
    """Coordinates ``weight``, ``p``, ``c``; points ``coordinate`` (index), ``n``, ``probability``."""

    D: float
    weight: FloatArray
    p: FloatArray
    c: FloatArray
    coordinate: NDArray[np.intp]
    n: FloatArray
    probability: FloatArray

    @property
    def point_weight(self) -> FloatArray:
        """So many coordinates have that count, on average."""
        return np.asarray(self.weight[self.coordinate] * self.probability)

    @property
    def unseen(self) -> FloatArray:
        """(1-p)^D of each coordinate."""
        return unseen(self.p, self.D)


def count_nodes(
    weight: FloatArray, p: FloatArray, c: FloatArray, D: float, every: float = WHOLE_COUNTS
) -> CountNodes:
    """Points for these coordinates; ``every`` is the mean count up to which every n is one."""
    if p.size > LARGEST:
        weight, p, c = cells(weight, p, c, np.full_like(p, EQUAL))
    points = count_points(D * p, p, D, few=every)
    return CountNodes(D, weight, p, c, points.coordinate, points.n, points.chance)


class _Laws:
    """What the double integrals need of one state."""

    def __init__(self, state: CavityState, rows: NDArray[np.intp], points: CountNodes) -> None:
        grid, D, p, c = state.grid, points.D, points.p, points.c[:, None]
        v, w, step = grid.v[0], grid.w[0], EVERY * STEP
        held = state.held[rows]
        decay = np.exp(-np.minimum(v / c, 745.0))
        missed = np.exp(np.maximum((D - 1.0) * np.log1p(-np.minimum(p[:, None] * held, 1.0 - 1e-16)), -745.0))
        h = decay * missed
        below = np.minimum(v[0] / c * STEP / math.expm1(STEP), 1.0)
        r = np.clip((STEP * v / c * h).sum(axis=1, keepdims=True) + below, 1e-300, 1.0)
        size = c * np.where(c < 20.0 * v[0], 1.0, r)
        like_w, like_v = np.exp(-np.minimum(size * w, 745.0)), np.exp(-np.minimum(v / size, 745.0))
        known = np.clip(1.0 - like_w + grid.to_w((h - like_v)[None])[0], 0.0, 1.0)  # 1 - lam
        factors = np.log1p(np.maximum(-p[:, None] * known, -1.0 + 1e-16))
        total = points.weight @ factors
        fade = np.exp(-math.exp(state.log_k) * w)
        self.edges = STEP * (np.exp(total - factors) * fade * known).sum(axis=1)
        self.known, self.total = known[:, ::EVERY], total[::EVERY]
        self.fade = step * fade[::EVERY]
        # given n: log(1 + c sum R) and 1 - r, less their means over n
        at = points.coordinate
        miss = np.log1p(-np.minimum(held[:, ::EVERY], 1.0 - 1e-16))
        met = 1.0 - np.exp(np.maximum(points.n[:, None] * miss[at], -745.0))
        some = decay[:, ::EVERY]
        self.log_det = _centred(step * np.einsum("iv,iv->i", some[at], met), points)
        some = some * v[::EVERY] / c
        self.learnt = _centred(step * np.einsum("iv,iv->i", some[at], met), points)


def _centred(values: FloatArray, points: CountNodes) -> FloatArray:
    means = np.bincount(points.coordinate, points.probability * values, minlength=points.p.size)
    return np.asarray(values - means[points.coordinate])


class CavityScatter:
    """The covariances between cut-offs of D samples, each found once; ``states`` gives fixed points."""

    PLACES = np.arange(-2.0, 3.0)  # about the whole number below log k, that ``at`` asks for

    def __init__(self, cavity: Cavity, D: float, states: Callable[[list[float]], list[CavityState]]) -> None:
        self._states = states
        weight, p, c = cells(cavity.weight, cavity.p, cavity.c, np.full_like(cavity.p, CELL))
        kept = D * p * np.abs(weight) > SELDOM_SEEN
        points = count_nodes(weight[kept], p[kept], c[kept], D, every=EVERY_COUNT)
        singles = cavity.p[: cavity.single]
        nearest = (
            np.argmin(np.abs(np.log(points.p)[:, None] - np.log(singles)), axis=1) if singles.size else 0
        )
        self._rows = np.where(points.p > singles.min(initial=1.0), nearest, cavity.single)
        likely = np.abs(points.point_weight) > SELDOM_SEEN
        self.points = replace(
            points,
            coordinate=points.coordinate[likely],
            n=points.n[likely],
            probability=points.probability[likely],
        )
        self._laws: dict[float, _Laws] = {}
        self._pairs: dict[tuple[float, float], tuple[float, float]] = {}

    def at(self, log_k: float) -> FloatArray:
        """The covariances of ``Scatter`` at log k, less Var M, from the whole numbers about it.

        Two cubics share them by how near log k is to the middle of each, so that nothing jumps.
        """
        lowest = math.floor(log_k) - 2.0
        share = log_k - math.floor(log_k)
        return (1.0 - share) * self._cubic(lowest, log_k) + share * self._cubic(lowest + 1.0, log_k)

    def _cubic(self, lowest: float, log_k: float) -> FloatArray:
        """The same from four places."""
        places = lowest + np.arange(4.0)
        found = [[self._pair(float(x), float(y)) for y in places] for x in places]
        C, K = (
            np.array([[pair[0] for pair in row] for row in found]),
            np.array([[pair[1] for pair in row] for row in found]),
        )
        d = derivative_weights(places, log_k)
        less = d[1] - d[0]  # S = -d log det/dx, M = dt/dx - t
        crossed = -d[1] @ K @ less, -d[1] @ K @ (d[2] - d[1]), -d[2] @ K @ less
        alike = d[1] @ C @ d[1], d[1] @ C @ d[2], d[1] @ C @ d[3], d[2] @ C @ d[2]
        return np.array([*alike, *crossed, 0.0])

    def _pair(self, x: float, y: float) -> tuple[float, float]:
        """Cov of log det at x with log det at y, and with t at y."""
        if (x, y) not in self._pairs:
            points, D = self.points, self.points.D
            weight, p = points.weight, points.p
            a, b = self.law(x), self.law(y)
            chance = points.point_weight
            variance = chance * (p * points.c)[points.coordinate]
            both = float((chance * a.log_det) @ b.log_det)
            crossed, back = (
                -float((variance * a.log_det) @ b.learnt),
                -float((variance * b.log_det) @ a.learnt),
            )
            total = (
                both + _samples(a, b, weight, p, D) - D * float((weight * p * (1.0 - p) * a.edges) @ b.edges)
            )
            self._pairs[x, y], self._pairs[y, x] = (total, crossed), (total, back)
        return self._pairs[x, y]

    def law(self, x: float) -> _Laws:
        """What the integrals need at one cut-off."""
        if x not in self._laws:
            self._laws[x] = _Laws(self._states([x])[0], self._rows, self.points)
        return self._laws[x]


def _samples(a: _Laws, b: _Laws, weight: FloatArray, p: FloatArray, D: float) -> float:
    """D Cov over the coordinates of a sample of log(1 + Y/k).

    With q = lam lam' a coordinate has the factor 1 - p (1 - q): the frequent ones as they are, the others by
    the series of its logarithm, which are sums of powers of q.
    """
    few = p > FREQUENT
    x, y, some = 1.0 - a.known[~few], 1.0 - b.known[~few], weight[~few]
    orders = [some * p[~few] ** m / m for m in (1, 2, 3)]
    together = np.full((x.shape[1], y.shape[1]), -float(sum(order.sum() for order in orders)))
    for m, shares in enumerate(((1, 2, 3), (0, -1, -3), (0, 0, 1)), 1):
        mix = sum(share * order for share, order in zip(shares, orders, strict=True))
        together += (mix * (x**m).T) @ y**m
    for i in np.flatnonzero(few):
        q = np.multiply.outer(1.0 - a.known[i], 1.0 - b.known[i])
        together += weight[i] * np.log(np.maximum(1.0 - p[i] * (1.0 - q), 1e-16))
    covariance = np.exp(together) - np.exp(a.total[:, None] + b.total)
    return D * float(a.fade @ covariance @ b.fade)
