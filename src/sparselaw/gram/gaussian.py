"""Gaussian data: Marchenko and Pastur's law with its next order in 1/D.

D samples of variances v are the effective medium of counts that do not fluctuate, g = D v. With q =
kappa'/D and f_m = sum v^m/(v+q)^m the leading order is S = f1 and t = q f1 at kappa = q (D - f1), and from
E log det(1 + G/kappa) = leading + log(1 - f2/D)/2 the next one is

    S -= (f2 - f3)(D - f1)/(D - f2)^2,     t += q/(D - f2) [f3 - f2 (f2 - f3)/(D - f2)].

The covariance of log det between two ridges is -2 log(1 - sum f f'/D).
"""

from __future__ import annotations

import math

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.gram.counts import OFFSETS, derivative_weights
from sparselaw.gram.law import Atoms, Moments, Scatter
from sparselaw.gram.nodes import coordinate_nodes, power_integral
from sparselaw.gram.sampled import Sampled, composed, inverse, log_slopes, times

FALLS = 60.0  # e-folds of the variances beyond the last that D samples resolve
_WEIGHTS = derivative_weights(OFFSETS, 0.0)


def population(decay: float, dimension: float, D: float) -> Atoms:
    """Atoms g = D v of the variances v = j^-decay; beyond the nodes one faint atom stands for their sum."""
    nodes = coordinate_nodes(dimension, math.log(max(D, 1.0)) + FALLS / decay, decay)
    log_v, weight = -decay * nodes.log_j, nodes.weight
    end = math.log(dimension + 0.5) if math.isfinite(dimension) else math.inf
    if nodes.log_end < end:
        far, faint = power_integral(1.0 - decay, nodes.log_end, end), float(log_v.min()) - 7.0
        log_v, weight = np.append(log_v, faint), np.append(weight, far * math.exp(-faint))
    return Atoms(
        weight, log_v + math.log(D), weight * np.exp(log_v), rank=dimension, log_single=log_v + math.log(3.0)
    )


class Gaussian(Sampled):
    """D Gaussian samples of a population whose atoms are g = D v."""

    def __init__(self, of: Atoms, D: float) -> None:
        super().__init__(of, D, rank_sd=0.0)

    def leading(self) -> Sampled:
        """The same without its next order in 1/D."""
        return Sampled(self.of, self.D, rank_sd=0.0)

    def at(self, x: FloatArray) -> Moments:
        x = np.atleast_1d(np.asarray(x, float))
        end = np.isneginf(x)
        rows, t, _ = self._moments(self.inner(x))
        rows[:, end] = 0.0
        rows[0, end] = self.rank
        rows[4, end] = t[end] if self._crowded else 0.0
        return Moments(*rows)

    def along(self, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        rows, _, stretch = self._moments(y)
        return super().along(y)[0], rows[0], rows[1], stretch

    def _moments(self, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The rows of the moments along x, t, and dx/dy."""
        D = self.D
        with np.errstate(all="ignore"):
            f1, f2, f3 = self._powers(y)
            q = np.stack([np.exp(y - math.log(D))] * 4)
            room, free = _less(D, f1), inverse(_less(D, f2))
            S = f1 - times(times(f2 - f3, room), times(free, free))
            t = times(q, f1 + times(free, f3 - times(times(f2, f2 - f3), free)))
            l1, l2, l3 = log_slopes(room)
            slopes = 1.0 + l1, l2, l3
            rows = Moments.of_derivatives(composed(S, *slopes), composed(t, *slopes)).rows()
        return rows, t[0], slopes[0]

    def inverses(self) -> tuple[float, float]:
        """Of an inverse Wishart matrix where D exceeds the dimension: D - M - 1 in the place of D - M."""
        every, seen = super().inverses()
        free = self.D - self.of.rank
        if free <= 0.0 and self.of.rank > self.D:
            return every, seen
        if free <= 1.0:
            return math.inf, math.inf
        return every * free / (free - 1.0), seen * free / (free - 1.0)

    def _powers(self, y: FloatArray) -> list[FloatArray]:
        """f1, f2, f3 with three derivatives along y: f_m' = -m (f_m - f_{m+1})."""
        weight, log_g, _ = self.of.lattice
        with np.errstate(over="ignore"):
            f = 1.0 / (1.0 + np.exp(y[:, None] - log_g))
        power, sums = np.ones_like(f), []
        for _ in range(6):
            power = power * f
            sums.append(power @ weight)
        table = [np.array(sums)]
        for _ in range(3):
            last = table[-1]
            table.append(-np.arange(1.0, last.shape[0])[:, None] * (last[:-1] - last[1:]))
        return [np.stack([level[m] for level in table]) for m in range(3)]

    def scatter(self, x: FloatArray) -> Scatter:
        """From the covariance of log det at six ridges about each."""
        rows = np.zeros((8, x.size))
        inside = np.flatnonzero(np.isfinite(x))
        if inside.size:
            y = self.inner((x[inside, None] + OFFSETS).ravel())
            f1, f2, f3 = (row[0].reshape(-1, OFFSETS.size) for row in self._powers(y))
            q = np.exp(y - math.log(self.D)).reshape(f1.shape)
            C, K = _log_det(q, f1, f2, f3, self.D)
            d = _WEIGHTS
            less = d[1] - d[0]

            def both(table: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
                return np.asarray(np.einsum("i,rij,j->r", left, table, right))

            alike = (d[1], d[1]), (d[1], d[2]), (d[1], d[3]), (d[2], d[2])
            crossed = (d[1], less), (d[1], d[2] - d[1]), (d[2], less)
            rows[:4, inside] = [both(C, *pair) for pair in alike]
            rows[4:7, inside] = [-both(K, *pair) for pair in crossed]
        return Scatter(*rows)


def _less(D: float, f: FloatArray) -> FloatArray:
    """D - f."""
    return np.concatenate([[D - f[0]], -f[1:]])


def _log_det(
    q: FloatArray, f1: FloatArray, f2: FloatArray, f3: FloatArray, D: float
) -> tuple[FloatArray, FloatArray]:
    """Covariances of log det with log det and with t between the ridges of each row."""
    same = np.eye(q.shape[1], dtype=bool)
    gap = np.where(same, 1.0, q[:, :, None] - q[:, None, :])
    two = np.where(same, f2[:, :, None], ((q * f1)[:, :, None] - (q * f1)[:, None, :]) / gap)  # sum f f'
    three = np.where(same, f3[:, :, None], two + (two - f2[:, None, :]) * q[:, None, :] / gap)  # sum f f'^2
    C = -2.0 * np.log1p(-two / D)
    own = (two - three) * f2[:, None, :] / (D - f2[:, None, :])
    return C, np.asarray(-2.0 * q[:, None, :] / (D - two) * (three - own))
