"""Rare coordinates that share samples: the cavity closure, without sampling.

A sample in which coordinate j is active says the more of it the less is unknown about its other
coordinates. With cut-off k a sample holds back R = 1/(k + Y), Y = sum of c_i r_i over its other
coordinates, and what is left unknown of coordinate j is r_j = 1/(1 + c_j sum R) over its n_j samples. R =
1/k is the leading surface. Then

    S(k) = E sum_j (1 - r_j) = N,     t(k) = E sum_j s_j r_j,     loss = k N (t/k)' / S',

and above the rank k = 0 and t is the variance that the data leave open. The law of Y is known by its
Laplace transform (``cavity_grid``). For few samples of a coordinate the mean of r is taken over the law of
all their R; for many, one R fluctuates and the others stand at their mean Q = E R: with b = 1 + c (n-1) Q,

    r(n) = rbar + n (E[1/(b + c R)] - rbar),  rbar = 1/(1 + c n Q),  kept within [rbar, 1].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.sums.count_nodes import cells, count_nodes
from sparselaw.theory.cavity_grid import BLOCK, CavityGrid

TOLERANCE = 3e-6
ROUNDS = 120
OUTER = 14
FREQUENT, RARE = 0.2, 0.6  # widths of the cells in log p: coordinates seldom seen at all need fewer
EVERY = 12.0  # mean count up to which every n is a point
EXACT = 100  # samples of a coordinate up to which the law of all their R enters
STRIDE = 0.1  # in log k, for the derivatives
DEEPEST = 20.0  # in log k below the leading cut-off: lower, N is at the rank


@dataclass(frozen=True, slots=True)
class CavityState:
    """The fixed point at one cut-off, with the same sums for R = 1/k on the same points."""

    log_k: float
    S: float
    t: float
    plain_S: float
    plain_t: float
    r: FloatArray


class Cavity:
    """The closure for D samples of coordinates (weight, p, c)."""

    def __init__(self, weight: FloatArray, p: FloatArray, c: FloatArray, D: float) -> None:
        nodes = count_nodes(*cells(weight, p, c, np.where(D * p > 0.02, FREQUENT, RARE)), D, every=EVERY)
        order = np.argsort(nodes.coordinate, kind="stable")
        self.p, self.coordinate_weight, self.coordinate_c = nodes.p, nodes.weight, nodes.c
        self.coordinate: NDArray[np.int64] = nodes.coordinate[order]
        self.n, self.probability = nodes.n[order], nodes.probability[order]
        self.starts: NDArray[np.int64] = np.searchsorted(self.coordinate, np.arange(nodes.p.size))
        self.weight = nodes.weight[self.coordinate] * self.probability
        self.c = nodes.c[self.coordinate]
        self.s = (nodes.p * nodes.c)[self.coordinate]
        self.largest = float(nodes.c[nodes.p * D > 1e-6].max())
        self._few = (self.n > 0.0) & (self.n <= EXACT)
        self._many = self.n > EXACT
        self._grids: dict[int, CavityGrid] = {}

    def at(self, log_k: float, warm: FloatArray | None = None) -> CavityState:
        """The fixed point at k, sought from ``warm``, one that is near."""
        return self._iterate(log_k, warm)

    def solve(self, N: float, log_k: float, warm: FloatArray | None = None) -> CavityState | None:
        """The fixed point with S = N, sought from log_k; None where N is not below the rank."""
        state = self.at(log_k, warm)
        slope = -float(self.weight @ (state.r[0] * (1.0 - state.r[0])))
        for _ in range(OUTER):
            if abs(state.S / N - 1.0) < 1e-5:
                return state
            step = max(-2.0, min(2.0, (N - state.S) / slope)) if slope < 0.0 else -2.0
            if state.log_k + step < log_k - DEEPEST:
                return None
            following = self.at(state.log_k + step, state.r)
            if following.S != state.S:
                slope = min((following.S - state.S) / step, 0.2 * slope)  # the secant, never much flatter
            state = following
        return state if abs(state.S / N - 1.0) < 1e-3 else None

    def slopes(self, state: CavityState) -> tuple[float, float]:
        """dS/dx and dt/dx along x = log k."""
        low, high = (self.at(state.log_k + sign * STRIDE, state.r) for sign in (-1.0, 1.0))
        return (high.S - low.S) / (2.0 * STRIDE), (high.t - low.t) / (2.0 * STRIDE)

    def _iterate(self, log_k: float, warm: FloatArray | None) -> CavityState:
        r = self._plain(log_k) if warm is None else warm
        for _ in range(ROUNDS):
            new = self._update(log_k, r)
            counts = self.weight * (1.0 - new[0]) > 1e-9
            moved = float(np.max(np.abs(np.log(new[0] / r[0])) * counts))
            r = 0.5 * (new + r) if moved > 3e-3 else new
            if moved < TOLERANCE:
                break
        plain = self._plain(log_k)[0]
        variance = self.weight * self.s
        return CavityState(
            log_k=log_k,
            S=float(self.weight @ (1.0 - r[0])),
            t=float(variance @ r[0]),
            plain_S=float(self.weight @ (1.0 - plain)),
            plain_t=float(variance @ plain),
            r=r,
        )

    def _plain(self, log_k: float) -> FloatArray:
        r = 1.0 / (1.0 + self.n * np.exp(np.log(self.c) - log_k))
        return np.stack([r, r, r, np.ones_like(r)])

    def _update(self, log_k: float, r: FloatArray) -> FloatArray:
        grid = self._grid(log_k)
        k = math.exp(log_k)
        transform = self._transforms(r, grid.w) * np.exp(-k * grid.w)
        Q = grid.mean(transform)[self.coordinate]
        rbar = 1.0 / (1.0 + self.c * self.n * Q)
        b = np.maximum(1.0 + self.c * (self.n - 1.0) * Q, 1e-300)
        few, many = self._few, self._many
        new = np.ones_like(rbar)
        moments = grid.several(transform, self.coordinate[few], self.n[few], self.coordinate_c)
        new[few] = moments[0]
        one = grid.fluctuating(transform, self.coordinate[many], self.c[many] / b[many]) / b[many]
        new[many] = rbar[many] + self.n[many] * (one - rbar[many])
        new = np.where(self.n == 0.0, 1.0, np.clip(new, rbar, 1.0))
        law = np.stack([new, new, new, np.ones_like(new)])
        law[1:, few] = two_points(*moments)
        return law

    def _transforms(self, r: FloatArray, w: FloatArray) -> FloatArray:
        """E e^{-wY}, Y of the coordinates of a sample other than this one: a row for each coordinate."""
        _, low, high, share = r
        kept = (self.probability * share)[:, None] * np.exp(np.multiply.outer(self.c * high, -w))
        few = self._few
        rest = (self.probability * (1.0 - share))[few, None]
        kept[few] += rest * np.exp(np.multiply.outer((self.c * low)[few], -w))
        mean = np.add.reduceat(kept, self.starts, axis=0)
        factors = np.log1p(np.maximum(self.p[:, None] * (mean - 1.0), -1.0 + 1e-16))
        return np.asarray(np.exp(np.minimum(self.coordinate_weight @ factors - factors, 0.0)))

    def _grid(self, log_k: float) -> CavityGrid:
        block = math.floor(log_k / BLOCK)
        if block not in self._grids:
            self._grids[block] = CavityGrid(block * BLOCK, self.largest)
        return self._grids[block]


def two_points(m1: FloatArray, m2: FloatArray, m3: FloatArray) -> FloatArray:
    """Two values in [0, 1] and the share of the higher one with these three moments (Gauss's quadrature)."""
    spread = np.sqrt(np.maximum(m2 - m1 * m1, 1e-24))
    skew = (m3 - 3.0 * m1 * m2 + 2.0 * m1**3) / spread**3
    root = np.sqrt(1.0 + 0.25 * skew * skew)
    low = np.clip(m1 + spread * (0.5 * skew - root), 0.0, m1)
    high = np.clip(m1 + spread * (0.5 * skew + root), m1, 1.0)
    flat = high - low < 1e-9
    share = np.where(flat, 1.0, (m1 - low) / np.where(flat, 1.0, high - low))
    return np.stack([low, high, share])
