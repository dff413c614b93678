"""The tables behind the N-limited loss, in tiers of the cut-off, made once for inputs and kept.

A tier is good for cut-offs nu from its own up to FINER times it. Its table with |u_1| resolved leaves out a
share of T_even that hardly depends on nu; it is measured at a tier where a finer table is cheap. The types of
the further coordinates change the loss by factors that hardly depend on each other, nor on the truncation:
they are found on coarser tables, one for each coordinate.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError
from sparselaw.inputs import Inputs
from sparselaw.theory.nonlinear.kept_arrays import kept_arrays
from sparselaw.theory.nonlinear.response import Part
from sparselaw.theory.nonlinear.sector_tables import Group, SectorTable, Signed, sector_table, table_work
from sparselaw.theory.nonlinear.unit_types import unit_types

FIRST = 1e-2  # the cut-off of tier 0
FINER = 4.0  # from tier to tier
MEASURED = 5  # the tier at which the share left out is measured, for all that are finer
MAIN = (0.2, 2e-3)  # WHOLE and LEAST of the table with |u_1| resolved
FINE = (0.02, 1e-4)  # of the one that it is compared with
TAIL = 1.004  # what even the fine one leaves out of T_even
COARSE = (1.0, 0.1)  # of the tables for further types
MAIN_NODES = 6  # of |u_1|
FURTHER = (2, 3, 4, 6, 8)  # coordinates whose |u_j| is resolved too
NODES_2, NODES = (5, 5), (5, 4)  # of |u_1| and |u_j|, for j = 2 and for the others
MOST_WORK = 1e6  # sums over signs in a table: about ten seconds

Parts = tuple[Part, ...]


def tier_of(cutoff: float) -> int:
    """The coarsest tier that is good for this cut-off."""
    return max(0, math.ceil(math.log(FIRST / cutoff) / math.log(FINER) - 1e-9))


def cutoff_of(tier: int) -> float:
    return FIRST * FINER**-tier


def main_table(inputs: Inputs, parts: Parts, tier: int) -> SectorTable:
    return _table(inputs, parts, tier, 1, 0, *MAIN)


def further_tables(inputs: Inputs, parts: Parts, tier: int) -> list[SectorTable]:
    """Coarse tables with |u_1| alone, and with |u_j| for each further coordinate j."""
    others = [j for j in FURTHER if j <= inputs.dimension]
    return [_table(inputs, parts, tier, 1, j, *COARSE) for j in (0, *others)]


@functools.lru_cache(maxsize=64)
def missing_share(inputs: Inputs, parts: Parts, tier: int) -> tuple[float, float]:
    """Of T_even, what the main table leaves out at its own cut-off and at FINER times it."""
    tier = min(tier, MEASURED)
    main, fine = (_table(inputs, parts, tier, 0, 0, *how).spectrum() for how in (MAIN, FINE))

    def share(cutoff: float) -> float:
        return TAIL * _resolved(fine, cutoff) / _resolved(main, cutoff) - 1.0

    return share(cutoff_of(tier)), share(FINER * cutoff_of(tier))


def missing_at(inputs: Inputs, parts: Parts, tier: int, cutoff: float) -> float:
    near, far = missing_share(inputs, parts, tier)
    place = min(max(math.log(cutoff / cutoff_of(tier)) / math.log(FINER), 0.0), 1.0)
    return near + place * (far - near)


@functools.lru_cache(maxsize=256)
def affordable(inputs: Inputs, parts: Parts, tier: int) -> bool:
    """Whether the main table of a tier can be made in about a minute."""
    if tier <= MEASURED:
        return True
    if not affordable(inputs, parts, tier - 1):
        return False
    return table_work(inputs, parts, cutoff_of(tier), *MAIN, MOST_WORK) < MOST_WORK


def _resolved(spectrum: tuple[FloatArray, FloatArray], cutoff: float) -> float:
    values, often = spectrum
    return float(often @ (values / (values + cutoff)))


@functools.lru_cache(maxsize=48)
def _table(
    inputs: Inputs, parts: Parts, tier: int, first: int, other: int, whole: float, least: float
) -> SectorTable:
    nodes = (MAIN_NODES, 1) if (whole, least) != COARSE else NODES_2 if other == 2 else NODES
    types = unit_types(bool(first), other, nodes)
    identity = {
        "inputs": [inputs.kind, {k: repr(v) for k, v in inputs.parameters().items()}],
        "tier": [tier, FIRST, FINER],
        "types": [first, other, list(types.weights.shape)],
        "truncation": [whole, least],
    }
    for part in parts:
        identity |= part.identity
    if not inputs.has_power_activations:
        raise InputError("inputs", inputs.kind, "have no theory of nonlinear features", "give SparseInputs")
    arrays = kept_arrays(
        identity,
        lambda: _arrays(sector_table(inputs, parts, cutoff_of(tier), types, whole, least)),
    )
    return SectorTable(cutoff=cutoff_of(tier), types=types, groups=tuple(_groups(arrays)))


def _arrays(table: SectorTable) -> dict[str, Any]:
    arrays: dict[str, Any] = {}
    for i, group in enumerate(table.groups):
        arrays[f"alike{i}"], arrays[f"kernel{i}"] = group.alike, group.kernel
        if group.target is not None:
            arrays[f"target{i}"] = group.target
        if group.signed is not None:
            arrays[f"along{i}"], arrays[f"straight{i}"] = group.signed
    return arrays


def _groups(arrays: Mapping[str, Any]) -> list[Group]:
    count = sum(name.startswith("alike") for name in arrays)
    return [
        Group(
            alike=np.asarray(arrays[f"alike{i}"]),
            kernel=arrays[f"kernel{i}"],
            target=arrays.get(f"target{i}"),
            signed=Signed(arrays[f"along{i}"], arrays[f"straight{i}"]) if f"along{i}" in arrays else None,
        )
        for i in range(count)
    ]
