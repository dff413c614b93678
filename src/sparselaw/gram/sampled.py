"""Samples as an effective medium: coordinates that share samples, to first order.

A sample that shows a coordinate shows others as well, whose unresolved part adds to the ridge of that
sample. With its mean in the place of its law, and S = D (1 - kappa E R) exactly (R what a sample holds
back), this is a change of variable on the law of counts,

    kappa = kappa' (1 - S0(kappa')/D),     S(kappa) = S0(kappa'),     t(kappa) = t0(kappa'),

the same shift as that of N features. Counts that do not fluctuate make it Marchenko and Pastur's law,
exactly. kappa -> 0 is kappa' -> 0 where fewer coordinates are seen than there are samples; where more are
seen it is the kappa' > 0 with S0(kappa') = D: the rank is D, and the unresolved variance t0(kappa') far
above what was never seen.
"""

from __future__ import annotations

import functools

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.gram.counts import OFFSETS, Counts, along
from sparselaw.gram.law import (
    Atoms,
    ComplexArray,
    GramLaw,
    Moments,
    Scatter,
    composed,
    effective_ridge_at,
    log_slopes,
)

CLOSE = 1e-13
PLACES = 100  # of a rough table from which searches start
STEPS = 3  # of Newton's method, towards a start
FAR = 3.0  # in x, from the rough table: farther a start is not believed
FULL = 1.0 - 1e-12  # share of the samples that S0 may take up


def shifted(y: FloatArray, m: Moments, D: float) -> tuple[FloatArray, Moments]:
    """x = y + log(1 - S0/D) and the moments along x, from those along y = log kappa'."""
    S, t = m.derivatives()
    room = np.concatenate([[1.0 - S[0] / D], -S[1:] / D])
    with np.errstate(all="ignore"):
        l1, l2, l3 = log_slopes(room)
        slopes = 1.0 + l1, l2, l3
        along_x = Moments.of_derivatives(composed(S, *slopes), composed(t, *slopes))
        return np.asarray(y + np.log(room[0])), along_x


