"""Counts: coordinates that share no sample. The Gram matrix is diagonal, g = n c with n ~ Binomial(D, p).

The first rung of the ladder counts -> effective medium -> cavity. Every coordinate is a few atoms, one for
each point of the quadrature of its count; the same points, kept by coordinate, give the covariances over
data sets, since coordinates are independent.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.gram.law import Atoms, Scatter
from sparselaw.gram.nodes import CoordinateNodes
from sparselaw.sums.binomial import count_points
from sparselaw.sums.count_nodes import cells

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


@dataclass(frozen=True)
class Counts(Atoms):
    """Atoms of counts; ``cells`` hold how they scatter, where there are ``cell_nodes`` to tell."""

    cell_nodes: tuple[FloatArray, FloatArray, FloatArray] | None = None  # (weight, p, c)
    samples: float = math.inf
    diverges: bool = False  # whether tr G^+ is infinite: coordinates without end, each fainter than the last

    @functools.cached_property
    def cells(self) -> CountScatter | None:
        """The coordinates in cells with the points of their counts."""
        return None if self.cell_nodes is None else count_scatter(*self.cell_nodes, self.samples)

    def inverses(self) -> tuple[float, float]:
        every, seen = Atoms.inverses(self)
        return math.inf if self.diverges else every, seen

    def scatter(self, x: FloatArray) -> Scatter:
        if self.cells is None:
            return Scatter.none(x)
        return along(x, self.cells.covariances(x[:, None] + OFFSETS))


OFFSETS = 0.4 * np.arange(-2.5, 3.0)  # in x, of the places between which derivatives are taken


def along(x: FloatArray, covariances: tuple[FloatArray, FloatArray, FloatArray]) -> Scatter:
    """The scatter at each x from covariances of S and t between the places x + OFFSETS."""
    del x
    SS, St, tt = covariances
    d = _WEIGHTS
    less = d[1] - d[0]  # M = t' - t

    def both(table: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("i,rij,j->r", left, table, right))

    return Scatter(
        SS=both(SS, d[0], d[0]),
        SS1=both(SS, d[0], d[1]),
        SS2=both(SS, d[0], d[2]),
        S1S1=both(SS, d[1], d[1]),
        SM=both(St, d[0], less),
        SM1=both(St, d[0], d[2] - d[1]),
        S1M=both(St, d[1], less),
        MM=both(tt, less, less),
    )


def derivative_weights(places: FloatArray, x: float, orders: int = 4) -> FloatArray:
    """Rows m: the weights with which values at the places give the m-th derivative at x (polynomial)."""
    inverse = np.linalg.inv(np.vander(places - x, increasing=True))
    return np.stack([math.factorial(m) * inverse[m] for m in range(orders)])


_WEIGHTS = derivative_weights(OFFSETS, 0.0)


def counts(
    nodes: CoordinateNodes, cell_nodes: tuple[FloatArray, FloatArray, FloatArray] | None = None
) -> Counts:
    """The law of counts of these coordinates.

    Parameters
    ----------
    nodes
        The coordinates.
    cell_nodes
        (weight, p, c) for the scatter over data sets; None where it is not wanted.
    """
    points = count_points(nodes.mean, nodes.p, nodes.D)
    seen = points.n > 0.0
    at, chance = points.coordinate[seen], points.chance[seen]
    weight = nodes.weight[at] * chance
    return Counts(
        weight=np.concatenate([weight, nodes.beyond]),
        log_g=np.concatenate([np.log(points.n[seen]) + nodes.log_c[at], nodes.log_beyond]),
        variance=np.concatenate([weight * np.exp(nodes.log_s[at]), np.zeros_like(nodes.beyond)]),
        unseen=nodes.unseen_variance(),
        rank=nodes.seen(),
        spread=math.sqrt(nodes.seen_variance()),
        log_single=np.concatenate([nodes.log_c[at], nodes.log_beyond]),
        cell_nodes=cell_nodes,
        samples=nodes.D,
        diverges=math.isinf(nodes.inverse_beyond),
    )


def count_scatter(weight: FloatArray, p: FloatArray, c: FloatArray, D: float) -> CountScatter:
    """The coordinates in cells with the points of their counts."""
    weight, p, c = cells(weight, p, c, np.where(D * p > OFTEN, FINE, COARSE))
    points = count_points(D * p, p, D, few=EVERY)
    with np.errstate(divide="ignore"):
        log_g = np.log(points.n) + np.log(c)[points.coordinate]
    starts = np.flatnonzero(np.diff(points.coordinate, prepend=-1))
    return CountScatter(weight, p * c, starts, log_g, points.chance)
