"""The N-limited loss of nonlinear features of sparse inputs, every type resolved, with its error."""

from __future__ import annotations

import functools
import math

import numpy as np

from sparselaw.inputs import Inputs
from sparselaw.theory.nonlinear.limit import NonlinearLimit
from sparselaw.theory.nonlinear.response import Response
from sparselaw.theory.nonlinear.width_limit import WidthLimit, width_limit
from sparselaw.theory.nonlinear.width_tables import (
    FURTHER,
    affordable,
    cutoff_of,
    further_tables,
    main_table,
    missing_at,
    tier_of,
)

ALIKE = 0.3  # of what is known to be left out: how far off that may be
SHARED, PAIRS = 0.2, 1.25  # of what further types change, and of its square: the types act on each other
UNEVEN = 0.3  # of what uneven signs add: the next order


@functools.lru_cache(maxsize=4096)
def features_limit(inputs: Inputs, response: Response, N: float) -> NonlinearLimit:
    """The loss for any N; beyond the last table the local exponent there goes on."""
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
