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

import copy
import functools
from typing import Any, Self

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.gram.counts import OFFSETS, Counts, along
from sparselaw.gram.law import Atoms, GramLaw, Moments, Scatter, effective_ridge

NEAR_END = 0.4  # in y, of the deepest place
FULL = 1.0 - 1e-12  # share of the samples that S0 may take up


def times(a: FloatArray, b: FloatArray) -> FloatArray:
    """The product."""
    return np.stack(
        [
            a[0] * b[0],
            a[1] * b[0] + a[0] * b[1],
            a[2] * b[0] + 2.0 * a[1] * b[1] + a[0] * b[2],
            a[3] * b[0] + 3.0 * a[2] * b[1] + 3.0 * a[1] * b[2] + a[0] * b[3],
        ]
    )


def inverse(a: FloatArray) -> FloatArray:
    """One over it."""
    i0 = 1.0 / a[0]
    i1 = -a[1] * i0**2
    i2 = -(a[2] * i0 + 2.0 * a[1] * i1) * i0
    return np.stack([i0, i1, i2, -(a[3] * i0 + 3.0 * a[2] * i1 + 3.0 * a[1] * i2) * i0])


def log_slopes(a: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The three derivatives of its logarithm."""
    l1 = a[1] / a[0]
    l2 = a[2] / a[0] - l1**2
    return l1, l2, a[3] / a[0] - 3.0 * a[1] * a[2] / a[0] ** 2 + 2.0 * l1**3


def exponential(a: FloatArray) -> FloatArray:
    """e to its power."""
    d1, d2, d3 = a[1], a[2], a[3]
    return np.asarray(np.exp(a[0]) * np.stack([np.ones_like(d1), d1, d2 + d1**2, d3 + 3.0 * d1 * d2 + d1**3]))


def composed(a: FloatArray, x1: FloatArray, x2: FloatArray, x3: FloatArray) -> FloatArray:
    """As a function of x, where x has these derivatives along the variable."""
    y1 = 1.0 / x1
    y2, y3 = -x2 * y1**3, (3.0 * x2**2 - x1 * x3) * y1**5
    third = a[3] * y1**3 + 3.0 * a[2] * y1 * y2 + a[1] * y3
    return np.stack([a[0], a[1] * y1, a[2] * y1**2 + a[1] * y2, third])


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
    """The law ``of`` counts seen through D samples that show several coordinates each.

    Of several D where these are an array; then ``of`` has a row for each.
    """

    def __init__(self, of: Atoms, D: Any, *, rank: Any = None, rank_sd: Any = None) -> None:
        self.of, self.D = of, D
        self.rank = np.minimum(of.rank, D) if rank is None else rank
        self.rank_sd = of.rank_sd if rank_sd is None else rank_sd
        self.most, self.unseen = D, of.unseen
        self._crowded = of.rank > D * FULL

    def take(self, i: Any) -> Self:
        if np.ndim(self.D) == 0:
            return self
        new = copy.copy(self)
        vars(new).pop("_deepest", None)
        names = "D", "rank", "rank_sd", "most", "unseen", "_crowded", "end"
        vars(new).update({name: getattr(self, name)[i] for name in names}, of=self.of.take(i))
        return new

    @functools.cached_property
    def end(self) -> Any:
        """y at kappa -> 0: S0 = D where more is seen than there are samples."""
        return self._found_end()

    def _found_end(self) -> Any:
        if not np.any(self._crowded):
            return np.full(np.shape(self.D), -np.inf)
        D = np.atleast_1d(np.asarray(self.D, float))
        found = effective_ridge(self.of, np.full(D.shape, -np.inf), D)[1].reshape(np.shape(self.D))
        return np.where(self._crowded, np.maximum(found, self.of.lattice[1].min() - 30.0), -np.inf)

    @functools.cached_property
    def _deepest(self) -> Any:
        """x from which on the derivatives of the scatter have places on either side."""
        x = Sampled.along(self, np.atleast_1d(self.end) + NEAR_END)[0] + OFFSETS[-1]
        return np.where(self._crowded, x.reshape(np.shape(self.end)), -np.inf)

    def inner(self, x: FloatArray) -> FloatArray:
        """y = log kappa' at each x; the end of the medium at x = -inf: S0 + D kappa/kappa' = D."""
        y, i = np.full(x.shape, self.end), np.flatnonzero(~np.isneginf(x))
        if not i.size:
            return y
        D = np.broadcast_to(self.D, x.shape)[i]
        y[i] = effective_ridge(self.of.take(i), x[i] + np.log(D), D)[1]
        return y

    def along(self, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        _, S, P, _ = self.of.along(y)
        with np.errstate(all="ignore"):
            room = 1.0 - S / self.D
            stretch = 1.0 + P / (self.D * room)
            return y + np.log(room), S, P / stretch, stretch

    def at(self, x: FloatArray) -> Moments:
        x = np.atleast_1d(np.asarray(x, float))
        y = self.inner(x)
        inner = self.of.at(y)
        end = np.isneginf(x)
        rows = np.zeros((8, x.size))
        if not end.all():
            rows = np.where(end, 0.0, shifted(y, inner, self.D)[1].rows())
        rows[0], rows[4] = np.where(end, self.rank, rows[0]), np.where(end, inner.t, rows[4])
        return Moments(*rows)

    def scatter(self, x: FloatArray) -> Scatter:
        """That of the counts through the change of variable: dy = dS0/(D - S0 + P0) at a fixed kappa."""
        if not isinstance(self.of, Counts):
            return Scatter.none(x)
        places = np.maximum(x, self._deepest)[:, None] + OFFSETS
        every = self.take(np.repeat(np.arange(x.size), OFFSETS.size))
        y = every.inner(places.ravel())
        m = Moments(*every.of.at(y).rows().reshape(8, *places.shape))
        SS, St, tt = self.of.covariances(y.reshape(places.shape))
        room = np.reshape(self.D, (-1, 1)) - m.S
        shift = 1.0 / (room + m.P)
        share, tilt = room * shift, m.T * shift  # dS = share dS0, dt = dt0 + tilt dS0
        crossed = St * share[:, :, None] + SS * (share[:, :, None] * tilt[:, None, :])
        both = tt + tilt[:, :, None] * St + St.transpose(0, 2, 1) * tilt[:, None, :]
        both = both + SS * (tilt[:, :, None] * tilt[:, None, :])
        found = along((SS * (share[:, :, None] * share[:, None, :]), crossed, both)).rows()
        found[:-1, self._crowded & np.isneginf(x)] = 0.0  # every data set has rank D
        return Scatter(*found)

    def slack(self, x: FloatArray) -> FloatArray:
        return self.of.slack(np.maximum(self.inner(x), float(self.of.lattice[1].min()) - 30.0))

    def atoms(self) -> tuple[Atoms, float]:
        return self.of, self.D

    def inverses(self) -> tuple[Any, Any]:
        """dS and dt along kappa at kappa -> 0: those of the counts over 1 - rank/D, or at the end of the
        medium.
        """
        every, seen = self.of.inverses()
        m = self.of.at(np.atleast_1d(self.end))  # kappa = kappa' (1 - S0/D): d kappa = kappa' P/D dy there
        with np.errstate(all="ignore"):
            room, unit = np.asarray(1.0 - self.of.rank / self.D), self.D * np.exp(-self.end)
            ratio = np.reshape(m.T / m.P, np.shape(self.D))
            plain = every / room, seen / room
        found = np.where(self._crowded, (unit, ratio * unit), plain)
        return found[0], found[1]

    def start(self, N: FloatArray) -> FloatArray:
        return effective_ridge(self.of, np.full(np.shape(N), -np.inf), N)[1]
