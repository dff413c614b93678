"""Importance sampling of the bulk: learn the mixture's shares, draw, weigh, and say how sure it is.

The estimate is the mean of Y = 1{failure} dP/dQ over independent draws from the mixture Q: unbiased for any
shares. The shares are learnt in rounds of their own (each becomes its part of the failing weight), so the
draws that count are independent of them.

The interval is normal in log P, with the effective number of failures (sum Y)^2 / sum Y^2 beside it.
Where fewer than MEANINGFUL are effective that shape is not to be trusted: then the upper end is at least
that of the draws' hard limit, Y <= 1 / DEFENSIVE, and the status says so.

``weigh_failures`` is the compiled loop: it draws data sets from the mixture and weighs those that fail. Its
``law`` is that of the original data, its ``tables`` are what each component of the mixture changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.compiled import njit
from sparselaw.failure.divergence import exceeds
from sparselaw.failure.draw import (
    Entries,
    Range,
    add_rare,
    data_sets_at_a_time,
    draw_common,
    draw_coordinate,
    draw_rare,
    work_space,
)
from sparselaw.failure.failure_curve import Estimate, Report
from sparselaw.failure.proposal import AGAIN, DEFENSIVE, NONE, SINGLE, TOGETHER, Proposal
from sparselaw.interrupts import ctrl_c_kept
from sparselaw.interval import Z95, Interval

LEARNING_ROUNDS = 4
LEARNING_DRAWS = 2500
LEARNING_WORK = 4e7  # nonzeros drawn in one round, about a second
UNIFORM = 0.3  # the part of the shares that no learning takes away: what learning missed is still drawn
MEANINGFUL = 30.0
LEAST_EFFECTIVE = 200.0  # never stop before
# Of naturally failing data up to 1.6 % (measured where direct sampling sees it) is of kinds the mixture
# draws so rarely that a run may not meet one: three rare activations at once. The upper end allows for it.
UNSEEN = 0.02


def sample_by_importance(
    proposal: Proposal,
    threshold: float,
    rng: np.random.Generator,
    *,
    replicates: int,
    enough: Callable[[Estimate], bool],
    progress: Report | None = None,
) -> Estimate:
    """Draw until ``enough`` says so, and no more than ``replicates`` data sets.

    ``progress`` is told the data sets drawn, those for learning included, how many it may become (None
    while it learns), and the effective failures among those that count.
    """
    law, tables = proposal.law, proposal.tables
    space = work_space(law, proposal.most_active)
    work = 100.0 + len(law.active) + law.D * (proposal.most_active + law.rare.mass)
    batch = max(10, min(LEARNING_DRAWS, int(2e6 / work)))
    at_a_time = data_sets_at_a_time(law, proposal.most_active)
    drawn, effective = 0, 0.0
    total: float | None = None

    def draw(shares: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
        nonlocal drawn
        weights, parts = [], []
        for start in range(0, count, at_a_time):
            todo = min(at_a_time, count - start)
            with ctrl_c_kept():
                given = (law, tables, np.log(shares), space, threshold * law.D, todo)
                weight, part = weigh_failures(rng, *given)
            weights.append(weight)
            parts.append(part)
            drawn += todo
            if progress is not None:
                progress(drawn, total, effective)
        return np.concatenate(weights), np.concatenate(parts)

    components = len(tables.kind)
    shares = _shares(np.full(components, 1.0))
    for _ in range(LEARNING_ROUNDS if components > 1 else 0):
        log_weight, parts = draw(shares, learning_draws(replicates, work))
        failed = np.isfinite(log_weight)
        if failed.any():
            weight = np.exp(log_weight[failed] - log_weight[failed].max())
            shares = _shares(weight @ parts[failed])
    learning = drawn
    kept: list[FloatArray] = []
    done = 0
    while done < replicates:
        log_weight, _ = draw(shares, min(2 * batch, replicates - done))
        done += len(log_weight)
        kept.append(log_weight[np.isfinite(log_weight)])
        result = weighted_interval(np.concatenate(kept), done)
        effective = result.failures
        if effective >= LEAST_EFFECTIVE and enough(result):
            break
        total = learning + (min(replicates, done * LEAST_EFFECTIVE / effective) if effective else replicates)
    return result


def learning_draws(replicates: int, work: float) -> int:
    """Data sets of one learning round; ``work`` is about the nonzeros of one of them."""
    return int(min(LEARNING_DRAWS, max(LEARNING_WORK / work, 200), max(replicates / 10, 100)))


def _shares(parts: FloatArray) -> FloatArray:
    shares: FloatArray = (1.0 - UNIFORM) * parts / parts.sum() + UNIFORM / len(parts)
    shares *= 1.0 - DEFENSIVE
    shares[0] += DEFENSIVE  # component 0 is the original law
    return shares


def weighted_interval(log_weight: FloatArray, replicates: int) -> Estimate:
    """The mean of the weights of the failures over all draws, with its interval."""
    n = replicates
    limit = -math.log(0.025) / (n * DEFENSIVE)  # what no failure at all would still allow
    if len(log_weight) == 0:
        return Estimate(bulk=Interval(0.0, 0.0, min(1.0, limit)), replicates=n, status="low-ess")
    top = float(log_weight.max())
    y = np.exp(log_weight - top)
    mean, square = float(y.sum()), float((y * y).sum())
    effective = mean * mean / square
    best = min(1.0, math.exp(top) * mean / n)
    factor = math.exp(Z95 * math.sqrt(max(1.0 / effective - 1.0 / n, 0.0)))
    high = min(1.0, best * factor * (1.0 + UNSEEN))
    ok = effective >= MEANINGFUL
    if not ok:
        high = max(high, min(1.0, best + limit))
    bulk, status = Interval(best / factor, best, high), "ok" if ok else "low-ess"
    return Estimate(bulk=bulk, replicates=n, failures=effective, status=status)


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
