"""The mixture the bulk is drawn from: which coordinates are tilted, and which rare activations are forced.

The original law always has a share of at least DEFENSIVE, so no weight exceeds its inverse.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.failure.draw import Law, data_law, default_common
from sparselaw.failure.importance.forces import NONE, Force, double_forces, single_forces
from sparselaw.failure.importance.meanfield import joint_tilt
from sparselaw.failure.importance.tilts import MOST_TILTED, Bulk, Tilt, carriers, diffuse, one_sample
from sparselaw.inputs import Inputs

DEFENSIVE = 0.1
LOWEST_FORCED = 0.05  # coordinates with c_j of this share of T and more may be forced
COMMON_AT_LEAST = 200.0
LARGEST_FORCED = 1e280  # beyond, powers of j no longer fit


class Tables(NamedTuple):
    """The mixture as arrays. Nodes of tilt a and row k: start[a, k] .. start[a, k + 1]."""

    start: NDArray[np.int64]
    nodes: FloatArray  # columns: cumulative weight, log weight, plus, minus, and the three log ratios
    kind: NDArray[np.int64]  # of each force
    window: FloatArray  # columns: first, last, mass of both windows
    tilt_of: NDArray[np.int64]  # of each component
    force_of: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    law: Law
    tables: Tables
    most_active: float  # activations a sample may expect under any component


def bulk_proposal(inputs: Inputs, D: int, threshold: float, spike_index: float) -> Proposal:
    """The mixture for data without a spike: coordinates up to min(M, j*)."""
    last = min(inputs.dimension, spike_index)
    growth, T = inputs.power_activations().growth, threshold * D
    law = data_law(inputs, D, spike_index, last, max(default_common(inputs, D), COMMON_AT_LEAST))
    # One activation, or two, can come near T only if the largest amplitude does.
    forced = growth > 0.0 and 2.0 < last < LARGEST_FORCED and last**growth > 0.45 * T
    below = max(1.0, math.floor((LOWEST_FORCED * T) ** (1.0 / growth))) if forced else 1.0
    bulk = Bulk(D=D, threshold=threshold, active=law.active[:MOST_TILTED], squared=law.squared[:MOST_TILTED])
    tilts: list[Tilt] = [{}]
    forces = [Force(NONE)]
    components = [(0, 0)]  # tilt and force of each

    def add(tilt: Tilt, force: int) -> None:
        if tilt:
            tilts.append(tilt)
            components.append((len(tilts) - 1, force))

    for tilt in [diffuse(bulk, 0.6 * bulk.gap), diffuse(bulk, bulk.gap), joint_tilt(bulk), *carriers(bulk)]:
        add(tilt, 0)
    for tilt in one_sample(bulk) if D == 1 else []:
        add(tilt, 0)
    for force in single_forces(growth, below, last) if forced else []:
        forces.append(force)
        components.append((0, len(forces) - 1))
        r = math.exp(growth * math.log(0.5 * sum(force.window)))
        # A sample of squared length r adds r / (T - r) to the sum of squares; the rest must make up for it.
        rest = diffuse(bulk, bulk.gap - r / max(T - r, 1.0))
        # The forced coordinates keep their own law: only then is the density a product of the two.
        add({row: nodes for row, nodes in rest.items() if row + 2.0 < force.window[0]}, len(forces) - 1)
    for force in double_forces(T, growth, below, last, D) if forced else []:
        forces.append(force)
        components.append((0, len(forces) - 1))
    return Proposal(law=law, tables=_tables(law, tilts, forces, components), most_active=_most(law, tilts))


def _most(law: Law, tilts: list[Tilt]) -> float:
    natural = float(law.active.sum())
    extra = (sum(max(n.plus + n.minus for n in nodes) for nodes in tilt.values()) for tilt in tilts)
    return natural + max(extra)


def _tables(law: Law, tilts: list[Tilt], forces: list[Force], components: list[tuple[int, int]]) -> Tables:
    rows = min(MOST_TILTED, len(law.active))
    start = np.zeros((len(tilts), rows + 1), np.int64)
    nodes: list[list[float]] = []
    for a, tilt in enumerate(tilts):
        for k in range(rows):
            start[a, k] = len(nodes)
            p, cumulative = float(law.active[k]), 0.0
            for node in tilt.get(k, []):
                cumulative += node.weight
                none, natural = max(1.0 - node.plus - node.minus, 1e-300), 1.0 - p
                ratios = [math.log(node.plus / (0.5 * p)), math.log(node.minus / (0.5 * p))]
                ratios.append(math.log(none / natural) if natural > 0.0 else 0.0)
                nodes.append([cumulative, math.log(node.weight), node.plus, node.minus, *ratios])
        start[a, rows] = len(nodes)
    return Tables(
        start,
        np.array(nodes, dtype=float).reshape(-1, 7),
        np.array([force.kind for force in forces], np.int64),
        np.array([force.row(law.s) for force in forces]),
        np.array([a for a, _ in components], np.int64),
        np.array([f for _, f in components], np.int64),
    )
