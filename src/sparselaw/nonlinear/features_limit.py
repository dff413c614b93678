"""The N-limited loss of nonlinear features of sparse inputs, every type resolved, with its error.

Its tables come in tiers of the cut-off, made once for given inputs and kept. A tier is good for cut-offs nu
from its own up to FINER times it. Its table with |u_1| resolved leaves out a share of T_even that hardly
depends on nu; it is measured at a tier where a finer table is cheap. The types of the further coordinates
change the loss by factors that hardly depend on each other, nor on the truncation: they are found on coarser
tables, one for each coordinate.
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
from sparselaw.nonlinear.response import Part, Response
from sparselaw.nonlinear.sector_tables import Group, SectorTable, Signed, sector_table, table_work, unit_types
from sparselaw.nonlinear.table_cache import cached_arrays, identity_of
from sparselaw.nonlinear.width_limit import NonlinearLimit, WidthLimit, between_nodes, width_limit

ALIKE = 0.3  # of what is known to be left out: how far off that may be
SHARED, PAIRS = 0.2, 1.25  # of what further types change, and of its square: the types act on each other
UNEVEN = 0.3  # of what uneven signs add: the next order

# The tables.
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


def features_limit(inputs: Inputs, response: Response, N: float) -> NonlinearLimit:
    """The loss for any N, between those of two nodes."""
    return between_nodes(lambda node: limit_at(inputs, response, node), N)


@functools.lru_cache(maxsize=4096)
def limit_at(inputs: Inputs, response: Response, N: float) -> NonlinearLimit:
    """The loss at N itself; beyond the last table the local exponent there goes on."""
    found = _from_tables(inputs, response, N)
    if found is not None:
        return found
    last = _last(inputs, response)
    half = _from_tables(inputs, response, last.size / 2.0)
    assert half is not None
    return last.continued(half, N)


@functools.lru_cache(maxsize=64)
def _last(inputs: Inputs, response: Response) -> NonlinearLimit:
    """At the largest power of two that still has a table."""
    found, N = None, 2.0
    while (more := _from_tables(inputs, response, N)) is not None:
        found, N = more, 2.0 * N
    assert found is not None
    return found


@functools.lru_cache(maxsize=4096)
def _from_tables(inputs: Inputs, response: Response, N: float) -> NonlinearLimit | None:
    found = _first_type(inputs, response, N)
    if found is None:
        return None
    tier, plain = found
    missing = missing_at(inputs, response.parts, tier, plain.cutoff)
    further = _further_types(inputs, response, N, tier)
    # T_even enters as N does, and loss ~ N^-2 or so.
    shared = max(SHARED, PAIRS * abs(further)) * further
    error = math.hypot(ALIKE * 2.0 * missing, shared, 0.5 * plain.correction, UNEVEN * plain.signs, 0.01)
    loss = plain.loss * math.exp(further) * (1.0 + plain.signs)
    return NonlinearLimit(size=N, loss=loss, error=error, linear=plain.linear)


def _first_type(inputs: Inputs, response: Response, N: float) -> tuple[int, WidthLimit] | None:
    """The tier that N needs, and the loss with |u_1| resolved."""
    tier = tier_of(0.1 * N**-2.0)
    for _ in range(30):
        if not affordable(inputs, response.parts, tier):
            return None
        table = main_table(inputs, response.parts, tier)
        found = width_limit(
            inputs, table, N, response.even_weight, missing_at(inputs, response.parts, tier, table.cutoff)
        )
        needed = tier_of(found.cutoff)
        if needed == tier or (needed > tier and found.cutoff > 0.8 * cutoff_of(tier)):
            missing = missing_at(inputs, response.parts, tier, found.cutoff)
            start = found.cutoff
            return tier, width_limit(inputs, table, N, response.even_weight, missing, start, signs=True)
        tier = needed if needed > tier else max(needed, tier - 1)
    return None


def _further_types(inputs: Inputs, response: Response, N: float, tier: int) -> float:
    """The logarithm of what the types |u_2|, |u_3|, ... change, one by one on the coarse tables."""
    tables = further_tables(inputs, response.parts, tier)
    first, *others = (width_limit(inputs, t, N, response.even_weight).loss for t in tables)
    if not others:
        return 0.0
    known = np.array(FURTHER[: len(others)], dtype=float)
    changes = np.log(np.array(others) / first)
    each = np.arange(2.0, known[-1] + 1.0)
    total = float(np.sum(np.interp(np.log(each), np.log(known), changes)))
    if known.size > 2 and inputs.dimension > known[-1] and changes[-1] < 0.0 and changes[-2] < changes[-1]:
        ratio = math.sqrt(changes[-1] / changes[-2])  # from one coordinate to the next
        total += float(changes[-1]) * ratio / (1.0 - ratio)
    return total


def plain_limit(inputs: Inputs, response: Response, N: float) -> float | None:
    """The loss if units had no types and nothing were of order 1/N; None where there is no table."""
    found = _first_type(inputs, response, N)
    if found is None:
        return None
    tier, typed = found
    table = main_table(inputs, response.parts, tier).without_types()
    missing = missing_at(inputs, response.parts, tier, typed.cutoff)
    plain = width_limit(inputs, table, N, response.even_weight, missing, typed.cutoff)
    return plain.loss / (1.0 + plain.correction)


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
        "inputs": identity_of(inputs),
        "tier": [tier, FIRST, FINER],
        "types": [first, other, list(types.weights.shape)],
        "truncation": [whole, least],
    }
    for part in parts:
        identity |= part.identity
    if not inputs.has_power_activations:
        raise InputError("inputs", inputs.kind, "have no theory of nonlinear features", "give SparseInputs")
    arrays = cached_arrays(
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
