"""The mixture the bulk is drawn from: which coordinates are tilted, and which rare activation is forced.

A force makes rare activations happen, so that the density over the original law is a count:
``single``     one (sample, coordinate), coordinates in proportion to p_j in a window: N / E N;
``together``   two coordinates of a window in one sample;
``again``      one coordinate of a window in two samples.
Here N counts the activations in the window. Windows lie just below the spike, where one activation with
a little help from the rest is enough, and widen downwards. The original law is always in the mixture
with a fixed share, so no weight exceeds 1 / DEFENSIVE.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparselaw.failure.draw import Law, data_law, default_common
from sparselaw.failure.importance_tilts import MOST_TILTED, Bulk, Tilt, carriers, diffuse, one_sample
from sparselaw.failure.tail import activation_range
from sparselaw.problem import SparseInputs

Floats = NDArray[np.float64]
DEFENSIVE = 0.1
NONE, SINGLE, TOGETHER, AGAIN = 0, 1, 2, 3
LOWEST_WINDOW = 0.3  # windows reach down to c_j of this share of the largest
COMMON_AT_LEAST = 200.0


class Tables(NamedTuple):
    """The mixture as arrays. Nodes of tilt a and row k: start[a, k] .. start[a, k + 1]."""

    start: NDArray[np.int64]
    nodes: Floats  # columns: cumulative weight, log weight, plus, minus, and the three log ratios
    kind: NDArray[np.int64]  # of each force
    window: Floats  # columns: first, last, mass
    tilt_of: NDArray[np.int64]  # of each component
    force_of: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    law: Law
    tables: Tables
    most_active: float


def bulk_proposal(problem: SparseInputs, D: int, threshold: float, spike_index: float) -> Proposal:
    """The mixture for data without a spike: coordinates up to min(M, j*)."""
    last = min(problem.dimension, spike_index)
    growth, T = -problem.alpha2 - 1.0, threshold * D
    largest = math.exp(growth * math.log(last)) if growth > 0.0 and last < math.inf else 0.0
    common = max(default_common(problem, D), COMMON_AT_LEAST)
    windows: list[tuple[float, float]] = []
    if largest > 0.5 * T and last >= 3.0:
        lowest = max(2.0, math.floor((LOWEST_WINDOW * largest) ** (1.0 / growth)))
        common = min(common, lowest)
        windows = _windows(largest, growth, common, last)
    law = data_law(problem, D, spike_index, last, common)
    bulk = Bulk(
        D=D, threshold=threshold, active=law.active[:MOST_TILTED], squared=law.squared[:MOST_TILTED]
    )
    tilts: list[Tilt] = [{}]
    components = [(0, 0)]
    for tilt in [diffuse(bulk, 0.6 * bulk.gap), diffuse(bulk, bulk.gap), *carriers(bulk)]:
        _append(tilts, components, tilt, 0)
    for tilt in one_sample(bulk) if D == 1 and len(bulk.active) else []:
        _append(tilts, components, tilt, 0)
    forces: list[tuple[int, float, float]] = [(NONE, 0.0, 0.0)]
    for first, final in windows:
        forces.append((SINGLE, first, final))
        components.append((0, len(forces) - 1))
        middle = math.exp(growth * math.log(0.5 * (first + final)))
        # A sample of squared length r adds r / (T - r) to the sum of squares; the rest must make up for it.
        rest = bulk.gap - middle / max(T - middle, 1.0)
        _append(tilts, components, diffuse(bulk, rest), len(forces) - 1)
    if windows:
        for kind in (TOGETHER, AGAIN) if D > 1 else (TOGETHER,):
            forces.append((kind, windows[-1][0], last))
            components.append((0, len(forces) - 1))
    return Proposal(law=law, tables=_tables(problem, law, tilts, forces, components), most_active=_most(law, tilts))


def _append(tilts: list[Tilt], components: list[tuple[int, int]], tilt: Tilt, force: int) -> None:
    if tilt:
        tilts.append(tilt)
        components.append((len(tilts) - 1, force))


def _windows(largest: float, growth: float, common: float, last: float) -> list[tuple[float, float]]:
    """Windows of the rare coordinates, top first: c_j within 4, 16, 64, ... of the largest."""
    below = [4.0**k for k in range(1, 60) if 4.0**k < 0.5 * largest]
    edges = [math.floor((largest - x) ** (1.0 / growth)) for x in [*below, 0.5 * largest]]
    windows = []
    high = last
    for edge in [*map(float, edges), common]:
        low = max(edge, common)
        if low < high:
            windows.append((low + 1.0, high))
            high = low
    return windows


def _most(law: Law, tilts: list[Tilt]) -> float:
    """The most activations a sample may expect under any tilt."""
    natural = float(law.active.sum())
    extra = (sum(max(n.plus + n.minus for n in nodes) for nodes in tilt.values()) for tilt in tilts)
    return natural + max(extra)


def _tables(
    problem: SparseInputs,
    law: Law,
    tilts: list[Tilt],
    forces: list[tuple[int, float, float]],
    components: list[tuple[int, int]],
) -> Tables:
    rows = min(MOST_TILTED, len(law.active))
    start = np.zeros((len(tilts), rows + 1), np.int64)
    nodes: list[list[float]] = []
    for a, tilt in enumerate(tilts):
        for k in range(rows):
            start[a, k] = len(nodes)
            p, cumulative = float(law.active[k]), 0.0
            for node in tilt.get(k, []):
                cumulative += node.weight
                none, natural = 1.0 - node.plus - node.minus, 1.0 - p
                ratios = [math.log(node.plus / (0.5 * p)), math.log(node.minus / (0.5 * p))]
                nodes.append(
                    [cumulative, math.log(node.weight), node.plus, node.minus, *ratios]
                    + [math.log(none / natural) if natural > 0.0 else 0.0]
                )
        start[a, rows] = len(nodes)
    ranges = [activation_range(problem.alpha1 + 1.0, low, high) if kind else None for kind, low, high in forces]
    return Tables(
        start,
        np.array(nodes, dtype=float).reshape(-1, 7),
        np.array([kind for kind, _, _ in forces], np.int64),
        np.array([[r.first, r.last, r.mass] if r else [2.0, 2.0, 1.0] for r in ranges]),
        np.array([a for a, _ in components], np.int64),
        np.array([f for _, f in components], np.int64),
    )
