"""The sums of the loss surface at many cut-offs, from counts that are laid out once.

Coordinate j was seen n times, n ~ Binomial(D, p_j), or Poisson where p is zero. Every sum of ``counts`` is

    E sum_j F(n_j c_j)  =  sum_i weight_i F(g_i),    g_i = n_i c_i,

over points i: every n where the mean count is small (or the number of samples without it), and a lattice
of 0.8 standard deviations where it is large, on which the trapezoid rule errs by exp(-2 pi^2/0.64). The
points do not depend on the cut-off, and F is always g^a/(g+k)^2: many cut-offs are one matrix product.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray

FEW = 25.0  # mean count up to which every n is a point
RARE = 1.0  # the same, for a shorter list
SPACING = 0.8  # of the lattice, in standard deviations
REACH = 8.0  # and as far as it goes
NEGLECTED = 1e-14  # chance of a count that is left out
_ROWS = 16  # cut-offs at a time: their matrix stays in the cache
_FAR_APART = 200.0  # in log k: no two such cut-offs in one product
_CLIP = 300.0  # |log(g/k)| beyond which g/(g+k) is 0 or 1


@dataclass(frozen=True, slots=True)
class SumsAlong:
    """The four sums of ``counts`` at each cut-off."""

    resolved: FloatArray
    partial: FloatArray
    lost: FloatArray
    noise: FloatArray

    @property
    def degrees(self) -> FloatArray:
        return np.asarray(self.resolved + self.partial)


@dataclass(frozen=True, slots=True)
class CountPoints:
    """``weight`` coordinates with n c = exp(log_g), ``variance`` theirs; ``unseen`` all other variance."""

    weight: FloatArray
    log_g: FloatArray
    variance: FloatArray
    unseen: float
    # g over a unit of its own, and what multiplies 1/(g+k)^2: the same for most cut-offs
    _unit: float = field(init=False, repr=False)
    _g: FloatArray = field(init=False, repr=False)
    _columns: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        unit = 0.5 * float(self.log_g.min() + self.log_g.max()) if self.log_g.size else 0.0
        g, columns = self._scaled(unit)
        for name, value in (("_unit", unit), ("_g", g), ("_columns", columns)):
            object.__setattr__(self, name, value)

    def at(self, log_k: FloatArray) -> SumsAlong:
        """The sums at every cut-off exp(log_k)."""
        sums = np.empty((4, log_k.size))
        order = np.argsort(log_k)
        for start in range(0, order.size, _ROWS):
            rows = order[start : start + _ROWS]
            near = log_k[rows[-1]] - log_k[rows[0]] < _FAR_APART
            for part in (rows,) if near else rows[:, None]:
                sums[:, part] = self._some(log_k[part])
        resolved, partial, lost, noise = sums
        return SumsAlong(resolved, partial, self.unseen + lost, noise)

    def _some(self, log_k: FloatArray) -> FloatArray:
        unit, g, columns = self._unit, self._g, self._columns
        if max(np.max(np.abs(log_k - unit)), np.max(np.abs(self.log_g - unit), initial=0.0)) > _CLIP:
            unit = float(log_k.mean())
            g, columns = self._scaled(unit)
        k = np.exp(log_k - unit)
        inverse = np.add.outer(k, g)
        np.multiply(inverse, inverse, out=inverse)
        np.divide(1.0, inverse, out=inverse)
        with np.errstate(over="ignore"):
            resolved, partial, lost, noise = (inverse @ columns).T
        return np.stack([resolved, k * partial, k * k * lost, noise * math.exp(min(-unit, 700.0))])

    def _scaled(self, unit: float) -> tuple[FloatArray, FloatArray]:
        g = np.exp(np.clip(self.log_g - unit, -_CLIP, _CLIP))
        once = self.weight * g
        return g, np.stack([once * g, once, self.variance, self.variance * g], axis=1)


def lay_out(
    weight: FloatArray,
    mean: FloatArray,
    p: FloatArray,
    log_c: FloatArray,
    s: FloatArray,
    met: FloatArray,
    D: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(weight, log g, variance) of every point with n >= 1.

    The coordinates are seen ``mean`` = D p times on average, and at least once with probability ``met``.
    """
    never = D * (1.0 - p)  # the mean number of samples without it
    nearly_all = (p > 0.5) & (never <= FEW)
    few, rare = ~nearly_all & (mean <= FEW), mean <= RARE
    many = ~nearly_all & ~few
    parts = []
    for rows, count, chance in (
        (few & rare, mean, p),
        (few & ~rare, mean, p),
        (nearly_all, never, 1.0 - p),
    ):
        index = np.flatnonzero(rows)
        if index.size:
            where, n, probability = _every(count[index], chance[index], D)
            n = D - n if rows is nearly_all else n
            parts.append((index[where], n, probability))
    if many.any():
        index = np.flatnonzero(many)
        where, n, probability = _lattice(mean[index], p[index])
        parts.append((index[where], n, probability))
    node, n, probability = (np.concatenate(part) for part in zip(*parts, strict=True))
    seen = n > 0.0
    node, n, probability = node[seen], n[seen], probability[seen]
    # What was left out is made up for, so that the chance of being seen is exact.
    total = np.bincount(node, probability, minlength=weight.size)
    probability = probability * (met / np.where(total > 0.0, total, 1.0))[node]
    points = weight[node] * probability
    return points, np.log(n) + log_c[node], points * s[node]


