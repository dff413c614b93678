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

import numpy as np

from sparselaw.errors import InputError
from sparselaw.inputs import Inputs
from sparselaw.nonlinear.response import Part, Response
from sparselaw.nonlinear.sector_tables import Group, SectorTable, sector_table, table_work, unit_types
from sparselaw.nonlinear.table_cache import cached_arrays
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

KEPT = ("alike", "kernel", "target", "along", "straight")  # of each group

Parts = tuple[Part, ...]


def features_limit(inputs: Inputs, response: Response, N: float) -> NonlinearLimit:
    """The loss for any N, between those of two nodes."""
    return between_nodes(lambda node: limit_at(inputs, response, node), N)


@functools.lru_cache(maxsize=4096)
def limit_at(inputs: Inputs, response: Response, N: float) -> NonlinearLimit:
    """The loss at N itself; beyond the last table the local exponent there goes on."""
    found = _first_type(inputs, response, N)
    if found is None:
        last = _last_with_table(inputs, response)
        half = limit_at(inputs, response, last / 2.0)
        return limit_at(inputs, response, last).continued(half, N)
    tier, plain = found
    missing = missing_at(inputs, response.parts, tier, plain.cutoff)
    further = _further_types(inputs, response, N, tier)
    # T_even enters as N does, and loss ~ N^-2 or so.
    shared = max(SHARED, PAIRS * abs(further)) * further
    error = math.hypot(ALIKE * 2.0 * missing, shared, 0.5 * plain.correction, UNEVEN * plain.signs, 0.01)
    loss = plain.loss * math.exp(further) * (1.0 + plain.signs)
    return NonlinearLimit(size=N, loss=loss, error=error, linear=plain.linear)


@functools.lru_cache(maxsize=64)
def _last_with_table(inputs: Inputs, response: Response) -> float:
    """The largest power of two that still has one."""
    N = 2.0
    while _first_type(inputs, response, 2.0 * N) is not None:
        N = 2.0 * N
    return N


@functools.lru_cache(maxsize=4096)
def _first_type(inputs: Inputs, response: Response, N: float) -> tuple[int, WidthLimit] | None:
    """The tier that N needs, and the loss with |u_1| resolved; None where no table is fine enough."""
    parts, tier = response.parts, tier_of(0.1 * N**-2.0)
    for _ in range(30):
        if not affordable(inputs, parts, tier):
            return None
        table = _table(inputs, parts, tier, 1, 0, *MAIN)
        missing = missing_at(inputs, parts, tier, table.cutoff)
        found = width_limit(inputs, table, N, response.even_weight, missing)
        needed = tier_of(found.cutoff)
        if needed == tier or (needed > tier and found.cutoff > 0.8 * cutoff_of(tier)):
            start, missing = found.cutoff, missing_at(inputs, parts, tier, found.cutoff)
            return tier, width_limit(inputs, table, N, response.even_weight, missing, start, signs=True)
        tier = needed if needed > tier else max(needed, tier - 1)
    return None


def _further_types(inputs: Inputs, response: Response, N: float, tier: int) -> float:
    """The logarithm of what the types |u_2|, |u_3|, ... change, one by one on the coarse tables."""
    known = np.array([j for j in FURTHER if j <= inputs.dimension], dtype=float)
    if not known.size:
        return 0.0
    tables = [_table(inputs, response.parts, tier, 1, int(j), *COARSE) for j in (0, *known)]
    first, *others = (width_limit(inputs, table, N, response.even_weight).loss for table in tables)
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
    table = _table(inputs, response.parts, tier, 1, 0, *MAIN).without_types()
    missing = missing_at(inputs, response.parts, tier, typed.cutoff)
    plain = width_limit(inputs, table, N, response.even_weight, missing, typed.cutoff)
    return plain.loss / (1.0 + plain.correction)


def tier_of(cutoff: float) -> int:
    """The coarsest tier that is good for this cut-off."""
    return max(0, math.ceil(math.log(FIRST / cutoff) / math.log(FINER) - 1e-9))


def cutoff_of(tier: int) -> float:
    return FIRST * FINER**-tier


def missing_at(inputs: Inputs, parts: Parts, tier: int, cutoff: float) -> float:
    """Of T_even, what the main table leaves out at this cut-off."""
    near, far = _missing_shares(inputs, parts, min(tier, MEASURED))
    place = min(max(math.log(cutoff / cutoff_of(tier)) / math.log(FINER), 0.0), 1.0)
    return near + place * (far - near)


@functools.lru_cache(maxsize=64)
def _missing_shares(inputs: Inputs, parts: Parts, tier: int) -> list[float]:
    """The same at the cut-off of the tier, and at FINER times it."""
    main, fine = (_table(inputs, parts, tier, 0, 0, *how).spectrum() for how in (MAIN, FINE))
    shares = []
    for cutoff in (cutoff_of(tier), FINER * cutoff_of(tier)):
        all_, most = (often @ (values / (values + cutoff)) for values, often in (fine, main))
        shares.append(float(TAIL * all_ / most - 1.0))
    return shares


@functools.lru_cache(maxsize=256)
def affordable(inputs: Inputs, parts: Parts, tier: int) -> bool:
    """Whether the main table of a tier can be made in about a minute."""
    if tier <= MEASURED:
        return True
    if not affordable(inputs, parts, tier - 1):
        return False
    return table_work(inputs, parts, cutoff_of(tier), *MAIN, MOST_WORK) < MOST_WORK


@functools.lru_cache(maxsize=48)
def _table(
    inputs: Inputs, parts: Parts, tier: int, first: int, other: int, whole: float, least: float
) -> SectorTable:
    if not inputs.has_power_activations:
        raise InputError("inputs", inputs.kind, "have no theory of nonlinear features", "give SparseInputs")
    nodes = (MAIN_NODES, 1) if (whole, least) != COARSE else NODES_2 if other == 2 else NODES
    types, cutoff = unit_types(bool(first), other, nodes), cutoff_of(tier)

    def make() -> dict[str, np.ndarray]:
        groups = sector_table(inputs, parts, cutoff, types, whole, least).groups
        every = {f"{name}{i}": getattr(group, name) for i, group in enumerate(groups) for name in KEPT}
        return {name: values for name, values in every.items() if values is not None}

    settings = [cutoff, first, other, list(types.weights.shape), whole, least]
    kept = cached_arrays("sectors", inputs, [part.digest for part in parts], settings, make)
    count = sum(name.startswith("alike") for name in kept)
    groups = [
        Group(**{name: kept[f"{name}{i}"] for name in KEPT if f"{name}{i}" in kept}) for i in range(count)
    ]
    return SectorTable(cutoff=cutoff, types=types, groups=tuple(groups))
