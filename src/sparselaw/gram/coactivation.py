"""Activations that share samples: the effective medium, corrected by the cavity closure.

Three rungs of one ladder: counts (a sample holds back R = 1/kappa), the effective medium (R has its mean),
the cavity (the law of R is kept whole; exact for trees of samples and coordinates, and where samples show
many coordinates). The cavity works on cells of coordinates, so it enters by its ratio to the medium of the
same cells,

    S = S_medium (S_cavity/S_cells),     t = t_medium (t_cavity/t_cells),

which is smooth in x: tabulated at whole multiples of STRIDE and interpolated with its derivatives. Where
coordinates share next to nothing the closure is not asked. kappa -> 0 has the rank of the graph of samples
and coordinates.

How often two rare coordinates were seen once, in the same sample, is counted by ``pairs``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.gram.cavity import Cavity, CavityState
from sparselaw.gram.cavity_scatter import CavityScatter
from sparselaw.gram.counts import Coordinates, Counts, cells
from sparselaw.gram.inverses import HARDLY, end_slopes, faint_errors
from sparselaw.gram.law import Moments, Scatter
from sparselaw.gram.nodes import seen, unseen
from sparselaw.gram.rank import CoActivation, expected_rank, pairs
from sparselaw.gram.sampled import Sampled, exponential, times

STRIDE = 1.0
PLACES = np.arange(-2, 4)  # of the strides that one interpolation uses
_VANDERMONDE = np.linalg.inv(np.vander(STRIDE * PLACES, increasing=True))
_ORDERS = range(PLACES.size)
_DERIVATIVES = np.array(  # of y^k: by derivative, k and power
    [[[math.perm(k, m) * (p == k - m) for p in _ORDERS] for k in _ORDERS] for m in range(4)], float
)
DEEPEST = 21.0  # below the largest c r, in x: deeper, rounding of the closure takes over
HARDLY_SHORT = 0.02  # of D: deeper, the closure has lost its digits and S is D
RESOLVED = 14.0  # below the coordinates seen about once: what is left no longer depends on kappa
SHARED = 3e-4  # share of the unseen variance, or of the rank, from which on the closure is asked
PAIR_CELL = 0.1  # width in log p and log c of the cells in which pairs are counted
APART = 0.03  # the same, up to which coordinates scatter on their own
FELT = 0.003  # and what sharing does to S or t at one x
TINY, TINY_NOISE = 0.5, 2.0  # of 1/(rank D), in the errors of t and of what label noise adds
MOST_ERROR = 0.04  # that sharing may say
NEAR = np.array([-0.05, 0.0, 0.05])  # in y, between which slopes of the next order are taken
SOUND = 0.02  # by which the closure's two ways to S may differ
AGREED, TRIED = 0.1, 5  # the same of D - S, where that is small; strides on which it is looked for


class Coactivation(Sampled):
    """D samples of independent activations with random signs, which share samples.

    ``counts`` are the same coordinates where they share none, ``cell_nodes`` their (weight, p, c) for the
    closure, the rank and the scatter; ``closure`` gives the cavity closure, which other D share.
    """

    def __init__(
        self, counts: Counts, cell_nodes: Coordinates, D: float, closure: Callable[[], Cavity]
    ) -> None:
        self.of: Counts
        found = expected_rank(*cell_nodes[:2], float(D))
        super().__init__(counts, float(D), rank=min(found.mean, counts.rank, float(D)), rank_sd=found.sd)
        self._cells, self._closure, self._free = cell_nodes, closure, found.free
        self.rank_error = 0.5 * abs(found.loops)
        chance = seen(cell_nodes[1], float(D))
        shares = cell_nodes[0] * chance * (1.0 - chance)
        variance = max(float(shares.sum()), 1e-300)  # of the coordinates seen; sharing turns their skew round
        self.skew = float(shares @ (1.0 - 2.0 * chance)) / variance * (2.0 * found.sd**2 / variance - 1.0)
        most = float(cell_nodes[0].sum())
        self.most = float(min(D, np.floor(most + 0.5)))
        self.hardly_open = min(max(2.0 - (most - self.rank) / HARDLY, 0.0), 1.0)
        self._states: dict[float, CavityState] = {}
        self._ratios: dict[float, FloatArray] = {}
        self._polynomials: dict[int, FloatArray] = {}

    @functools.cached_property
    def _pairs(self) -> CoActivation:
        weight, p, c = self._cells
        return pairs(*cells(weight, p, c, np.full_like(p, PAIR_CELL)), self.D, self.unseen)

    @functools.cached_property
    def share(self) -> float:
        """What pairs that share their one sample leave unresolved, relative to what was never seen."""
        return self._pairs.share

    @functools.cached_property
    def crowding(self) -> float:
        """How much coordinates share samples: by that, or by how much the rank falls short of those seen."""
        return max(self.share, (self.of.rank - self.rank) / self.rank if self.rank > 0.0 else 0.0)

    @functools.cached_property
    def crowded(self) -> bool:
        """Whether the closure is asked."""
        return self.crowding > SHARED

    @functools.cached_property
    def noise_error(self) -> float:
        return TINY_NOISE / max(self.rank * self.D, 1.0) if self.crowded else 0.0

    @functools.cached_property
    def cavity(self) -> Cavity:
        return self._closure()

    @functools.cached_property
    def _top(self) -> float:
        """log of the largest c r that matters."""
        return float(self.cavity.top(np.array([self.D]))[0])

    @functools.cached_property
    def _lowest(self) -> int:
        """The deepest stride at which the closure is asked.

        Where every sample is taken up, that is where S is hardly short of D, and D - S still has digits:
        there the closure's two ways to it agree.
        """
        deepest = self._top - DEEPEST
        if not self.full:
            return math.ceil(deepest / STRIDE)
        deepest = max(deepest, float(self.end) + math.log(HARDLY_SHORT / self.D))
        tried = math.ceil(deepest / STRIDE) + np.arange(TRIED)
        S, _, _, _, checked = np.array([state.sums for state in self.states((STRIDE * tried).tolist())]).T
        sound = np.abs(checked - 1.0) * S < AGREED * (self.D - checked * S)
        return int(tried[np.argmax(sound)])

    @property
    def full(self) -> bool:
        """Whether every sample is taken up: the rank is D."""
        return bool(self._crowded and self.D - self.rank < HARDLY_SHORT)

    @property
    def floor(self) -> Any:
        """x below which the closure is not read."""
        return STRIDE * (self._lowest + 2)

    def solve(self, x: FloatArray) -> None:
        """The closure at each x, those not yet known side by side: each is what it is on its own."""
        places, laws = x.tolist(), [self.one(i) for i in range(x.size)]
        each = enumerate(zip(laws, places, strict=True))
        asked = {(id(law), place): i for i, (law, place) in each if place not in law._states}
        if not asked:
            return
        i = np.array(list(asked.values()))
        part, x = self.take(i), x[i]
        laws, D = [self.one(k) for k in i.tolist()], np.broadcast_to(part.D, x.shape)
        y = np.round(
            part.inner(x), 8
        )  # alone and side by side the same bits: deep, iterations may not settle
        m, states = part.of.at(y), np.empty(x.size, object)
        cavities = [law.cavity for law in laws]
        for cavity in dict.fromkeys(cavities):
            own = np.array([other is cavity for other in cavities])
            states[own] = cavity.many(D[own], x[own], y[own])
        ratios = _log_ratios_of(x, y, m, D, states)
        for law, place, state, ratio in zip(laws, x.tolist(), states, ratios, strict=True):
            law._states[place], law._ratios[place] = state, ratio

    def states(self, x: list[float]) -> list[CavityState]:
        """The closure at each x of one D."""
        self.solve(np.array(x))
        return [self._states[place] for place in x]

    def at(self, x: FloatArray) -> Moments:
        x = np.atleast_1d(np.asarray(x, float))
        rows = super().at(x).rows()
        end = np.isneginf(x)
        i = np.flatnonzero(self.crowded & ~end)
        if i.size:
            S, t = Moments(*rows[:, i]).derivatives()
            logs = self.take(i)._log_ratios(x[i])
            with np.errstate(all="ignore"):
                rows[:, i] = Moments.of_derivatives(
                    *(times(a, exponential(b)) for a, b in ((S, logs[0]), (t, logs[1])))
                ).rows()
        ends = np.flatnonzero(end)
        if ends.size:
            rows[0] = np.where(end, self.rank, rows[0])
            rows[4, ends] = self._opened(ends)
        return Moments(*rows)

    def _opened(self, i: NDArray[np.intp]) -> FloatArray:
        """What the i-th leave open at kappa -> 0; the closure is asked for all of them side by side."""
        laws = [self.one(k) for k in i.tolist()]
        asked = [k for k, law in zip(i.tolist(), laws, strict=True) if law.crowded]
        if asked:
            self.take(np.array(asked)).solve(np.array([self.one(k)._end for k in asked]))
        return np.array([law.left_open for law in laws])

    def _log_ratios(self, x: FloatArray) -> FloatArray:
        """log S_cavity/S_cells and log t_cavity/t_cells with three derivatives: (2, 4, x)."""
        lowest = self.floor
        inside = np.maximum(x, lowest)
        first = np.floor(inside / STRIDE).astype(int)
        polynomials = self._through(first).reshape(-1, 2, PLACES.size)
        powers = (inside - STRIDE * first)[:, None] ** np.arange(PLACES.size)
        basis = np.einsum("xp,mkp->mxk", powers, _DERIVATIVES)
        out = np.asarray(np.einsum("xfk,mxk->fmx", polynomials, basis))
        deep = x < lowest
        out[1, 1:, deep] = 0.0
        if deep.any():
            out[0, :, deep] = self.take(np.flatnonzero(deep))._deeper((x - lowest)[deep], out[0, :2, deep])
        return out

    def _deeper(self, away: FloatArray, edge: FloatArray) -> FloatArray:
        """log S_cavity/S_cells where the closure is no longer asked: it falls on, to that of the ranks.

        ``edge`` has its value and slope where the closure ends, a row of ``away``.
        """
        left = edge[:, 0] - np.log(self.rank / np.minimum(self.of.rank, self.D))
        speed = np.where(left > 0.0, np.maximum(edge[:, 1], 0.0) / np.maximum(left, 1e-300), 0.0)
        fall = np.exp(np.maximum(speed * away, -700.0))
        rows = np.stack([left * fall * speed**m for m in range(4)], axis=1)
        rows[:, 0] += edge[:, 0] - left
        return rows

    def along(self, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        x, S, P, stretch = super().along(y)
        i = np.flatnonzero(np.broadcast_to(self.crowded, y.shape))
        if i.size:
            logs = self.take(i)._log_ratios(x[i])[0]
            ratio = np.exp(logs[0])
            S[i], P[i] = S[i] * ratio, (P[i] - S[i] * logs[1]) * ratio
        return x, S, P, stretch

    def _through(self, first: NDArray[np.intp]) -> FloatArray:
        """The polynomials through the ratios about these strides, whatever is missing found at once."""
        laws = [self.one(i) for i in range(first.size)]
        cells = first.tolist()
        known = zip(laws, cells, strict=True)
        new = {(id(law), cell): i for i, (law, cell) in enumerate(known) if cell not in law._polynomials}
        if new:
            i = np.array(list(new.values()))
            self.take(np.repeat(i, PLACES.size)).solve(STRIDE * np.add.outer(first[i], PLACES).ravel())
            for k in i.tolist():
                table = np.array([laws[k]._ratios[STRIDE * int(cells[k] + place)] for place in PLACES])
                laws[k]._polynomials[cells[k]] = (_VANDERMONDE @ table).T
        return np.array([law._polynomials[cell] for law, cell in zip(laws, cells, strict=True)])

    @functools.cached_property
    def _end(self) -> float:
        """x so small that what is left unresolved no longer depends on it."""
        order = np.argsort(self.cavity.p)
        seen_once = np.interp(-math.log(self.D), np.log(self.cavity.p[order]), np.log(self.cavity.c[order]))
        return max(float(seen_once) - RESOLVED, float(self.floor))

    @functools.cached_property
    def left_open(self) -> float:
        """t at kappa -> 0: what was never seen, and what shared samples leave undetermined."""
        medium = self._medium
        if not self.crowded:
            return medium * (1.0 + self.share)
        self.solve(np.array([self._end]))
        return max(medium * math.exp(float(self._ratios[self._end][1])), float(self.unseen))

    @functools.cached_property
    def _medium(self) -> float:
        """The same of the effective medium."""
        return float(Sampled.at(self, np.array([-np.inf])).A0[0]) if self._crowded else float(self.unseen)

    def apart(self) -> float:
        """The chance that nothing but sharing a single sample keeps the rank below the coordinates seen.

        On average the rank misses some of them. Of these D (l - 1 + e^-l) were seen once, together with
        others like them, l a sample on average. The rest are few and independent: Poisson.
        """
        once = self._pairs.once / self.D
        rest = self.of.rank - self.rank - self.D * (once + math.expm1(-once))
        return math.exp(min(-rest, 0.0))

    def scatter(self, x: FloatArray) -> Scatter:
        """Coordinates on their own, or the closure's covariances; at kappa -> 0 those of rank and open
        variance.
        """
        end = np.isneginf(x)
        rows = np.zeros((8, x.size))
        felt = np.flatnonzero(~end & (self.crowding >= APART))
        if felt.size:
            felt = felt[np.abs(self.take(felt)._log_ratios(x[felt])[:, 0]).max(axis=0) > FELT]
        own = ~end
        own[felt] = False
        alone = np.flatnonzero(own)
        if alone.size:
            rows[:, alone] = Sampled.scatter(self.take(alone), x[alone]).rows()
        if felt.size:
            laws = [self.one(i) for i in felt.tolist()]
            places = np.maximum(x[felt], [law._top - DEEPEST + 3.0 for law in laws])
            about = np.add.outer(np.floor(places), CavityScatter.PLACES)
            self.take(np.repeat(felt, about.shape[1])).solve(about.ravel())
            with np.errstate(all="ignore"):
                rows[:, felt] = np.array(
                    [law._closure_scatter.at(place) for law, place in zip(laws, places.tolist(), strict=True)]
                ).T
        for i in np.flatnonzero(end):
            rows[[0, 4, 7], i] = self.one(i)._end_scatter
        return Scatter(*rows)

    def scattered(self, x: FloatArray) -> tuple[Scatter, FloatArray]:
        """The closure does not know what is unexplained: that of the effective medium."""
        medium = Sampled.scatter(self, x)
        cov = self.scatter(x) if self.crowding >= APART or np.isneginf(x).any() else medium
        return cov, medium.unexplained(Sampled.at(self, x))

    @functools.cached_property
    def _closure_scatter(self) -> CavityScatter:
        return CavityScatter(self.cavity, self.D, self.states)

    @functools.cached_property
    def _end_scatter(self) -> tuple[float, float, float]:
        """Var rank, Cov(rank, -t0), Var t0 at kappa -> 0: coordinates never seen are those that add no
        rank.
        """
        weight, p, c = self._cells
        s, missed = p * c, unseen(p, self.D)
        adds = seen(np.minimum(p * self._free, 1.0), self.D)
        never = self.unseen
        scale = self.left_open / never if never > 0.0 else 0.0
        crossed = float((weight * s) @ (missed * adds)) * min(scale, 1.0 + self.share)
        own = float((weight * s**2) @ (missed * seen(p, self.D)))
        return self.rank_sd**2, crossed, own

    def looped(self, x: FloatArray) -> tuple[FloatArray, Any]:
        """The next order in 1/D: loops of two samples and two coordinates, and a coordinate's own part of S.

        It is that of Gaussian samples (``Gaussian``), -1/(D - df2), less what the scatter of their squares
        does, -2/D; counts scatter on their own. Of their sum, times f^2 (1-f) of each coordinate, 1/D stands
        for the coordinate that a sample holds back from itself, which trees have and the effective medium has
        not. The rest are loops, through coordinates that are seen more than once.
        """
        y = self.inner(x)
        places = np.add.outer(y, NEAR)
        every = self.take(np.repeat(np.arange(x.size), NEAR.size))
        with np.errstate(all="ignore"):
            m = Moments(*every.of.at(places.ravel()).rows().reshape(8, *places.shape))
            df2, of_S, of_t = every.of.loops(places.ravel()).reshape(3, *places.shape)
            D, own = np.reshape(self.D, (-1, 1)), np.reshape(~np.asarray(self.crowded), (-1, 1))
            loops, free = df2 / (D * (D - df2)), D - m.S + m.P
            gain, left = own * m.Q / D - loops * of_S, own * (m.T - m.A1) / D - loops * of_t
            S, t = gain * (D - m.S) / free, m.T * gain / free - left
            at = places + np.log(1.0 - m.S / D)
            stretch = at[:, 2] - at[:, 0]
            rows = np.stack([S[:, 1], (S[:, 2] - S[:, 0]) / stretch, t[:, 1], (t[:, 2] - t[:, 0]) / stretch])
            rows[[0, 1, 3]] = np.where(np.isneginf(x), 0.0, rows[[0, 1, 3]])
        return np.where(np.isfinite(rows), rows, 0.0), ~np.asarray(self.crowded)

    def error(self, x: FloatArray) -> FloatArray:
        """The square of what sharing does to t: trees are exact, and loops are of the next order.

        And what is left where coordinates and samples are both a few.
        """
        x = np.atleast_1d(x)
        out = np.full(x.shape, np.minimum(self.share, 1.0) ** 2)
        i = np.flatnonzero(self.crowded & ~np.isneginf(x))
        if i.size:
            out[i] = np.minimum(self.take(i)._log_ratios(x[i])[1, 0] ** 2, MOST_ERROR)
        for k in np.flatnonzero(np.isneginf(x)):
            out[k] = self.one(k)._end_error
        return np.asarray(out + TINY / np.maximum(self.rank * self.D, 1.0))

    @functools.cached_property
    def _end_error(self) -> float:
        if not self.crowded or self.left_open <= 0.0:
            return float(min(self.share, 1.0) ** 2)
        medium = self._medium
        return min(math.log(self.left_open / medium) ** 2, MOST_ERROR) if medium > 0.0 else MOST_ERROR

    def inverses(self) -> tuple[float, float]:
        return self._end_slopes[0]

    def inverse_errors(self) -> tuple[float, float]:
        return faint_errors(self, *self._end_slopes)

    @functools.cached_property
    def _end_slopes(self) -> tuple[tuple[float, float], tuple[float, float]]:
        return end_slopes(self)


def _log_ratios_of(x: FloatArray, y: FloatArray, m: Moments, D: FloatArray, states: Any) -> FloatArray:
    """Rows of log S_cavity/S_cells and log t_cavity/t_cells; zero where the closure fails its own check.

    The cells' own effective medium is at a kappa' that hardly differs from y, where the counts have the
    moments m: the first order suffices.
    """
    S, t, plain_S, plain_t, checked = np.array([state.sums for state in states]).T
    room = 1.0 - plain_S / D
    with np.errstate(all="ignore"):
        shift = (np.exp(x - y) - room) / (room + m.P / D)
        logs = np.log([S / (plain_S - m.P * shift), t / (plain_t + m.T * shift)])
    sound = (np.abs(checked - 1.0) < SOUND) & np.isfinite(logs).all(axis=0)
    return np.where(sound, logs, 0.0).T
