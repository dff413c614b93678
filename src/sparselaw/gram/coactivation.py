"""Activations that share samples: the effective medium, corrected by the cavity closure.

Three rungs of one ladder: counts (a sample holds back R = 1/kappa), the effective medium (R has its mean),
the cavity (the law of R is kept whole; exact for trees of samples and coordinates, and where samples show
many coordinates). The cavity works on cells of coordinates, so it enters by its ratio to the medium of the
same cells,

    S = S_medium (S_cavity/S_cells),     t = t_medium (t_cavity/t_cells),

which is smooth in x: tabulated at whole multiples of STRIDE and interpolated with its derivatives. Where
coordinates share next to nothing the closure is not asked. kappa -> 0 has the rank of the graph of samples
and coordinates.

How often two rare coordinates were seen once, in the same sample, so that the data show their sum and never
each of them, is counted by ``pairs``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.gram.cavity import Cavity, CavityState
from sparselaw.gram.cavity_scatter import CavityScatter
from sparselaw.gram.counts import Coordinates, Counts, cells
from sparselaw.gram.law import GramLaw, Moments, Scatter, exponential, times
from sparselaw.gram.nodes import seen, unseen
from sparselaw.gram.rank import expected_rank
from sparselaw.gram.sampled import Sampled


@dataclass(frozen=True, slots=True, kw_only=True)
class CoActivation:
    """Rare coordinates that were seen once, in the same sample, so that only their sum was seen."""

    once: float  # expected number of coordinates seen exactly once
    pairs: float  # expected number of pairs among them that share their one sample, exact
    variance: float  # the variance those pairs leave unexplained, each pair on its own
    share: float  # that variance relative to the unseen variance


def pairs(weight: FloatArray, p: FloatArray, c: FloatArray, D: float, never: float) -> CoActivation:
    """Count co-activations of coordinates (weight, p, c) in D samples that leave the variance ``never``
    unseen.

    Coordinates i and j, each seen once and in the same sample, have probability D p_i p_j
    ((1-p_i)(1-p_j))^(D-1). The sample fixes one combination of the two weights; the other leaves the
    variance c_i c_j (p_i + p_j) / (c_i + c_j).
    """
    missed = np.ones_like(p) if D == 1 else unseen(p, D - 1.0)
    alone = D * p * missed  # probability of being seen exactly once
    kept = alone > 1e-12
    p, c, alone, weight = p[kept], c[kept], alone[kept], weight[kept]
    seen_once = weight * alone
    once = float(np.sum(seen_once))
    met = max(0.0, (once**2 - float(seen_once @ alone)) / (2.0 * D))
    both = float((seen_once * c * p) @ (1.0 / np.add.outer(c, c)) @ (seen_once * c))
    variance = max(0.0, (both - 0.5 * float(np.sum(seen_once * alone * c * p))) / D)
    return CoActivation(
        once=once, pairs=met, variance=variance, share=variance / never if never > 0.0 else 0.0
    )


STRIDE = 1.0
PLACES = np.arange(-2, 4)  # of the strides that one interpolation uses
_VANDERMONDE = np.linalg.inv(np.vander(STRIDE * PLACES, increasing=True))
_ORDERS = range(PLACES.size)
_DERIVATIVES = np.array(  # of y^k: by derivative, k and power
    [[[math.perm(k, m) * (p == k - m) for p in _ORDERS] for k in _ORDERS] for m in range(4)], float
)
DEEPEST = 21.0  # below the largest c r, in x: deeper, rounding of the closure takes over
RESOLVED = 14.0  # below the coordinates seen about once: what is left no longer depends on kappa
SHARED = 3e-4  # share of the unseen variance, or of the rank, from which on the closure is asked
PAIR_CELL = 0.1  # width in log p and log c of the cells in which pairs are counted
APART = 0.03  # the same, up to which coordinates scatter on their own
FELT = 0.003  # and what sharing does to S or t at one x
TINY = 2.0  # of 1/(rank D), in the error
LEFT = 0.18  # of an eigenvalue of G, where the closure is read for kappa -> 0
LOST = 1e-6  # of S: a smaller slope of the closure is lost in its rounding
MOST_LOOPED = 0.3  # that loops may add
SOUND = 0.02  # by which the closure's two ways to S may differ


class Coactivation(Sampled):
    """D samples of independent activations with random signs, which share samples.

    ``counts`` are the same coordinates where they share none, ``cell_nodes`` their (weight, p, c) for the
    closure, the rank and the scatter; ``closure`` gives the cavity closure, which other D share.
    """

    def __init__(
        self, counts: Counts, cell_nodes: Coordinates, D: float, closure: Callable[[], Cavity]
    ) -> None:
        found = expected_rank(*cell_nodes[:2], float(D))
        super().__init__(counts, D, rank=min(found.mean, counts.rank, float(D)), rank_sd=found.sd)
        self._cells, self._closure, self._free = cell_nodes, closure, found.free
        self.rank_error = found.loops**2
        self.most = float(min(D, np.floor(cell_nodes[0].sum() + 0.5)))
        self._states: dict[float, CavityState] = {}
        self._ratios: dict[float, FloatArray] = {}
        self._polynomials: dict[int, FloatArray] = {}

    @functools.cached_property
    def _pairs(self) -> CoActivation:
        weight, p, c = self._cells
        return pairs(*cells(weight, p, c, np.full_like(p, PAIR_CELL)), self.D, self.unseen)

    @property
    def share(self) -> float:
        """What pairs that share their one sample leave unresolved, relative to what was never seen."""
        return self._pairs.share

    @functools.cached_property
    def crowding(self) -> float:
        """How much coordinates share samples: by that, or by how much the rank falls short of those seen."""
        return max(self.share, (self.of.rank - self.rank) / self.rank if self.rank > 0.0 else 0.0)

    @property
    def crowded(self) -> bool:
        """Whether the closure is asked."""
        return self.crowding > SHARED

    @functools.cached_property
    def cavity(self) -> Cavity:
        return self._closure()

    @functools.cached_property
    def _top(self) -> float:
        """log of the largest c r that matters."""
        return float(self.cavity.top(np.array([self.D]))[0])

    @functools.cached_property
    def _lowest(self) -> int:
        """The deepest stride at which the closure is asked."""
        return math.ceil((self._top - DEEPEST) / STRIDE)

    def states(self, x: list[float]) -> list[CavityState]:
        """The closure at each x."""
        solve([self], [x])
        return [self._states[place] for place in x]

    def _take(self, x: FloatArray, m: Moments, y: FloatArray, states: list[CavityState]) -> None:
        """Keep states, and log S_cavity/S_cells and log t_cavity/t_cells.

        The cells' own effective medium is at a kappa' that hardly differs from y, where the counts have the
        moments m: the first order suffices.
        """
        S, t, plain_S, plain_t, checked = np.array([state.sums for state in states]).T
        room = 1.0 - plain_S / self.D
        with np.errstate(all="ignore"):
            shift = (np.exp(x - y) - room) / (room + m.P / self.D)
            logs = np.log([S / (plain_S - m.P * shift), t / (plain_t + m.T * shift)])
        sound = (np.abs(checked - 1.0) < SOUND) & np.isfinite(logs).all(axis=0)
        self._ratios |= zip(x.tolist(), np.where(sound, logs, 0.0).T, strict=True)
        self._states |= zip(x.tolist(), states, strict=True)

    def at(self, x: FloatArray) -> Moments:
        x = np.atleast_1d(np.asarray(x, float))
        rows = super().at(x).rows()
        end = np.isneginf(x)
        if self.crowded and not end.all():
            S, t = Moments(*rows[:, ~end]).derivatives()
            logs = self._log_ratios(x[~end])
            with np.errstate(all="ignore"):
                rows[:, ~end] = Moments.of_derivatives(
                    *(times(a, exponential(b)) for a, b in ((S, logs[0]), (t, logs[1])))
                ).rows()
        rows[0, end], rows[4, end] = self.rank, self.left_open if end.any() else 0.0
        return Moments(*rows)

    def _log_ratios(self, x: FloatArray) -> FloatArray:
        """log S_cavity/S_cells and log t_cavity/t_cells with three derivatives: (2, 4, x)."""
        lowest = STRIDE * (self._lowest + 2)
        inside = np.maximum(x, lowest)
        first = np.floor(inside / STRIDE).astype(int)
        cells, place = np.unique(first, return_inverse=True)
        self._prepare(cells.tolist())
        polynomials = np.array([self._polynomials[cell] for cell in cells.tolist()])
        polynomials = polynomials.reshape(-1, 2, PLACES.size)[place]
        powers = (inside - STRIDE * first)[:, None] ** np.arange(PLACES.size)
        basis = np.einsum("xp,mkp->mxk", powers, _DERIVATIVES)
        out = np.asarray(np.einsum("xfk,mxk->fmx", polynomials, basis))
        deep = x < lowest
        out[1, 1:, deep] = 0.0
        if deep.any():
            out[0, :, deep] = self._deeper(x[deep] - lowest, out[0, :2, deep])
        return out

    def _deeper(self, away: FloatArray, edge: FloatArray) -> FloatArray:
        """log S_cavity/S_cells where the closure is no longer asked: it falls on, to that of the ranks.

        ``edge`` has its value and slope where the closure ends, a row of ``away``.
        """
        left = edge[:, 0] - math.log(self.rank / min(self.of.rank, self.D))
        speed = np.where(left > 0.0, np.maximum(edge[:, 1], 0.0) / np.maximum(left, 1e-300), 0.0)
        fall = np.exp(np.maximum(speed * away, -700.0))
        rows = np.stack([left * fall * speed**m for m in range(4)], axis=1)
        rows[:, 0] += edge[:, 0] - left
        return rows

    def along(self, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        x, S, P, stretch = super().along(y)
        if self.crowded:
            logs = self._log_ratios(x)[0]
            ratio = np.exp(logs[0])
            S, P = S * ratio, (P - S * logs[1]) * ratio
        return x, S, P, stretch

    def _prepare(self, cells: list[int]) -> None:
        """The polynomials through the ratios about these strides, whatever is missing found at once."""
        new = [cell for cell in cells if cell not in self._polynomials]
        solve([self], [[STRIDE * int(cell + i) for cell in new for i in PLACES]])
        for cell in new:
            table = np.array([self._ratios[STRIDE * int(cell + i)] for i in PLACES])
            self._polynomials[cell] = (_VANDERMONDE @ table).T

    @functools.cached_property
    def _end(self) -> float:
        """x so small that what is left unresolved no longer depends on it."""
        order = np.argsort(self.cavity.p)
        seen_once = np.interp(-math.log(self.D), np.log(self.cavity.p[order]), np.log(self.cavity.c[order]))
        return max(float(seen_once) - RESOLVED, STRIDE * (self._lowest + 2))

    @functools.cached_property
    def left_open(self) -> float:
        """t at kappa -> 0: what was never seen, and what shared samples leave undetermined."""
        medium = float(Sampled.at(self, np.array([-np.inf])).A0[0])
        if not self.crowded:
            return medium * (1.0 + self.share)
        solve([self], [[self._end]])
        return max(medium * math.exp(float(self._ratios[self._end][1])), self.unseen)

    def wanted(self, N: FloatArray) -> list[float]:
        """Places at which N features will ask the closure, as far as can be told beforehand."""
        if not self.crowded:
            return []
        below = N[self.rank > N]
        cells = np.unique(np.floor(super().along(self.start(below))[0] / STRIDE))
        places = set(np.maximum(STRIDE * np.add.outer(cells, PLACES).ravel(), STRIDE * self._lowest).tolist())
        return [*places, self._end] if (N > self.rank - 20.0 - 3.0 * self.rank_sd).any() else [*places]

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
        shared = np.zeros(x.shape, bool)
        if self.crowding >= APART:
            shared[~end] = np.abs(self._log_ratios(x[~end])[:, 0]).max(axis=0) > FELT
        alone = ~end & ~shared
        if alone.any():
            rows[:, alone] = super().scatter(x[alone]).rows()
        deepest = self._top - DEEPEST + 3.0 if shared.any() else 0.0
        for i in np.flatnonzero(shared):
            with np.errstate(all="ignore"):
                rows[:, i] = self._closure_scatter.at(max(float(x[i]), deepest))
        if end.any():
            rows[0, end], rows[4, end], rows[7, end] = self._end_scatter
        return Scatter(*rows)

    def unexplained(self, x: FloatArray) -> FloatArray:
        """The closure does not know it: that of the effective medium."""
        return Sampled(self.of, self.D).unexplained(x)

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

    def looped(self, x: FloatArray) -> FloatArray:
        """Loops that are closed by frequent coordinates, where the data resolve nearly as many as there are
        samples.

        Gaussian samples are to their coordinates what features are to the data: the next order in 1/D is
        ``Moments.width`` with D for N, w, and (1 - w)^-1 stands for the orders beyond. Signs are drawn for
        each sample, so that of its poles 1/(D - df2) trees have all up to the first power of df2/D.
        """
        m = self.of.at(self.inner(x))
        with np.errstate(all="ignore"):
            F = self.D - m.S + m.P
            w = m.width(self.D, F) + (self.D - m.S - m.P) ** 2 / F**3
            share = ((m.S - m.P) / self.D) ** 2 * (1.0 - self.unseen / m.A0)
            found = share * w / (1.0 - np.clip(w, -MOST_LOOPED, MOST_LOOPED))
        return np.where(np.isfinite(found), np.clip(found, -MOST_LOOPED, MOST_LOOPED), 0.0)

    def error(self, x: FloatArray) -> FloatArray:
        """The square of what sharing does to t: trees are exact, and loops are of the next order.

        And what is left where coordinates and samples are both a few.
        """
        x = np.atleast_1d(x)
        out = np.full(x.shape, min(self.share, 1.0) ** 2)
        if self.crowded:
            end = np.isneginf(x)
            out[~end] = np.minimum(self._log_ratios(x[~end])[1, 0] ** 2, 0.04)
            if end.any() and self.left_open > 0.0:
                medium = float(Sampled.at(self, np.array([-np.inf])).A0[0])
                out[end] = min(math.log(self.left_open / medium) ** 2, 0.04) if medium > 0.0 else 0.04
        return out + TINY / max(self.rank * self.D, 1.0)

    def inverses(self) -> tuple[float, float]:
        return self._end_slopes[:2]

    def inverse_error(self) -> float:
        """And half the next order of an inverse Wishart matrix, whose mean has D - K - 1 for D - K."""
        return self._end_slopes[2] + 1.0 / (2.0 * max(self.D - self.rank, abs(self.D - self.of.rank)) + 1.0)

    @functools.cached_property
    def _end_slopes(self) -> tuple[float, float, float]:
        """tr G^+ and tr Sigma G^+, to which P/kappa and T/kappa rise as kappa falls, and their error.

        The closure is of endless trees: it follows G to eigenvalues smaller than any that D samples have. So
        it is read where less than a fifth of an eigenvalue is left, P = 0.18, and what it would add down to
        half of that is the error.
        """
        every, of_seen = super().inverses()
        if not self.crowded:
            return every, of_seen, 0.0
        x = np.array([self._where_left(part) for part in (LEFT, 0.5 * LEFT)])
        m, kappa = self.at(x), np.exp(x)
        of_every, of_variance = m.P / kappa * (1.0 + 0.25 * LEFT), m.T / kappa
        if (m.P < LOST * m.S).any():
            return every, of_seen, 1.0
        error = float(np.log(np.maximum(of_every[1] / of_every[0], of_variance[1] / of_variance[0])))
        return float(of_every[0]) if math.isfinite(every) else every, float(of_variance[0]), abs(error)

    def _where_left(self, wanted: float) -> float:
        """x with P = wanted near kappa -> 0, or as deep as the closure goes: Newton's method in log P."""
        lowest = STRIDE * (self._lowest + 2)
        top = self._top
        x = lowest + 0.5 * (top - lowest)
        for _ in range(60):
            P = float(self.at(np.array([x])).P[0])
            new = min(max(x + min(max(math.log(wanted / P) if P > 0.0 else 1.0, -2.0), 2.0), lowest), top)
            if abs(new - x) < 1e-9:
                break
            x = new
        return x


def prepare(sizes: Mapping[GramLaw, FloatArray]) -> None:
    """What the features N of each law will ask of the closure, for all laws side by side."""
    laws = [law for law in sizes if isinstance(law, Coactivation)]
    solve(laws, [law.wanted(sizes[law]) for law in laws])


def solve(laws: Sequence[Coactivation], x: Sequence[list[float]]) -> None:
    """The closure at several x of each law, all side by side: each is what it is on its own."""
    groups: dict[int, list[tuple[Coactivation, FloatArray, FloatArray]]] = {}
    for law, places in zip(laws, x, strict=True):
        missing = np.array([place for place in dict.fromkeys(places) if place not in law._states])
        if missing.size:
            groups.setdefault(id(law.cavity), []).append((law, missing, law.inner(missing)))
    for items in groups.values():
        D = np.concatenate([np.full(some.size, law.D) for law, some, _ in items])
        log_k, y = (np.concatenate([item[i] for item in items]) for i in (1, 2))
        states = items[0][0].cavity.many(D, log_k, y)
        for law, some, inner in items:
            law._take(some, law.of.at(inner), inner, states[: some.size])
            states = states[some.size :]