def _every(mean: FloatArray, p: FloatArray, D: float) -> tuple[NDArray[np.int64], FloatArray, FloatArray]:
    """n = 0, 1, 2, ...: log P = log P(0) + n log(odds D) + sum_{i<n} log((1 - i/D)/(i+1))."""
    most = float(mean.max())
    n = np.arange(0.0, math.ceil(most + REACH * math.sqrt(most) + 14.0))
    room = np.maximum(1.0 - n[:-1] / D, 0.0)
    with np.errstate(divide="ignore"):
        binomial = np.concatenate([[0.0], np.cumsum(np.log(room / n[1:]))])
        inside = np.where(p > 0.0, p, 1.0)
        log_rate = np.where(
            p > 0.0, np.log(inside) - np.log1p(-np.minimum(p, 1.0 - 1e-16)) + math.log(D), 0.0
        )
        poisson = p <= 0.0
        log_rate[poisson] = np.log(np.maximum(mean[poisson], 1e-300))
        log_none = np.where(poisson, -mean, D * np.log1p(-np.minimum(p, 1.0 - 1e-16)))
    table = np.multiply.outer(log_rate, n) + log_none[:, None]
    table += binomial
    if poisson.any():
        plain = -np.concatenate([[0.0], np.cumsum(np.log(n[1:]))])
        table[poisson] = np.multiply.outer(log_rate[poisson], n) + log_none[poisson, None] + plain
    kept = table > math.log(NEGLECTED)
    where, place = np.nonzero(kept)
    return where, n[place], np.exp(table[kept])


def _lattice(mean: FloatArray, p: FloatArray) -> tuple[NDArray[np.int64], FloatArray, FloatArray]:
    """n = mean + 0.8 i standard deviations, by Loader's form of the binomial law, up to a factor.

    log P = - m phi(t) - D (1-p) phi(-t p/(1-p)) - log(n (D-n))/2 + d(n) + d(D-n), t = (n-m)/m,
    phi(t) = (1+t) log(1+t) - t, d what Stirling's formula leaves.
    """
    i = SPACING * np.arange(-math.ceil(REACH / SPACING), math.ceil(REACH / SPACING) + 1)
    m, odds = mean[:, None], (p / (1.0 - p))[:, None]
    t = i * np.sqrt((1.0 - p) / mean)[:, None]
    t = np.maximum(t, -1.0 + 0.5 / m)
    u = np.minimum(t * odds, 1.0 - 1e-9)
    with np.errstate(divide="ignore"):
        others = (1.0 - u) * (m / odds)  # D - n, infinite where counts are Poisson
    n = m * (1.0 + t)
    log_chance = -m * t * t * _phi(t) - m * odds * t * t * _phi(-u)
    log_chance -= 0.5 * np.log1p(t) + 0.5 * np.log1p(-u) + _stirling(n) + _stirling(others)
    chance = np.exp(log_chance - log_chance.max(axis=1, keepdims=True))
    chance[n <= 0.75] = 0.0
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
