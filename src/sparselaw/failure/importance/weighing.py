"""Draws data sets from the mixture and weighs those that fail.

``law`` is the DataLaw of the original data, ``tables`` what each component of the mixture changes.
"""

from __future__ import annotations

import math

import numpy as np

from sparselaw.compiled import njit
from sparselaw.failure.divergence import exceeds
from sparselaw.failure.draw import add_rare, draw_common, draw_rare
from sparselaw.failure.entries import Entries
from sparselaw.failure.importance.forces import AGAIN, NONE, SINGLE, TOGETHER
from sparselaw.failure.tail import Range, draw_coordinate


@njit()
def weigh_failures(rng, law, tables, log_share, space, T, replicates):  # type: ignore[no-untyped-def]
    """log(P / Q) of each data set that fails, -inf otherwise, and each component's part of Q there."""
    room, common, components = len(space.sample), len(law.active), len(tables.kind)
    cumulative = np.cumsum(np.exp(log_share))
    common_count = np.zeros(common, np.int64)
    n_plus, n_minus = np.zeros(common, np.int64), np.zeros(common, np.int64)
    log_weight = np.full(replicates, -np.inf)
    parts = np.zeros((replicates, components))
    for drawn in range(replicates):
        m = min(np.searchsorted(cumulative, rng.random() * cumulative[-1]), components - 1)
        size = _draw_tilted(rng, law, tables, m, space, n_plus, n_minus)
        for k in range(common):
            common_count[k] = n_plus[k] + n_minus[k]
        j, i = draw_rare(rng, law.D, law.rare)
        if tables.kind[m] != NONE:
            j, i = _force(rng, law.D, tables, m, law.s, j, i)
            size, j, i = _add_forced_common(rng, j, i, space, size, room, common_count, n_plus, n_minus)
        size, squared, count, rare_j = add_rare(
            rng, j, i, law.growth, space, size, room, law.squared, common_count
        )
        data = Entries(size, law.D, space.sample, space.coordinate, space.sign, squared, count)
        if exceeds(data, T, space.first, space.singles):
            for m in range(components):
                parts[drawn, m] = log_share[m] + _log_tilt(tables, m, law.D, n_plus, n_minus)
                parts[drawn, m] += _log_force(tables, m, law.D, law.s, space, size, common, rare_j)
            log_weight[drawn] = -_to_shares(parts[drawn])
    return log_weight, parts


@njit()
def _draw_tilted(rng, law, tables, m, space, n_plus, n_minus):  # type: ignore[no-untyped-def]
    """The common coordinates under component m; fills their counts and returns the size."""
    room, rows, size = len(space.sample), tables.start.shape[1] - 1, np.int64(0)
    for k in range(len(law.active)):
        plus = minus = 0.5 * law.active[k]
        if k < rows:
            low, high = tables.start[m, k], tables.start[m, k + 1]
            if high > low:
                u = rng.random()
                node = low
                while node < high - 1 and u > tables.nodes[node, 0]:
                    node += 1
                plus, minus = tables.nodes[node, 2], tables.nodes[node, 3]
        size, n_plus[k], n_minus[k] = draw_common(rng, law.D, k, plus, minus, space, size, room)
    return size


@njit()
def _to_shares(logs):  # type: ignore[no-untyped-def]
    """Turns logarithms into shares of their sum, in place, and returns the logarithm of the sum."""
    top = -np.inf
    for m in range(len(logs)):
        top = max(top, logs[m])
    total = 0.0
    for m in range(len(logs)):
        logs[m] = math.exp(logs[m] - top)
        total += logs[m]
    logs /= total
    return top + math.log(total)