class Sampled(GramLaw):
    """The law ``of`` counts seen through D samples that show several coordinates each."""

    def __init__(
        self, of: Atoms, D: float, *, rank: float | None = None, spread: float | None = None
    ) -> None:
        self.of, self.D = of, float(D)
        self.rank = min(of.rank, self.D) if rank is None else rank
        self.spread = of.spread if spread is None else spread
        self.most, self.unseen = self.D, of.unseen
        self._crowded = of.rank > self.D * FULL

    @functools.cached_property
    def _counted(self) -> tuple[FloatArray, FloatArray]:
        """y and S0 along a rough table."""
        _, log_g, _ = self.of.lattice
        grid = np.linspace(log_g.min() - 30.0, log_g.max() + 15.0, PLACES)
        return grid, self.of.degrees(grid)[0]

    @functools.cached_property
    def end(self) -> float:
        """y at kappa -> 0."""
        return self._find_end(*self._counted) if self._crowded else -np.inf

    @functools.cached_property
    def _table(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """y, S0 and x along the part of the rough table where there is an x."""
        grid, S = self._counted
        inside = grid > self.end
        if not self._crowded:
            inside &= self.D * FULL > S
        grid, S = grid[inside], S[inside]
        return grid, S, grid + np.log1p(-np.minimum(S / self.D, 1.0 - 1e-15))

    def _find_end(self, grid: FloatArray, S: FloatArray) -> float:
        """y with S0 = D: bisection, then Newton."""
        low, high = grid[0], grid[-1]
        y = float(np.interp(-self.D, -S, grid))
        for _ in range(100):
            S, P = self.of.degrees(np.array([y]))
            excess, slope = float(S[0]) - self.D, float(P[0])
            low, high = (y, high) if excess > 0.0 else (low, y)
            new = y + excess / slope if slope > 0.0 else 0.5 * (low + high)
            new = new if low < new < high else 0.5 * (low + high)
            if abs(new - y) < CLOSE * max(abs(y), 1.0):
                break
            y = new
        return y

    def inner(self, x: FloatArray) -> FloatArray:
        """y = log kappa' at each x; the end of the medium at x = -inf."""
        x = np.asarray(x, float)
        done = np.isneginf(x)
        if done.all():
            return np.full(x.shape, self.end)
        table_y, _, table_x = self._table
        y = np.interp(x, table_x, table_y)
        below = x < table_x[0]
        y = np.where(below & ~self._crowded, x, y)
        y = np.where(done, self.end, y)
        for _ in range(80):
            active = np.flatnonzero(~done)
            if not active.size:
                break
            S, P = self.of.degrees(y[active])
            room = 1.0 - S / self.D
            with np.errstate(all="ignore"):
                step = (y[active] + np.log(room) - x[active]) * room / (room + P / self.D)
            new = y[active] - np.clip(step, -2.0, 2.0)
            if self._crowded:  # beyond the end there is no kappa
                outside = ~(room > 0.0) | (new <= self.end)
                new = np.where(outside, 0.5 * (np.maximum(y[active], self.end) + self.end), new)
                new = np.where(~(room > 0.0), self.end + 0.5 * np.abs(new - self.end) + 1e-12, new)
            done[active] = np.abs(new - y[active]) < CLOSE * np.maximum(np.abs(new), 1.0)
            y[active] = new
        return y

    def degrees(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        S, P = self.of.degrees(self.inner(x))
        room = self.D - S
        with np.errstate(all="ignore"):
            return S, np.where(room > 0.0, P * room / (room + P), 0.0)

    def at(self, x: FloatArray) -> Moments:
        x = np.atleast_1d(np.asarray(x, float))
        y = self.inner(x)
        inner = self.of.at(y)
        rows = shifted(y, inner, self.D)[1].rows()
        end = np.isneginf(x)
        rows[:, end] = 0.0
        rows[0, end], rows[4, end] = self.rank, inner.t[end]
        return Moments(*rows)

    def scatter(self, x: FloatArray) -> Scatter:
        """That of the counts through the change of variable: dy = dS0/(D - S0 + P0) at a fixed kappa."""
        if not isinstance(self.of, Counts) or self.of.cells is None:
            return Scatter.none(x)
        deepest = self._table[2][0] + OFFSETS[-1] if self._crowded else -np.inf
        places = np.where(np.isneginf(x), deepest, np.maximum(x, deepest))[:, None] + OFFSETS
        if not self._crowded:
            places = np.where(np.isneginf(x)[:, None], np.full(OFFSETS.size, -np.inf), places)
        y = self.inner(places.ravel()).reshape(places.shape)
        m = Moments(*(row.reshape(places.shape) for row in self.of.at(y.ravel()).rows()))
        SS, St, tt = self.of.cells.covariances(y)
        room = self.D - m.S
        shift = 1.0 / (room + m.P)
        share, tilt = room * shift, m.T * shift  # dS = share dS0, dt = dt0 + tilt dS0
        crossed = St * share[:, :, None] + SS * (share[:, :, None] * tilt[:, None, :])
        both = tt + tilt[:, :, None] * St + St.transpose(0, 2, 1) * tilt[:, None, :]
        both = both + SS * (tilt[:, :, None] * tilt[:, None, :])
        found = along((SS * (share[:, :, None] * share[:, None, :]), crossed, both)).rows()
        if self._crowded:  # every data set has rank D
            found[:-1, np.isneginf(x)] = 0.0
        return Scatter(*found)

    def traces(self, kappa: ComplexArray) -> tuple[ComplexArray, ComplexArray]:
        return self.of.traces(effective_ridge_at(self.of, kappa, self.D))

    def atoms(self) -> tuple[Atoms, float]:
        return self.of, self.D

    def inverses(self) -> tuple[float, float]:
        """dS and dt along kappa at kappa -> 0: those of the counts over 1 - rank/D, or at the end of the
        medium.
        """
        every, seen = self.of.inverses()
        if not self._crowded:
            room = 1.0 - self.of.rank / self.D
            return every / room, seen / room
        m = self.of.at(np.array([self.end]))  # kappa = kappa' (1 - S0/D): d kappa = kappa' P/D dy there
        unit = self.D * float(np.exp(-self.end))
        return unit, float(m.T[0] / m.P[0]) * unit

    def start(self, N: FloatArray) -> FloatArray:
        """From the rough table, by a few of Newton's steps on the counts, which cost next to nothing."""
        wanted = np.asarray(N, float)
        table_y, table_S, table_x = self._table
        y, x = (np.interp(-wanted, -table_S, values) for values in (table_y, table_x))
        for _ in range(STEPS):
            S, P = self.of.degrees(y)
            with np.errstate(all="ignore"):
                short = self.of.rank - S
                near = (S > 0.5 * self.of.rank) & (short > 0.0)
                step = np.where(
                    near,
                    np.log((self.of.rank - wanted) / short) * short / P,
                    np.log(S / wanted) * S / P,
                )
            y = y + np.where(np.isfinite(step), np.clip(step, -1.0, 1.0), 0.0)
        room = 1.0 - np.minimum(wanted / self.D, 1.0)
        with np.errstate(all="ignore"):
            found = y + np.log(room)
        return np.asarray(np.where(np.isfinite(found) & (np.abs(found - x) < FAR), found, x))
