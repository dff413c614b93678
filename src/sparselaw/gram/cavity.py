"""Rare coordinates that share samples: the cavity closure, without sampling.

A sample in which coordinate j is active says the more of it the less is unknown about its other
coordinates. With cut-off k a sample holds back R = 1/(k + Y), Y = sum of c_i r_i over its other
coordinates, and what is left unknown of coordinate j is r_j = 1/(1 + c_j sum R) over its n_j samples. R =
1/k is the leading surface. Then

    S(k) = E sum_j (1 - r_j) = N,     t(k) = E sum_j s_j r_j,

and above the rank k = 0 and t is the variance that the data leave open. The laws of R and Y are kept by
their Laplace transforms, which are each other's Hankel transforms (``hankel``): with psi_i(v) = E e^{-vR}
seen from coordinate i and lam_i(w) = E e^{-w c_i r_i} seen from a sample,

    lam_i = reciprocal of  e^{-v/c_i} (1 - p_i (1 - psi_i(v)))^(D-1),
    psi_i = reciprocal of  e^{-kw} prod_{j != i} (1 - p_j + p_j lam_j(w)),
    E r_i = int_0^inf e^{-u} (1 - p_i (1 - psi_i(c_i u)))^D du,

because counts are binomial. No law is cut short: for trees of samples and coordinates this is exact. Also S
= D (1 - k E R) with all coordinates in Y, which checks the numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.gram.cavity_laws import BLOCK, LawGrid, make_cells
from sparselaw.gram.hankel import STEP
from sparselaw.sums.unseen import unseen

TOLERANCE = 1e-6
ROUNDS = 200
MEMORY = 4  # of Anderson's mixing
BARELY = 1e-9  # of one: weight of what is hardly felt in the mixing
DAMPING = 1e-10  # of the mixing: rounding is not magnified by more than its root
LOWEST = -40.0  # logarithms of transforms below this are as good as zero


@dataclass(frozen=True, slots=True)
class CavityState:
    """The fixed point at one cut-off."""

    log_k: float
    S: float
    t: float
    checked: float  # S by samples over S by coordinates
    grid: LawGrid
    law: FloatArray  # log prod (1 - p + p lam), and the factors of the coordinates kept singly
    held: FloatArray  # 1 - psi: of those kept singly, and of all others


class Cavity:
    """The closure for D samples of coordinates (weight, p, c)."""

    def __init__(self, weight: FloatArray, p: FloatArray, c: FloatArray, D: float) -> None:
        self.cells, self.D = make_cells(weight, p, c, D), D
        self._grids: dict[int, LawGrid] = {}
        self._states: dict[float, CavityState] = {}

    def at(self, log_k: float) -> CavityState:
        """The fixed point at k, always sought from the same start: nothing asked for before changes a bit."""
        if log_k not in self._states:
            self._states[log_k] = self._solve(log_k)
        return self._states[log_k]

    @property
    def unseen(self) -> float:
        """The unseen variance of the cells."""
        of = self.cells
        return float((of.weight * of.p * of.c) @ unseen(of.p, self.D))

    def plain(self, log_k: float) -> tuple[float, float]:
        """S and t with R = 1/k."""
        of = self.cells
        learnt = self._plain(self._grid(log_k), math.exp(log_k))
        return float(of.weight @ learnt), float((of.weight * of.p * of.c) @ (1.0 - learnt))

    def _solve(self, log_k: float) -> CavityState:
        grid, k = self._grid(log_k), math.exp(log_k)
        law = self._start(grid, k)
        fade = np.exp(-k * grid.w)
        mixed = _Anderson(fade)
        for _ in range(ROUNDS):
            new = self._update(grid, k, law)
            moved = float(np.max(np.abs(np.exp(new[0]) - np.exp(law[0])) * fade))
            if moved < TOLERANCE:
                law = new
                break
            law = np.clip(mixed.next(law, new), LOWEST, 0.0)
        held = self._held(grid, k, law)
        return self._state(log_k, grid, law, held)

    def _start(self, grid: LawGrid, k: float) -> FloatArray:
        """The law of Y in an effective medium: every coordinate has its mean count, every sample the same R.

        Then D (1 - k R) = sum D p c R/(1 + D p c R), which has one root between 0 and 1/k.
        """
        of, D = self.cells, self.D
        strength = D * of.p * of.c
        low, high = -40.0, 0.0  # of log(k R)
        for _ in range(24):
            middle = 0.5 * (low + high)
            R = math.exp(middle) / k
            taken = float(of.weight @ (strength * R / (1.0 + strength * R)))
            low, high = (middle, high) if D * (1.0 - k * R) > taken else (low, middle)
        left = of.c / (1.0 + strength * math.exp(low) / k)
        gone = np.expm1(-np.minimum(np.multiply.outer(left, grid.w), 745.0))
        factors = np.log1p(np.maximum(of.p[:, None] * gone, -1.0 + 1e-16))
        law = np.concatenate([(of.weight @ factors)[None], factors[: of.single]])
        return np.asarray(np.clip(law, LOWEST, 0.0))

    def _held(self, grid: LawGrid, k: float, law: FloatArray) -> FloatArray:
        """1 - psi of R without each coordinate kept singly, and with all of them."""
        rest = law[0] - np.concatenate([law[1:], np.zeros((1, grid.w.size))])
        known = np.exp(np.minimum(rest, 0.0) - k * grid.w)
        Q = known @ (STEP * grid.w) + grid.w[0] * (1.0 - 0.5 * STEP)  # E R
        like = np.exp(-np.minimum(grid.w / Q[:, None], 745.0))
        psi_like = np.exp(-np.minimum(grid.v * Q[:, None], 745.0))
        return np.asarray(np.clip(1.0 - psi_like + grid.to_v(known - like), 0.0, 1.0))

    def _update(self, grid: LawGrid, k: float, law: FloatArray) -> FloatArray:
        of, held = self.cells, self._held(grid, k, law)
        single, often = of.single, of.often
        h = grid.decay[:often] * self._missed(held, self.D - 1.0)
        r = np.clip((STEP * grid.v / of.c[:often, None] * h).sum(axis=1) + grid.below[:often], 1e-300, 1.0)
        r = np.where(grid.faint[:often], 1.0, r)
        size = of.c[:often] * r
        like_w = np.exp(-np.minimum(np.multiply.outer(size, grid.w), 745.0))
        like_v = np.exp(-np.minimum(grid.v / size[:, None], 745.0))
        some = (of.weight * of.p)[single:often]
        rare_w, rare_v = self._seldom(grid, held[-1])
        rare_v += some @ (h[single:] - like_v[single:])
        unlike = grid.to_w(np.concatenate([h[:single] - like_v[:single], rare_v[None]]))
        lam = np.clip(like_w[:single] - unlike[:single], 1e-300, 1.0)
        factors = np.log1p(np.maximum(of.p[:single, None] * (lam - 1.0), -1.0 + 1e-16))
        rare = some @ (1.0 - like_w[single:]) + rare_w + unlike[single]
        total = of.weight[:single] @ factors - rare
        return np.asarray(np.clip(np.concatenate([total[None], factors]), LOWEST, 0.0))

    def _seldom(self, grid: LawGrid, held: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coordinates seldom seen, to second order in their counts: their part of w, and of v to transform.

        A difference of two exponentials takes the slope at w = 0 out of what is transformed.
        """
        lost = held * grid.seldom[1] - held**2 * grid.seldom[2]
        slope = float((STEP * grid.v) @ lost)
        scale = slope / max(float(lost.sum() * STEP), 1e-300)
        if not scale > 0.0:
            return grid.seldom_w.copy(), -lost
        near, far = (np.exp(-np.minimum(grid.v * a / scale, 745.0)) for a in (1.0, 2.0))
        near_w, far_w = (np.exp(-np.minimum(grid.w * scale / a, 745.0)) for a in (1.0, 2.0))
        share = 2.0 * slope / scale
        return grid.seldom_w - share * (far_w - near_w), share * (near - far) - lost

    def _missed(self, held: FloatArray, samples: float) -> FloatArray:
        """(1 - p (1 - psi))^samples of the coordinates seen often."""
        of = self.cells
        p = of.p[: of.often, None]
        rest = np.broadcast_to(held[-1], (of.often - of.single, held.shape[1]))
        inside = np.maximum(p * np.concatenate([held[:-1], rest]), 0.0)
        return np.asarray(np.exp(np.maximum(samples * np.log1p(-np.minimum(inside, 1.0 - 1e-16)), -745.0)))

    def _state(self, log_k: float, grid: LawGrid, law: FloatArray, held: FloatArray) -> CavityState:
        of, D, k = self.cells, self.D, math.exp(log_k)
        often, seldom = slice(None, of.often), slice(of.often, None)
        learnt = np.empty_like(of.p)
        learnt[often] = 1.0 - (grid.mean[often] * self._missed(held, D)).sum(axis=1) - grid.below[often]
        count = D * of.p[seldom]
        one, two = grid.mean[seldom] @ held[-1], grid.mean[seldom] @ held[-1] ** 2
        learnt[seldom] = count * one - 0.5 * count**2 * two
        Q = float(np.exp(law[0] - k * grid.w) @ (STEP * grid.w)) + grid.w[0] * (1.0 - 0.5 * STEP)
        faint = D * of.p * of.c * Q
        learnt = np.where(grid.faint, faint / (1.0 + faint), np.clip(learnt, 0.0, 1.0))
        variance = of.weight * of.p * of.c
        S = float(of.weight @ learnt)
        return CavityState(
            log_k=log_k,
            S=S,
            t=float(variance @ (1.0 - learnt)),
            checked=D * (1.0 - k * Q) / S,
            grid=grid,
            law=law,
            held=held,
        )

    def _plain(self, grid: LawGrid, k: float) -> FloatArray:
        """1 - r with R = 1/k: E nc/(nc + k)."""
        of = self.cells
        p = np.minimum(of.p[:, None], 1.0 - 1e-16)
        held = -np.expm1(-np.minimum(grid.v / k, 745.0))
        missed = np.exp(np.maximum(self.D * np.log1p(-p * held), -745.0))
        often = np.arange(of.p.size) < of.often
        learnt = (grid.mean * np.where(often[:, None], missed, 1.0 - missed)).sum(axis=1)
        learnt = np.where(often, 1.0 - learnt - grid.below, learnt)
        faint = self.D * of.p * of.c / k
        return np.where(grid.faint, faint / (1.0 + faint), np.clip(learnt, 0.0, 1.0))

    def _grid(self, log_k: float) -> LawGrid:
        block = math.floor(log_k / BLOCK)
        if block not in self._grids:
            self._grids[block] = LawGrid(self.cells, self.D, block * BLOCK)
        return self._grids[block]


class _Anderson:
    """Anderson's mixing of a fixed-point iteration, by the first row of the law.

    Steps are compared where the transform of R is felt, by e^{law} e^{-kw}: the logarithms of what is as good
    as zero move by far more, and would take the mixing over.
    """

    def __init__(self, fade: FloatArray) -> None:
        self._fade = fade
        self._steps: list[FloatArray] = []
        self._moves: list[FloatArray] = []

    def next(self, old: FloatArray, new: FloatArray) -> FloatArray:
        felt = np.exp(new[0]) * self._fade + BARELY
        self._steps = [*self._steps, new][-MEMORY:]
        self._moves = [*self._moves, new[0] - old[0]][-MEMORY:]
        if len(self._moves) < 2:
            return new
        last = self._moves[-1]
        differences = np.stack([last - move for move in self._moves[:-1]], axis=1) * felt[:, None]
        gram = differences.T @ differences
        gram[np.diag_indices_from(gram)] += DAMPING * np.trace(gram) + 1e-300
        shares = np.linalg.solve(gram, differences.T @ (last * felt))
        mixed = (1.0 - float(shares.sum())) * new
        for share, step in zip(shares, self._steps[:-1], strict=True):
            mixed += share * step
        return np.asarray(mixed)
