"""Means over how often a coordinate was seen: the one quadrature of binomial counts.

n ~ Binomial(D, p), or Poisson where p = 0. Where the mean count is small every n is a point; where it is
large the points are a lattice of 0.8 standard deviations, on which the trapezoid rule errs by exp(-2
pi^2/0.64). Where p > 1/2 the samples without the coordinate are laid out, D - n ~ Binomial(D, 1-p). The
chance of n = 0 is exact.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.sums.unseen import log_unseen

FEW = 25.0  # mean count up to which every n is a point
RARE = 1.0  # the same, for a shorter list
SPACING = 0.8  # of the lattice, in standard deviations
REACH = 8.0  # and as far as it goes
NEGLECTED = 1e-14  # chance of a count that is left out


class CountPoints(NamedTuple):
    """Points at which a function of the count of each coordinate is averaged, in the order of coordinates."""

    coordinate: NDArray[np.intp]
    n: FloatArray
    chance: FloatArray


def count_points(mean: FloatArray, p: FloatArray, D: float, *, few: float = FEW) -> CountPoints:
    """Counts of coordinates that D samples show ``mean`` = D p times on average; Poisson where p is zero.

    Parameters
    ----------
    mean
        The mean count of each coordinate.
    p
        Its probability; zero where its counts are Poisson.
    D
        The number of samples.
    few
        The mean count up to which every n is a point.

    Returns
    -------
    CountPoints
        The points, n = 0 included; the chances of one coordinate sum to one.
    """
    always = p >= 1.0
    mirrored = (p > 0.5) & ~always
    rare_p = np.where(mirrored, 1.0 - p, p)
    rare_mean = np.where(mirrored, D * (1.0 - p), mean)
    rules = (
        ((rare_mean <= RARE) & ~always, _every),
        ((rare_mean > RARE) & (rare_mean <= few) & ~always, _every),
        ((rare_mean > few) & ~always, _lattice),
    )
    coordinate, n, chance = (
        [np.flatnonzero(always)],
        [np.full(int(always.sum()), D)],
        [np.ones(int(always.sum()))],
    )
    for rows, rule in rules:
        index = np.flatnonzero(rows)
        if index.size:
            where, count, probability = rule(rare_mean[index], rare_p[index], D)
            where = index[where]
            coordinate.append(where)
            n.append(np.where(mirrored[where], D - count, count))
            chance.append(probability)
    at, count, probability = (np.concatenate(part) for part in (coordinate, n, chance))
    seen = count > 0.0
    at, count, probability = at[seen], count[seen], probability[seen]
    log_never = np.where(p > 1e-16, log_unseen(p, np.where(p > 1e-16, D, 1.0)), -mean)
    total = np.bincount(at, probability, minlength=p.size)
    probability = probability * (-np.expm1(log_never) / np.where(total > 0.0, total, 1.0))[at]
    every = np.arange(p.size)
    at, count = np.concatenate([every, at]), np.concatenate([np.zeros(p.size), count])
    probability = np.concatenate([np.exp(log_never), probability])
    order = np.argsort(at, kind="stable")
    return CountPoints(at[order], count[order], probability[order])


def _every(mean: FloatArray, p: FloatArray, D: float) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
    """n = 0, 1, 2, ...: log P = log P(0) + n log(odds D) + sum_{i<n} log((1 - i/D)/(i+1))."""
    most = float(mean.max())
    n = np.arange(0.0, math.ceil(most + REACH * math.sqrt(most) + 14.0))
    poisson = p <= 0.0
    inside = np.where(poisson, 0.5, np.minimum(p, 1.0 - 1e-16))
    with np.errstate(divide="ignore"):
        log_odds = np.where(
            poisson, np.log(np.maximum(mean, 1e-300)), np.log(inside) - np.log1p(-inside) + math.log(D)
        )
        log_none = np.where(poisson, -mean, D * np.log1p(-inside))
        room = np.log(np.maximum(1.0 - n[:-1] / D, 0.0))
    factorials = -np.concatenate([[0.0], np.cumsum(np.log(n[1:]))])
    table = np.multiply.outer(log_odds, n) + log_none[:, None] + factorials
    table[~poisson] += np.concatenate([[0.0], np.cumsum(room)])
    kept = table > math.log(NEGLECTED)
    where, place = np.nonzero(kept)
    return where, n[place], np.exp(table[kept])


def _lattice(mean: FloatArray, p: FloatArray, D: float) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
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
