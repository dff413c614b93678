"""The mixture the bulk is drawn from: which coordinates are tilted, and which rare activations are forced.

The original law always has a share of at least DEFENSIVE, so no weight exceeds its inverse.

Rare activations are made to happen (``Force``), so that the density over the original law is a count:

``single``     one (sample, coordinate), coordinates in proportion to p_j in a window: N / E N, with N the
               activations in the window;
``together``   one coordinate of a first window and one of a second in the same sample;
``again``      one coordinate of a window in two samples.

Windows of single activations lie just below the spike, where a little help from the rest is enough, and
widen downwards. Two activations together need c + c' of about T = threshold * D: the first window halves
its distance to T from one pair to the next, and the second reaches down to what is then missing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.failure.draw import DataLaw, activation_range, data_law, default_common
from sparselaw.failure.tilts import MOST_TILTED, Bulk, Node, Tilt, carriers, diffuse, joint_tilt, one_sample
from sparselaw.inputs import Inputs

DEFENSIVE = 0.1
LOWEST_FORCED = 0.05  # coordinates with c_j of this share of T and more may be forced
COMMON_AT_LEAST = 200.0
LARGEST_FORCED = 1e280  # beyond, powers of j no longer fit
NONE, SINGLE, TOGETHER, AGAIN = 0, 1, 2, 3
Window = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Force:
    kind: int
    window: Window = (2.0, 2.0)
    second: Window = (2.0, 2.0)

    def row(self, s: float) -> list[float]:
        """First, last and mass of both windows."""
        if self.kind == NONE:
            return [2.0, 2.0, 1.0] * 2
        ranges = [activation_range(s, *self.window), activation_range(s, *self.second)]
        return [value for r in ranges for value in (r.first, r.last, r.mass)]


NOTHING = Force(NONE)


def single_forces(growth: float, below: float, last: float) -> list[Force]:
    """Windows of the coordinates below+1..last, top first: c_j within 4, 16, 64, ... of the largest."""
    largest = last**growth
    steps = [4.0**k for k in range(1, 60) if 4.0**k < 0.5 * largest]
    edges = [_edge(largest - x, growth) for x in [*steps, 0.5 * largest]]
    forces = []
    high = last
    for edge in [*edges, below]:
        low = max(edge, below)
        if low < high:
            forces.append(Force(SINGLE, (low + 1.0, high)))
            high = low
    return forces


def double_forces(T: float, growth: float, below: float, last: float, D: int) -> list[Force]:
    """Two activations, in one sample or of one coordinate."""
    forces = []
    missing = 0.5
    while True:
        lowest = _edge(0.5 * missing * T, growth)
        low = max(below, _edge((1.0 - missing) * T - 2.0, growth))
        final = lowest <= below or missing < 1e-12
        lowest = 1.0 if final else lowest  # the last pair takes any help, from coordinate 2 on
        high = last if final else min(last, _edge((1.0 - 0.5 * missing) * T, growth))
        if low < high and lowest < last:
            forces.append(Force(TOGETHER, (low + 1.0, high), (lowest + 1.0, last)))
        if final:
            break
        missing *= 0.5
    low = max(below, _edge(0.45 * T, growth))
    if D > 1 and low < last:
        forces.append(Force(AGAIN, (low + 1.0, last)))
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
    components = [({}, NOTHING), *((tilt, NOTHING) for tilt in _tilts(bulk) if tilt)]
    # One activation, or two, can come near T only if the largest amplitude does.
    if law.growth > 0.0 and 2.0 < last < LARGEST_FORCED and last**law.growth > 0.45 * threshold * D:
        components += _forced(bulk, law.growth, last)
    tilts = [tilt for tilt, _ in components]
    return Proposal(law=law, tables=_tables(law, components), most_active=_most(law, tilts))


def _tilts(bulk: Bulk) -> list[Tilt]:
    """Without a forced activation."""
    diffused = [diffuse(bulk, 0.6 * bulk.gap), diffuse(bulk, bulk.gap)]
    return [*diffused, joint_tilt(bulk), *carriers(bulk), *(one_sample(bulk) if bulk.D == 1 else [])]


def _forced(bulk: Bulk, growth: float, last: float) -> Iterator[Component]:
    T = bulk.threshold * bulk.D
    below = max(1.0, math.floor((LOWEST_FORCED * T) ** (1.0 / growth)))
    for force in single_forces(growth, below, last):
        yield {}, force
        r = math.exp(growth * math.log(0.5 * sum(force.window)))
        # A sample of squared length r adds r / (T - r) to the sum of squares; the rest must make up for it.
        rest = diffuse(bulk, bulk.gap - r / max(T - r, 1.0))
        # The forced coordinates keep their own law: only then is the density a product of the two.
        kept = {row: nodes for row, nodes in rest.items() if row + 2.0 < force.window[0]}
        if kept:
            yield kept, force
    for force in double_forces(T, growth, below, last, bulk.D):
        yield {}, force


def _most(law: DataLaw, tilts: list[Tilt]) -> float:
    natural = float(law.active.sum())
    extra = (sum(max(n.plus + n.minus for n in nodes) for nodes in tilt.values()) for tilt in tilts)
    return natural + max(extra)


def _tables(law: DataLaw, components: Sequence[Component]) -> Tables:
    rows = min(MOST_TILTED, len(law.active))
    start = np.zeros((len(components), rows + 1), np.int64)
    nodes: list[list[float]] = []
    for a, (tilt, _) in enumerate(components):
        for k in range(rows):
            start[a, k] = len(nodes)
            nodes += _node_rows(tilt.get(k, []), float(law.active[k]))
        start[a, rows] = len(nodes)
    return Tables(
        start,
        np.array(nodes, dtype=float).reshape(-1, 7),
        np.array([force.kind for _, force in components], np.int64),
        np.array([force.row(law.s) for _, force in components]),
    )


def _node_rows(nodes: Sequence[Node], p: float) -> list[list[float]]:
    """The columns of ``Tables.nodes`` for the nodes of a coordinate of probability p."""
    rows, cumulative = [], 0.0
    for node in nodes:
        cumulative += node.weight
        none, natural = max(1.0 - node.plus - node.minus, 1e-300), 1.0 - p
        ratios = [math.log(node.plus / (0.5 * p)), math.log(node.minus / (0.5 * p))]
        ratios.append(math.log(none / natural) if natural > 0.0 else 0.0)
        rows.append([cumulative, math.log(node.weight), node.plus, node.minus, *ratios])
    return rows
