"""The integral that ties a cut-off to the number of directions it resolves."""

from __future__ import annotations

import math


def resolved_edge(a: float) -> float:
    """int_0^inf dz / (1 + z^a) = (pi/a)/sin(pi/a): N features resolve k with N = edge * k^(-1/a)."""
    return (math.pi / a) / math.sin(math.pi / a)
