"""Naive twins of the rank of D samples: its fixed point, its loops one by one, and data drawn and peeled."""

from __future__ import annotations

import itertools
import math

import numpy as np


def plain_rank(p, D, tilt=0.0, rounds=20_000):
    """The rank by its fixed point, step by step, of trees weighed by e^{tilt rank}; and rho, q."""
    e = math.exp(tilt)
    q = (1.0 - p) ** (D - 1.0)
    for _ in range(rounds):
        B = np.array([np.prod(np.delete(1.0 - p * q, i)) for i in range(p.size)])
        rho = B / (B + e * (1.0 - B))
        A = (1.0 - p * rho) ** (D - 1.0)
        last, q = q, A / (A + e * (1.0 - A))
        if np.max(np.abs(q - last)) < 1e-15:
            break
    free = float(np.prod(1.0 - p * q))
    A, both = (1.0 - p * rho) ** D, p * q * rho
    found = np.sum(e * (1.0 - A) / (A + e * (1.0 - A))) + D * e * (1.0 - free) / (free + e * (1.0 - free))
    return float(found - D * np.sum(e * both / (1.0 + (e - 1.0) * both))), free, q


def loops_one_by_one(p, D, rho, q):
    """What loops add to the rank: the chains and the closed loop of every choice of coordinates."""
    rho_of = rho / (1.0 - p * q)
    total = 0.0
    for size in range(2, p.size + 1):
        for loop in itertools.permutations(range(p.size), size):
            chance = np.prod([D * p[i] ** 2 for i in loop])
            total += chance / (2.0 * size) * _closed_less_cut(loop, p, D, q, rho_of)
    return total


def _closed_less_cut(loop, p, D, q, rho_of):
    """Coordinates and samples in turn, each open to its two neighbours or, at an end, to one of them."""
    size = len(loop)
    both, first, last = [], [], []
    for i, after in zip(loop, [*loop[1:], loop[0]], strict=True):
        both += [(1.0 - p[i] * rho_of[i]) ** (D - 2.0), rho_of[i] / (1.0 - p[after] * q[after])]
        # as the first of a chain it lacks the neighbour before it, as the last the one after it
        first += [(1.0 - p[i] * rho_of[i]) ** (D - 1.0), rho_of[after]]
        last += [(1.0 - p[i] * rho_of[i]) ** (D - 1.0), rho_of[i]]
    nodes = range(2 * size)
    found = _closed(both)
    for x in nodes:
        around = [both[(x + i) % (2 * size)] for i in range(1, 2 * size)]
        found -= _chain([first[x], *around, last[x]])  # cut at a node, which then stands at both ends
        found += _chain([first[(x + 1) % (2 * size)], *around[1:], last[x]])  # and between two of them
    return found


def _chain(z):
    """The mean rank of a chain of nodes, each open with chance z: matched from the left, or by its tree."""
    found = left = 0.0
    for chance in z:
        found += 1.0 - chance + chance * left
        left = chance * (1.0 - left)
    return found


def _closed(z):
    """The mean rank of a closed loop of signs: every choice of open nodes."""
    found, size = 0.0, len(z)
    for state in itertools.product((0, 1), repeat=size):
        chance = np.prod([x if s else 1.0 - x for x, s in zip(z, state, strict=True)])
        if all(state):
            found += chance * (size / 2 - 0.5)
            continue
        start = state.index(0)
        runs = "".join(map(str, state[start:] + state[:start])).split("0")
        found += chance * (size - sum(state) + sum(len(run) // 2 for run in runs))
    return found


def peeled_rank(data):
    """The rank of a drawn data set: leaves are peeled off, what is left is given to numpy."""
    K, D = data.active.size, data.samples
    ends = [set() for _ in range(K + D)]
    for column, sample in zip(data.column.tolist(), data.sample.tolist(), strict=True):
        ends[column].add(K + sample)
        ends[K + sample].add(column)
    leaves, rank = [v for v in range(K + D) if len(ends[v]) == 1], 0
    while leaves:
        leaf = leaves.pop()
        if len(ends[leaf]) != 1:
            continue
        rank += 1
        (other,) = ends[leaf]
        for v in ends[other]:
            ends[v].discard(other)
            if len(ends[v]) == 1:
                leaves.append(v)
        ends[other] = set()
    columns = [v for v in range(K) if ends[v]]
    if not columns:
        return rank
    X = np.zeros((K, D))
    X[data.column, data.sample] = data.sign
    samples = sorted({v - K for column in columns for v in ends[column]})
    return rank + int(np.linalg.matrix_rank(X[np.ix_(columns, samples)]))


class Control:
    """A count of each data set whose mean is known, and which goes with its rank.

    Coordinates with a sample that has nothing else open, and samples with a coordinate that nothing else
    shows, less activations where both hold; each as if the others were average.
    """

    def __init__(self, alpha1, D, rho, first=200_000):
        self._alpha1, self._D, self._rho = alpha1, D, rho
        j = np.arange(1.0, first + 1.0)
        edges = np.exp(np.arange(math.log(first + 0.5), 150.0, 0.002))  # beyond: as integrals
        mass = -np.diff(edges**-alpha1) / alpha1
        weight = np.concatenate([np.ones(first), np.diff(edges)])
        p = np.concatenate([j ** -(alpha1 + 1.0), mass / np.diff(edges)])
        log_left = np.log1p(-np.minimum(p * rho, 1.0 - 1e-16))
        q = np.exp((D - 1.0) * log_left)
        free = math.exp(float(weight @ np.log1p(-np.minimum(p * q, 1.0 - 1e-16))))
        self.mean = (
            float(-weight @ np.expm1(D * log_left)) + D * (1.0 - free) - D * rho * float(weight @ (p * q))
        )

    def __call__(self, data):
        p = data.active ** -(self._alpha1 + 1.0)
        q = np.exp((self._D - 1.0) * np.log1p(-np.minimum(p * self._rho, 1.0 - 1e-16)))
        n = np.bincount(data.column, minlength=p.size)
        log_free = np.bincount(data.sample, np.log1p(-np.minimum(q, 1.0 - 1e-12))[data.column], data.samples)
        known = np.sum(1.0 - (1.0 - self._rho) ** n) - np.sum(np.expm1(log_free))
        return float(known - self._rho * np.sum(q[data.column]))