@njit()
def _force(rng, D, tables, m, s, j, i):  # type: ignore[no-untyped-def]
    """Adds the forced activations to the rare ones."""
    kind = tables.kind[m]
    law = Range(s, tables.window[m, 0], tables.window[m, 1], tables.window[m, 2], False)
    more = 1 if kind == SINGLE else 2
    out_j, out_i = np.empty(len(j) + more), np.empty(len(j) + more, np.int64)
    for e in range(len(j)):
        out_j[more + e] = j[e]
        out_i[more + e] = i[e]
    out_j[0] = draw_coordinate(rng, law)
    out_i[0] = int(rng.random() * D)
    if kind == TOGETHER:
        second = Range(s, tables.window[m, 3], tables.window[m, 4], tables.window[m, 5], False)
        out_j[1] = draw_coordinate(rng, second)
        out_i[1] = out_i[0]
    elif kind != SINGLE:
        out_j[1] = out_j[0]
        out_i[1] = (out_i[0] + 1 + int(rng.random() * (D - 1))) % D
    return out_j, out_i


@njit()
def _add_forced_common(rng, j, i, space, size, room, common_count, n_plus, n_minus):  # type: ignore[no-untyped-def]
    """Moves forced activations of common coordinates to their own entries, unless they are there already."""
    keep = np.ones(len(j), np.bool_)
    for e in range(min(2, len(j))):
        k = int(j[e]) - 2 if j[e] < len(common_count) + 2.0 else -1
        if k < 0:
            continue
        keep[e] = False
        again = size == room
        for f in range(size):
            again = again or (space.coordinate[f] == k and space.sample[f] == i[e])
        if again:
            continue
        space.sample[size] = i[e]
        space.coordinate[size] = k
        space.sign[size] = 1 if rng.random() < 0.5 else -1
        if space.sign[size] > 0:
            n_plus[k] += 1
        else:
            n_minus[k] += 1
        common_count[k] += 1
        size += 1
    return size, j[keep], i[keep]


@njit()
def _log_tilt(tables, m, D, n_plus, n_minus):  # type: ignore[no-untyped-def]
    """log of the tilt's density over the original law."""
    total = 0.0
    for k in range(tables.start.shape[1] - 1):
        low, high = tables.start[m, k], tables.start[m, k + 1]
        if high == low:
            continue
        rest = D - n_plus[k] - n_minus[k]
        top, scaled = -np.inf, 0.0
        for node in range(low, high):
            row = tables.nodes[node]
            value = row[1] + n_plus[k] * row[4] + n_minus[k] * row[5]
            if rest > 0:  # a node that is always on has an infinite ratio here, and never leaves a rest
                value += rest * row[6]
            if value > top:
                scaled = scaled * math.exp(top - value) + 1.0
                top = value
            else:
                scaled += math.exp(value - top)
        total += top + math.log(scaled)
    return total


@njit()
def _log_force(tables, m, D, s, space, size, common, rare_j):  # type: ignore[no-untyped-def]
    """log of the force's density over the original law."""
    kind = tables.kind[m]
    if kind == NONE:
        return 0.0
    first, last, mass = tables.window[m, 0], tables.window[m, 1], tables.window[m, 2]
    first2, last2, mass2 = tables.window[m, 3], tables.window[m, 4], tables.window[m, 5]
    total = 0.0
    for e in range(size):
        a = _index(space.coordinate[e], common, rare_j)
        if a < first or a > last:
            continue
        if kind == SINGLE:
            total += 1.0 / (D * mass)
            continue
        p = math.exp(-s * math.log(a))
        for f in range(size):
            b = _index(space.coordinate[f], common, rare_j)
            if kind == TOGETHER and space.sample[e] == space.sample[f] and first2 <= b <= last2:
                total += (p if f == e else 1.0) / (D * mass * mass2)  # p: both draws were this coordinate
            elif kind == AGAIN and f != e and space.coordinate[e] == space.coordinate[f]:
                total += 1.0 / (D * (D - 1.0) * p * mass)
    return math.log(total) if total > 0.0 else -np.inf


@njit()
def _index(k, common, rare_j):  # type: ignore[no-untyped-def]
    return k + 2.0 if k < common else rare_j[k - common]
