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
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.gram.cavity import STEP, Cavity, CavityState
from sparselaw.gram.counts import CountNodes, count_nodes, derivative_weights

EVERY = 3  # of the points of the grids: scatter is wanted to a few per cent
SELDOM_SEEN = 1e-7  # coordinates whose expected number of sightings is below this are left out
EVERY_COUNT = 12.0  # mean count up to which every n is a point


class _Laws:
    """What the double integrals need of one state."""

    def __init__(
        self, cavity: Cavity, state: CavityState, kept: NDArray[np.int64], points: CountNodes
    ) -> None:
        grid, of, D = state.grid, cavity.cells, cavity.D
        step = EVERY * STEP
        rest = np.broadcast_to(state.held[-1], (of.p.size - of.single, grid.v.size))
        held = np.concatenate([state.held[:-1], rest])[kept]
        p, c = of.p[kept], of.c[kept]
        missed = np.exp(np.maximum((D - 1.0) * np.log1p(-np.minimum(p[:, None] * held, 1.0 - 1e-16)), -745.0))
        h = grid.decay[kept] * missed
        r = np.clip((STEP * grid.v / c[:, None] * h).sum(axis=1) + grid.below[kept], 1e-300, 1.0)
        size = c * np.where(grid.faint[kept], 1.0, r)
        like_w = np.exp(-np.minimum(np.multiply.outer(size, grid.w), 745.0))
        like_v = np.exp(-np.minimum(grid.v / size[:, None], 745.0))
        known = np.clip(1.0 - like_w + grid.to_w(h - like_v), 0.0, 1.0)  # 1 - lam
        factors = np.log1p(np.maximum(-p[:, None] * known, -1.0 + 1e-16))
        total = of.weight[kept] @ factors
        fade = np.exp(-math.exp(state.log_k) * grid.w)
        self.edges = STEP * (np.exp(total - factors) * fade * known).sum(axis=1)
        self.known, self.total = known[:, ::EVERY], total[::EVERY]
        self.fade = step * fade[::EVERY]
        # given n: log(1 + c sum R) and 1 - r, less their means over n
        at = points.coordinate
        miss = np.log1p(-np.minimum(held[:, ::EVERY], 1.0 - 1e-16))
        met = -np.expm1(np.maximum(points.n[:, None] * miss[at], -745.0))
        self.log_det = _centred(step * np.einsum("iv,iv->i", grid.decay[kept][:, ::EVERY][at], met), points)
        self.learnt = _centred(EVERY * np.einsum("iv,iv->i", grid.mean[kept][:, ::EVERY][at], met), points)


def _centred(values: FloatArray, points: CountNodes) -> FloatArray:
    means = np.bincount(points.coordinate, points.probability * values, minlength=points.p.size)
    return np.asarray(values - means[points.coordinate])


class CavityScatter:
    """The covariances between cut-offs of one cavity, each found once."""

    def __init__(self, cavity: Cavity) -> None:
        of = cavity.cells
        self._cavity = cavity
        self._kept: NDArray[np.int64] = np.flatnonzero(cavity.D * of.p * np.abs(of.weight) > SELDOM_SEEN)
        p = of.p[self._kept]
        points = count_nodes(of.weight[self._kept], p, of.c[self._kept], cavity.D, every=EVERY_COUNT)
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
        self._cavity.many((lowest + np.arange(5.0)).tolist())  # side by side, before each is asked for
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
            points, D = self.points, self._cavity.D
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
            self._laws[x] = _Laws(self._cavity, self._cavity.at(x), self._kept, self.points)
        return self._laws[x]


def _samples(a: _Laws, b: _Laws, weight: FloatArray, p: FloatArray, D: float) -> float:
    """D Cov over the coordinates of a sample of log(1 + Y/k)."""
    few = p > 5e-3
    some = (weight * p)[~few]
    x, y = a.known[~few], b.known[~few]
    together = (some * x.T) @ y - (some @ x)[:, None] - some @ y
    for i in np.flatnonzero(few):
        x, y = a.known[i][:, None], b.known[i]
        together = together + weight[i] * np.log1p(np.maximum(-p[i] * (x + y - x * y), -1.0 + 1e-16))
    covariance = np.exp(together) - np.exp(a.total[:, None] + b.total)
    return D * float(a.fade @ covariance @ b.fade)
