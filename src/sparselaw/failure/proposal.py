"""Other laws for the common coordinates, under which the bulk fails often.

Given x_1 = 1, coordinate j of a sample is +1, -1 or 0 with probabilities p_j/2, p_j/2, 1 - p_j. A node
(plus, minus) replaces the first two; a coordinate may have several nodes, one of which is chosen for the
whole data set. With n+ and n- the counts of a coordinate, the density over the original law is

    sum over nodes of weight * (plus / (p/2))^n+ * (minus / (p/2))^n- * ((1-plus-minus) / (1-p))^(D-n+-n-),

and the product over coordinates is the density of the tilt, exactly.

Which nodes: a single coordinate may carry the event; its cheapest frequencies, by relative entropy, are found
on a line (``carriers``). Near threshold 1 the event is a weighted sum of squares, sum_j l_j z_j^2 >
(threshold-1) D with z_j = v_j / sqrt(D s_j), l_j = s_j / (threshold - s_j); tilting it exponentially gives
each z_j the variance 1 / (1 - 2 theta l_j), a mixture of shifted means, which the others have beside the
first carrier. Tilting all coordinates so, without a carrier, narrows no interval (29 settings: at most 4 %).

Many coordinates may also align with x_1 at once (``joint_tilt``). Let coordinate j be active with frequency
f_j and its signs lean by d_j. The mean of x x^T is then M_11 = 1, M_1j = a_j d_j, M_jk = a_j a_k d_j d_k,
M_jj = c_j f_j (a_j = sqrt c_j), and data fail once its top eigenvalue reaches the threshold. Relative entropy
is least, for a given eigenvector w, under
    f+-  proportional to  (p_j / 2) exp(theta (c_j w_j^2 +- 2 a_j w_j m_j)),
    m_j = w_1 + sum_{k != j} w_k a_k d_k,
the derivative of w^T M w; w and the frequencies are iterated to a fixed point, theta is bisected.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.failure.draw import DataLaw, activation_range, data_law, default_common
from sparselaw.inputs import Inputs

MOST_TILTED = 60  # coordinates 2, ..., 61
SPACING = 1.2  # between the means of a mixture, in standard deviations
MOST_CARRIERS = 20
RATE_RANGE = 12.0  # carriers this much (in log probability) behind the best are left out
ROWS = 16  # coordinates of the joint tilt
ITERATIONS = 60
HALVED = 2.0**-40  # how close the joint tilt comes to its level
LEAST_SHIFT = 0.3  # coordinates moved by fewer standard deviations keep their law


Node = tuple[float, float, float]  # weight, plus, minus
Tilt = dict[int, list[Node]]  # row of the common coordinate -> its nodes; rows left out keep their law


@dataclass(frozen=True, slots=True, kw_only=True)
class Bulk:
    """What the tilts are computed from: rows 0, 1, ... are coordinates 2, 3, ..."""

    D: int
    threshold: float
    active: FloatArray
    squared: FloatArray

    @property
    def weights(self) -> FloatArray:
        """l_j of the weighted sum of squares."""
        variance = self.active * self.squared
        return variance / (self.threshold - variance)


def _shifted(bulk: Bulk, theta: float, leave_out: int) -> Tilt:
    """Mixtures of shifted means for all coordinates but one."""
    tilt: Tilt = {}
    for row, weight in enumerate(bulk.weights):
        extra = 1.0 / max(1.0 - 2.0 * theta * weight, 1e-12) - 1.0  # variance of the shifts
        if row == leave_out or extra < 0.1:
            continue
        p = float(bulk.active[row])
        reach = 0.9 * bulk.D / math.sqrt(bulk.D * p)  # a mean frequency of signs cannot pass 1
        steps = max(1, math.ceil(2.5 * math.sqrt(extra) / SPACING))
        shifts = np.arange(-min(steps, 200), min(steps, 200) + 1) * SPACING
        shifts = shifts[np.abs(shifts) <= reach] if reach >= SPACING else np.array([-reach, 0.0, reach])
        chances = np.exp(-0.5 * shifts**2 / extra)
        tilt[row] = [
            (float(chance), *signed(p, shift * math.sqrt(p / bulk.D)))
            for chance, shift in zip(chances / chances.sum(), shifts, strict=True)
        ]
    return tilt


def signed(p: float, mean: float) -> tuple[float, float]:
    """The frequencies of +1 and -1, tilted by exp(h x), whose difference is ``mean``."""
    root = math.sqrt((mean * (1.0 - p)) ** 2 + p * p * (1.0 - mean * mean))
    if mean < 0.0:
        minus, plus = signed(p, -mean)
        return plus, minus
    e = (mean * (1.0 - p) + root) / (p * (1.0 - mean))
    norm = 1.0 - p + 0.5 * p * (e + 1.0 / e)
    return 0.5 * p * e / norm, 0.5 * p / e / norm


def carriers(bulk: Bulk) -> list[Tilt]:
    """One tilt for each coordinate that can carry the event cheaply, the cheapest first.

    With frequencies f of being active and d of the signs' excess, coordinates 1 and j alone fail when
    c d^2 >= (threshold - 1)(threshold - f c), or f c >= threshold with no excess at all.
    """
    found: list[tuple[float, int, list[Node]]] = []
    for row in range(len(bulk.active)):
        p, c = float(bulk.active[row]), float(bulk.squared[row])
        most = min(1.0, bulk.threshold / c)
        f = np.geomspace(0.2 * p, most, 600)[:-1]
        d = np.sqrt((bulk.threshold - 1.0) * np.maximum(bulk.threshold - f * c, 0.0) / c)
        rate = np.where(d < f, bulk.D * _entropy(f, np.minimum(d, f), p), np.inf)
        best = int(rate.argmin())
        if np.isfinite(rate[best]) and p < 1.0:
            plus, minus = 0.5 * (f[best] + d[best]), 0.5 * (f[best] - d[best])
            minus = max(minus, 1e-6 * plus)
            found.append((float(rate[best]), row, [(0.5, plus, minus), (0.5, minus, plus)]))
        if p < most < 1.0:
            rate_count = float(bulk.D * _entropy(np.array([most]), np.array([0.0]), p)[0])
            found.append((rate_count, row, [(1.0, 0.5 * most, 0.5 * most)]))
    found.sort(key=lambda item: item[:2])
    kept = [item for item in found if item[0] <= found[0][0] + RATE_RANGE][:MOST_CARRIERS]
    tilts: list[Tilt] = []
    for place, (_, row, nodes) in enumerate(kept):
        tilts.append({row: nodes})
        if place == 0 and row == int(bulk.weights.argmax()):
            others = _shifted(bulk, 0.4 / float(bulk.weights[row]), leave_out=row)
            if others:
                tilts.append({row: nodes, **others})
    return tilts


def one_sample(bulk: Bulk) -> list[Tilt]:
    """For D = 1: activations tilted by exp(k c_j) to a mean squared length at the threshold."""
    from scipy.optimize import brentq

    def tilted(k: float) -> FloatArray:
        odds: FloatArray = bulk.active * np.exp(k * bulk.squared)
        return odds / (1.0 - bulk.active + odds)

    tilts: list[Tilt] = []
    most = 700.0 / float(bulk.squared.max(initial=1.0))
    for level in (0.7 * (bulk.threshold - 1.0), bulk.threshold - 1.0):
        if float(tilted(0.0) @ bulk.squared) < level < 0.95 * float(tilted(most) @ bulk.squared):
            k = brentq(lambda k, level: float(tilted(k) @ bulk.squared) - level, 0.0, most, args=(level,))
            tilts.append({row: [(1.0, 0.5 * f, 0.5 * f)] for row, f in enumerate(tilted(k))})
    return tilts


def _entropy(f: FloatArray, d: FloatArray, p: float) -> FloatArray:
    """Relative entropy of frequencies (f + d)/2, (f - d)/2, 1 - f against p/2, p/2, 1 - p."""
    from scipy.special import xlogy

    plus, minus, none = 0.5 * (f + d), 0.5 * (f - d), 1.0 - f
    total = xlogy(plus, plus / (0.5 * p)) + xlogy(minus, minus / (0.5 * p))
    return np.asarray(total + (xlogy(none, none / (1.0 - p)) if p < 1.0 else 0.0))


def joint_tilt(bulk: Bulk) -> Tilt:
    """The tilt that aligns the first coordinates with x_1; empty where that cannot reach the threshold."""
    from scipy.optimize import bisect

    p, c = bulk.active[:ROWS], bulk.squared[:ROWS]
    if len(p) == 0 or bulk.threshold >= 0.999 * (1.0 + float(c.sum())) or bulk.threshold <= 1.0:
        return {}

    def gap(theta: float) -> float:
        return _solve(p, c, theta)[0] - bulk.threshold

    if gap(0.0) >= 0.0:
        return {}
    low, high = 0.0, 1.0
    while gap(high) < 0.0:
        low, high = high, 2.0 * high
        if high > 1e6:
            return {}
    # Plain bisection: near its fixed point the value is known to 1e-10 only, too rough for a secant.
    width = HALVED * (high - low)
    theta = float(bisect(gap, low, high, xtol=1.5 * width))
    _, plus, minus = _solve(p, c, theta if gap(theta) >= 0.0 else theta + width)  # the end that fails
    tilt: Tilt = {}
    for row in range(len(p)):
        shift = abs(plus[row] - minus[row]) * np.sqrt(bulk.D / p[row])
        if shift > LEAST_SHIFT:
            a = max(float(plus[row]), 1e-300)
            b = max(float(minus[row]), 1e-6 * a)
            tilt[row] = [(0.5, a, b), (0.5, b, a)]
    return tilt


def _solve(p: FloatArray, c: FloatArray, theta: float) -> tuple[float, FloatArray, FloatArray]:
    """The top eigenvalue and the frequencies at a fixed point, reached from full alignment."""
    a = np.sqrt(c)
    f = np.full(len(p), 0.99)
    d = f.copy()
    plus = minus = 0.5 * f
    value = 0.0
    for _ in range(ITERATIONS):
        lean = np.concatenate([[1.0], a * d])
        matrix = np.outer(lean, lean)
        matrix[np.arange(1, len(lean)), np.arange(1, len(lean))] = c * f
        values, vectors = np.linalg.eigh(matrix)
        before, value = value, float(values[-1])
        w = np.abs(vectors[:, -1])
        if abs(value - before) < 1e-10:
            break
        pull = 2.0 * a * w[1:] * (w @ lean - w[1:] * a * d)
        push = c * w[1:] ** 2
        top = theta * (push + pull)
        e_minus, e_none = np.exp(-2.0 * theta * pull), np.exp(-np.minimum(top, 700.0))
        norm = 0.5 * p * (1.0 + e_minus) + (1.0 - p) * e_none
        plus, minus = 0.5 * p / norm, 0.5 * p * e_minus / norm
        f, d = plus + minus, plus - minus
    return value, plus, minus


# The mixture the bulk is drawn from: which coordinates are tilted, and which rare activations are forced.
#
# The original law always has a share of at least DEFENSIVE, so no weight exceeds its inverse.
#
# Rare activations are made to happen (``Force``), so that the density over the original law is a count:
#
# ``single``     one (sample, coordinate), coordinates in proportion to p_j in a window: N / E N, with N the
#                activations in the window;
# ``together``   one coordinate of a first window and one of a second in the same sample;
# ``again``      one coordinate of a window in two samples.
#
# Windows of single activations lie just below the spike, where a little help from the rest is enough, and
# widen downwards. Two activations together need c + c' of about T = threshold * D: the first window halves
# its distance to T from one pair to the next, and the second reaches down to what is then missing.


DEFENSIVE = 0.1
LOWEST_FORCED = 0.05  # coordinates with c_j of this share of T and more may be forced
COMMON_AT_LEAST = 200.0
LARGEST_FORCED = 1e280  # beyond, powers of j no longer fit
NONE, SINGLE, TOGETHER, AGAIN = 0, 1, 2, 3
Window = tuple[float, float]
Force = tuple[int, Window, Window]  # kind, and the windows of one or two coordinates
ANY: Window = (2.0, 2.0)
NOTHING: Force = (NONE, ANY, ANY)


def single_forces(growth: float, below: float, last: float) -> list[Force]:
    """Windows of the coordinates below+1..last, top first: c_j within 4, 16, 64, ... of the largest."""
    largest = last**growth
    steps = [4.0**k for k in range(1, 60) if 4.0**k < 0.5 * largest]
    edges = [_edge(largest - x, growth) for x in [*steps, 0.5 * largest]]
    forces: list[Force] = []
    high = last
    for edge in [*edges, below]:
        low = max(edge, below)
        if low < high:
            forces.append((SINGLE, (low + 1.0, high), ANY))
            high = low
    return forces


def double_forces(T: float, growth: float, below: float, last: float, D: int) -> list[Force]:
    """Two activations, in one sample or of one coordinate."""
    forces: list[Force] = []
    missing = 0.5
    while True:
        lowest = _edge(0.5 * missing * T, growth)
        low = max(below, _edge((1.0 - missing) * T - 2.0, growth))
        final = lowest <= below or missing < 1e-12
        lowest = 1.0 if final else lowest  # the last pair takes any help, from coordinate 2 on
        high = last if final else min(last, _edge((1.0 - 0.5 * missing) * T, growth))
        if low < high and lowest < last:
            forces.append((TOGETHER, (low + 1.0, high), (lowest + 1.0, last)))
        if final:
            break
        missing *= 0.5
    low = max(below, _edge(0.45 * T, growth))
    if D > 1 and low < last:
        forces.append((AGAIN, (low + 1.0, last), ANY))
    return forces


def _edge(c: float, growth: float) -> float:
    """The last coordinate with c_j of at most c."""
    return float(math.floor(c ** (1.0 / growth))) if c > 1.0 else 1.0


Component = tuple[Tilt, Force]


class Tables(NamedTuple):
    """The mixture as arrays. Nodes of component m and row k: start[m, k] .. start[m, k + 1]."""

    start: NDArray[np.int64]
    nodes: FloatArray  # columns: cumulative weight, log weight, plus, minus, and the three log ratios
    kind: NDArray[np.int64]  # of each component's force
    window: FloatArray  # columns: first, last, mass of both windows


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    law: DataLaw
    tables: Tables
    most_active: float  # activations a sample may expect under any component


def bulk_proposal(inputs: Inputs, D: int, threshold: float, spike_index: float) -> Proposal:
    """The mixture for data without a spike: coordinates up to min(M, j*)."""
    last = min(inputs.dimension, spike_index)
    law = data_law(inputs, D, spike_index, last, max(default_common(inputs, D), COMMON_AT_LEAST))
    bulk = Bulk(D=D, threshold=threshold, active=law.active[:MOST_TILTED], squared=law.squared[:MOST_TILTED])
    tilts = [joint_tilt(bulk), *carriers(bulk), *(one_sample(bulk) if D == 1 else [])]
    components: list[Component] = [({}, NOTHING), *((tilt, NOTHING) for tilt in tilts if tilt)]
    # One activation, or two, can come near T only if the largest amplitude does.
    if law.growth > 0.0 and 2.0 < last < LARGEST_FORCED and last**law.growth > 0.45 * threshold * D:
        T = threshold * D
        below = max(1.0, math.floor((LOWEST_FORCED * T) ** (1.0 / law.growth)))
        forces = [
            *single_forces(law.growth, below, last),
            *double_forces(T, law.growth, below, last, D),
        ]
        components += [({}, force) for force in forces]
    extra = (
        sum(max(plus + minus for _, plus, minus in nodes) for nodes in tilt.values())
        for tilt, _ in components
    )
    most = float(law.active.sum()) + max(extra)
    return Proposal(law=law, tables=_tables(law, components), most_active=most)


def _tables(law: DataLaw, components: Sequence[Component]) -> Tables:
    rows = min(MOST_TILTED, len(law.active))
    start = np.zeros((len(components), rows + 1), np.int64)
    nodes: list[list[float]] = []
    windows = []
    for a, (tilt, (kind, *both)) in enumerate(components):
        for k in range(rows):
            start[a, k] = len(nodes)
            cumulative, p = 0.0, float(law.active[k])
            for weight, plus, minus in tilt.get(k, []):
                cumulative += weight
                none, natural = max(1.0 - plus - minus, 1e-300), 1.0 - p
                ratios = [math.log(plus / (0.5 * p)), math.log(minus / (0.5 * p))]
                ratios.append(math.log(none / natural) if natural > 0.0 else 0.0)
                nodes.append([cumulative, math.log(weight), plus, minus, *ratios])
        start[a, rows] = len(nodes)
        ranges = [activation_range(law.s, *window) for window in both]
        windows.append([v for r in ranges for v in (r.first, r.last, 1.0 if kind == NONE else r.mass)])
    kinds = np.array([kind for _, (kind, *_) in components], np.int64)
    return Tables(start, np.array(nodes, dtype=float).reshape(-1, 7), kinds, np.array(windows))
