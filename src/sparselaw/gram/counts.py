"""Means over how often a coordinate was seen: the one quadrature of binomial counts.

n ~ Binomial(D, p), or Poisson where p = 0. Where the mean count is small every n is a point; where it is
large the points are a lattice of 0.8 standard deviations, on which the trapezoid rule errs by exp(-2
pi^2/0.64). Where p > 1/2 the samples without the coordinate are laid out, D - n ~ Binomial(D, 1-p). The
chance of n = 0 is exact.

``Counts`` is the law of coordinates that share no sample, the first rung of the ladder counts -> effective
medium -> cavity: the Gram matrix is diagonal, g = n c, and every coordinate is a few atoms, one for each
point of the quadrature of its count. The same points, kept by coordinate, give the covariances over data
sets, since coordinates are independent.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.gram.law import Atoms, Scatter, on_lattice
from sparselaw.gram.nodes import CoordinateNodes, log_unseen

WHOLE_COUNTS = 25.0  # mean count up to which every n is a point
RARE = 1.0  # the same, for a shorter list
SPACING = 0.8  # of the lattice, in standard deviations
REACH = 8.0  # and as far as it goes
NEGLECTED = 1e-14  # chance of a count that is left out


class CountPoints(NamedTuple):
    """Points at which a function of the count of each coordinate is averaged, in the order of coordinates."""

    coordinate: NDArray[np.intp]
    n: FloatArray
    chance: FloatArray


def count_points(
    mean: FloatArray, p: FloatArray, D: FloatArray | float, *, few: float = WHOLE_COUNTS
) -> CountPoints:
    """Counts of coordinates that D samples show ``mean`` = D p times on average, n = 0 included.

    Poisson where p is zero; each coordinate may have its own D. ``few`` is the mean count up to which every n
    is a point. The chances of one coordinate sum to one.
    """
    at, n, chance, never = seen_points(mean, p, np.broadcast_to(D, p.shape), few)
    at = np.concatenate([np.arange(p.size), at])
    order = np.argsort(at, kind="stable")
    n, chance = np.concatenate([np.zeros(p.size), n]), np.concatenate([never, chance])
    return CountPoints(at[order], n[order], chance[order])


def seen_points(
    mean: FloatArray, p: FloatArray, D: FloatArray, few: float
) -> tuple[NDArray[np.intp], FloatArray, FloatArray, FloatArray]:
    """Points with n > 0 in any order: coordinate, n, chance; and the chance of n = 0 of each coordinate."""
    always = p >= 1.0
    mirrored = (p > 0.5) & ~always
    rare_p = np.where(mirrored, 1.0 - p, p)
    rare_mean = np.where(mirrored, D * (1.0 - p), mean)
    rules = (
        ((rare_mean <= RARE) & ~always, _every),
        ((rare_mean > RARE) & (rare_mean <= few) & ~always, _every),
        ((rare_mean > few) & ~always, _lattice),
    )
    sure = np.flatnonzero(always)
    coordinate, n, chance = [sure], [D[sure]], [np.ones(sure.size)]
    for rows, rule in rules:
        index = np.flatnonzero(rows)
        if index.size:
            where, count, probability = rule(rare_mean[index], rare_p[index], D[index])
            where = index[where]
            coordinate.append(where)
            n.append(np.where(mirrored[where], D[where] - count, count))
            chance.append(probability)
    at, count = np.concatenate(coordinate), np.concatenate(n)
    seen = count > 0.0
    at, count, probability = at[seen], count[seen], np.concatenate(chance)[seen]
    log_never = np.where(p > 1e-16, log_unseen(p, np.where(p > 1e-16, D, 1.0)), -mean)
    total = np.bincount(at, probability, minlength=p.size)
    probability = probability * (-np.expm1(log_never) / np.where(total > 0.0, total, 1.0))[at]
    return at, count, probability, np.exp(log_never)


def _every(mean: FloatArray, p: FloatArray, D: FloatArray) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
    """n = 0, 1, 2, ...: log P = log P(0) + n log(odds D) + sum_{i<n} log((1 - i/D)/(i+1))."""
    most = float(mean.max())
    n = np.arange(0.0, math.ceil(most + REACH * math.sqrt(most) + 14.0))
    poisson = p <= 0.0
    inside = np.where(poisson, 0.5, np.minimum(p, 1.0 - 1e-16))
    with np.errstate(divide="ignore"):
        log_odds = np.where(
            poisson, np.log(np.maximum(mean, 1e-300)), np.log(inside) - np.log1p(-inside) + np.log(D)
        )
        log_none = np.where(poisson, -mean, D * np.log1p(-inside))
        each_D, of_D = np.unique(D, return_inverse=True)
        room = np.log(np.maximum(1.0 - n[:-1] / each_D[:, None], 0.0))
    factorials = -np.concatenate([[0.0], np.cumsum(np.log(n[1:]))])
    table = np.multiply.outer(log_odds, n) + log_none[:, None] + factorials
    table[:, 1:] += np.where(poisson[:, None], 0.0, np.cumsum(room, axis=1)[of_D])
    kept = table > math.log(NEGLECTED)
    where, place = np.nonzero(kept)
    return where, n[place], np.exp(table[kept])


def _lattice(
    mean: FloatArray, p: FloatArray, D: FloatArray
) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
    """n = mean + 0.8 i standard deviations, by Loader's form of the binomial law, up to a factor.

    log P = - m phi(t) - D (1-p) phi(-t p/(1-p)) - log(n (D-n))/2 + d(n) + d(D-n), t = (n-m)/m,
    phi(t) = (1+t) log(1+t) - t, d what Stirling's formula leaves.
    """
    del D
    i = SPACING * np.arange(-math.ceil(REACH / SPACING), math.ceil(REACH / SPACING) + 1)
    m, odds = mean[:, None], (p / (1.0 - p))[:, None]
    t = np.maximum(i * np.sqrt((1.0 - p) / mean)[:, None], -1.0 + 0.5 / m)
    u = np.minimum(t * odds, 1.0 - 1e-9)
    with np.errstate(divide="ignore"):
        others = (1.0 - u) * (m / odds)  # D - n, infinite where counts are Poisson
    n = m * (1.0 + t)
    log_chance = -m * t * t * _phi(t) - m * odds * t * t * _phi(-u)
    log_chance -= 0.5 * np.log1p(t) + 0.5 * np.log1p(-u) + _stirling(n) + _stirling(others)
    log_chance[(n <= 0.75) | (others <= 0.75)] = -np.inf
    chance = np.exp(log_chance - log_chance.max(axis=1, keepdims=True))
    kept = chance > NEGLECTED
    where, _ = np.nonzero(kept)
    return where, n[kept], chance[kept]


def _phi(t: FloatArray) -> FloatArray:
    """((1+t) log(1+t) - t)/t^2."""
    small = np.abs(t) < 0.02
    safe = np.where(small, 1.0, t)
    series = 0.5 - t * (1 / 6 - t * (1 / 12 - t * (1 / 20 - t * (1 / 30 - t * (1 / 42 - t / 56)))))
    return np.asarray(np.where(small, series, ((1.0 + safe) * np.log1p(safe) - safe) / (safe * safe)))


def _stirling(x: FloatArray) -> FloatArray:
    """log x! - [(x + 1/2) log x - x + log(2 pi)/2]."""
    y = 1.0 / x
    return np.asarray(y * (1 / 12 - y * y * (1 / 360 - y * y * (1 / 1260 - y * y / 1680))))


Coordinates = tuple[FloatArray, FloatArray, FloatArray]  # weight, p, c


def cells(
    weight: FloatArray, p: FloatArray, c: FloatArray, width: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Coordinates that hardly differ put together, cells ``width`` wide in log p and log c."""
    of_c = np.floor(np.log(c) / width)
    code = 4.0 * (np.floor(np.log(p) / width) * (np.ptp(of_c) + 1.0) + of_c - of_c.min())
    code += 2.0 * (width > width.min()) + (p >= 1.0)
    _, cell = np.unique(code, return_inverse=True)
    size = np.abs(weight)
    total = np.bincount(cell, size)
    mean_p = np.bincount(cell, size * p) / total
    mean_c = np.bincount(cell, size * p * c) / (total * mean_p)
    return np.bincount(cell, weight).astype(float), np.where(mean_p > 1.0 - 1e-12, 1.0, mean_p), mean_c


FINE, COARSE = 0.2, 0.6  # widths in log p of the cells in which counts are averaged for the scatter
OFTEN = 0.02  # mean count from which on they are fine
EVERY = 12.0  # mean count up to which every n is a point there


@dataclass(frozen=True)
class CountScatter:
    """The coordinates in cells, wanted to a few per cent: how S and t of data sets scatter."""

    weight: FloatArray  # of each cell
    variance: FloatArray  # s of a coordinate
    starts: NDArray[np.intp]  # where the points of a cell begin
    log_g: FloatArray  # of each point; -inf where n = 0
    chance: FloatArray
    repeated: FloatArray  # 1 - 1/n: the pairs of samples that show it, of all pairs

    def covariances(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Cov(S, S), Cov(S, t) and Cov(t, t) between the places of each row of x (rows, places, places)."""
        rows, places = x.shape
        with np.errstate(over="ignore"):
            f = 1.0 / (1.0 + np.exp(x.reshape(-1, 1) - self.log_g))
        mean = np.add.reduceat(self.chance * f, self.starts, axis=1)
        counts = np.diff(np.append(self.starts, self.chance.size))
        centred = (f - np.repeat(mean, counts, axis=1)).reshape(rows, places, -1)
        weight = np.repeat(self.weight, counts) * self.chance
        s = np.repeat(self.variance, counts)
        both = centred * weight
        SS = both @ centred.transpose(0, 2, 1)
        both *= s
        St = -(both @ centred.transpose(0, 2, 1))
        both *= s
        return SS, St, both @ centred.transpose(0, 2, 1)

    def loops(self, x: FloatArray) -> FloatArray:
        """Rows: tr f^2, tr f^2 (1-f) and tr Sigma f^2 (1-f) at each x, of coordinates seen more than once."""
        with np.errstate(over="ignore"):
            f = 1.0 / (1.0 + np.exp(x[:, None] - self.log_g))
        weight = np.repeat(self.weight, np.diff(np.append(self.starts, self.chance.size)))
        variance = np.repeat(self.variance, np.diff(np.append(self.starts, self.chance.size)))
        weight = weight * self.chance * self.repeated
        both = f * f * (1.0 - f)
        return np.stack([(f * f) @ weight, both @ weight, both @ (weight * variance)])

    def slack(self, x: FloatArray) -> FloatArray:
        """Cov(K - S, K)/(E(K - S) Var K) at each x, K the coordinates seen: at most 1/Var K."""
        seen = np.isfinite(self.log_g)
        with np.errstate(over="ignore"):
            left = np.where(seen, 1.0 / (1.0 + np.exp(self.log_g - x[:, None])), 0.0) * self.chance
        found, short = (
            np.add.reduceat(values, self.starts, axis=-1) for values in (self.chance * seen, left)
        )
        variance = self.weight @ (found * (1.0 - found))
        return np.asarray((short * (1.0 - found)) @ self.weight / (short @ self.weight * variance))


class Counts(Atoms):
    """Atoms of counts, laid out when they are first asked for.

    ``cell_nodes`` gives (weight, p, c) for the scatter over data sets; None where it is not wanted.
    """

    def __init__(self, nodes: CoordinateNodes, cell_nodes: Callable[[], Coordinates] | None = None) -> None:
        self._nodes, self._cell_nodes = nodes, cell_nodes
        known = {"rank": nodes.seen(), "rank_sd": math.sqrt(nodes.seen_variance()), "most": math.inf}
        vars(self).update(known, unseen=nodes.unseen_variance())

    @functools.cached_property
    def _laid_out(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        nodes = self._nodes
        points = count_points(nodes.mean, nodes.p, nodes.D)
        seen = points.n > 0.0
        at, chance = points.coordinate[seen], points.chance[seen]
        weight = nodes.weight[at] * chance
        return (
            np.concatenate([weight, nodes.beyond]),
            np.concatenate([np.log(points.n[seen]) + nodes.log_c[at], nodes.log_beyond]),
            np.concatenate([weight * np.exp(nodes.log_s[at]), np.zeros_like(nodes.beyond)]),
            np.concatenate([nodes.log_c[at], nodes.log_beyond]),
        )

    @functools.cached_property
    def lattice(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        weight, log_g, variance = lattice_of([self._nodes])
        return weight[0], log_g, variance[0]

    @property
    def weight(self) -> FloatArray:
        return self._laid_out[0]

    @property
    def log_g(self) -> FloatArray:
        return self._laid_out[1]

    @property
    def variance(self) -> FloatArray:
        return self._laid_out[2]

    @property
    def log_single(self) -> FloatArray:
        return self._laid_out[3]

    @functools.cached_property
    def cells(self) -> CountScatter | None:
        """The coordinates in cells with the points of their counts."""
        return None if self._cell_nodes is None else cells_of([self])[0]

    def inverses(self) -> tuple[float, float]:
        """tr G^+ is infinite for coordinates without end, each fainter than the last."""
        every, seen = Atoms.inverses(self)
        return math.inf if math.isinf(self._nodes.inverse_beyond) else every, seen

    def scatter(self, x: FloatArray) -> Scatter:
        return along(self.covariances(x[:, None] + OFFSETS))

    def covariances(self, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Those of ``CountScatter``, or none."""
        none = np.zeros((*y.shape, y.shape[1]))
        return (none, none, none) if self.cells is None else self.cells.covariances(y)

    def slack(self, x: FloatArray) -> FloatArray:
        return np.zeros(x.shape) if self.cells is None else self.cells.slack(x)

    def loops(self, y: FloatArray) -> FloatArray:
        """Those of ``CountScatter``, or none."""
        return np.zeros((3, y.size)) if self.cells is None else self.cells.loops(y)


def cells_of(laws: list[Any]) -> list[CountScatter]:
    """The coordinates of each law in cells, with the points of their counts, all side by side."""
    found = []
    for law in laws:
        weight, p, c = law._cell_nodes()
        found.append(cells(weight, p, c, np.where(law._nodes.D * p > OFTEN, FINE, COARSE)))
    if not found:
        return []
    weight, p, c = (np.concatenate(column) for column in zip(*found, strict=True))
    ends = np.cumsum([each[1].size for each in found])
    D = np.repeat([law._nodes.D for law in laws], np.diff(ends, prepend=0))
    at, n, chance = count_points(D * p, p, D, few=EVERY)
    with np.errstate(divide="ignore"):
        log_g = np.log(n) + np.log(c)[at]
    starts = np.flatnonzero(np.diff(at, prepend=-1))
    out, first = [], 0
    for end in ends.tolist():
        a, b = starts[first], starts[end] if end < starts.size else at.size
        cell = slice(first, end)
        again = 1.0 - 1.0 / np.maximum(n[a:b], 1.0)
        its = weight[cell], (p * c)[cell], starts[cell] - a, log_g[a:b], chance[a:b], again
        out.append(CountScatter(*its))
        first = end
    return out


def lattice_of(nodes: list[CoordinateNodes]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The atoms of the counts of each, and those beyond them, on one lattice."""
    law = np.repeat(np.arange(len(nodes)), [each.p.size for each in nodes])
    weight, mean, p, log_c, log_s = (
        np.concatenate([getattr(each, name) for each in nodes])
        for name in ("weight", "mean", "p", "log_c", "log_s")
    )
    at, n, chance, _ = seen_points(mean, p, np.array([each.D for each in nodes])[law], WHOLE_COUNTS)
    weight = weight[at] * chance
    beyond = np.concatenate([each.beyond for each in nodes])
    which = np.concatenate([law[at], np.repeat(np.arange(len(nodes)), [each.beyond.size for each in nodes])])
    log_g = np.concatenate([np.log(n) + log_c[at], *(each.log_beyond for each in nodes)])
    variance = np.concatenate([weight * np.exp(log_s[at]), np.zeros_like(beyond)])
    columns, places = on_lattice(np.stack([np.concatenate([weight, beyond]), variance]), log_g, which)
    return columns[0], places, columns[1]


OFFSETS = 0.4 * np.arange(-2.5, 3.0)  # in x, of the places between which derivatives are taken


def along(covariances: tuple[FloatArray, FloatArray, FloatArray]) -> Scatter:
    """The scatter at each x from covariances of S and t between the places x + OFFSETS."""
    of_S, of_M = _WEIGHTS[:3], np.diff(_WEIGHTS[:3], axis=0)  # M = t' - t
    SS, St, tt = covariances
    SS, SM, MM = of_S @ SS @ of_S.T, of_S @ St @ of_M.T, of_M @ tt @ of_M.T
    return Scatter(
        SS=SS[:, 0, 0],
        SS1=SS[:, 0, 1],
        SS2=SS[:, 0, 2],
        S1S1=SS[:, 1, 1],
        SM=SM[:, 0, 0],
        SM1=SM[:, 0, 1],
        S1M=SM[:, 1, 0],
        MM=MM[:, 0, 0],
    )


def derivative_weights(places: FloatArray, x: float, orders: int = 4) -> FloatArray:
    """Rows m: the weights with which values at the places give the m-th derivative at x (polynomial)."""
    inverse = np.linalg.inv(np.vander(places - x, increasing=True))
    return np.stack([math.factorial(m) * inverse[m] for m in range(orders)])


_WEIGHTS = derivative_weights(OFFSETS, 0.0)
