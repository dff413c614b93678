"""One of the two limits of the loss of nonlinear features, at a point and along a line."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

UNSURE = 0.15  # relative error of a decade that is continued
PER_DOUBLING = 2  # nodes of a line


@dataclass(frozen=True, slots=True, kw_only=True)
class NonlinearLimit:
    """The loss where one size alone matters."""

    size: float  # N or D
    loss: float
    error: float  # relative, estimated
    linear: float  # how many directions are spent on the coordinates
    beyond: float = 0.0  # the largest size with a table, where this one is continued from there

    def continued(self, half: NonlinearLimit, size: float) -> NonlinearLimit:
        """At a larger size, by the exponent between ``half`` and this one."""
        more = size / self.size
        steps = math.log(self.size / half.size)
        return NonlinearLimit(
            size=size,
            loss=self.loss * math.pow(more, -math.log(half.loss / self.loss) / steps),
            error=self.error + UNSURE * math.log10(more),
            linear=self.linear * math.pow(more, math.log(self.linear / half.linear) / steps),
            beyond=self.size,
        )


def limits_along(
    limit: Callable[[float], NonlinearLimit], sizes: Sequence[float], few: int
) -> Callable[[float], NonlinearLimit]:
    """The same limit; for many sizes it is found at two nodes in a doubling and drawn between them."""
    known = sorted({float(size) for size in sizes if math.isfinite(size)})
    steps = PER_DOUBLING * math.log2(known[-1] / known[0]) if known else 0.0
    if len(known) <= max(few, steps):
        return limit
    nodes = np.geomspace(known[0], known[-1], math.ceil(steps) + 1)
    found = [limit(float(node)) for node in nodes]
    table = np.log([[at.loss, at.error, at.linear] for at in found])
    slopes = np.gradient(table, np.log(nodes), axis=0, edge_order=2 if len(nodes) > 2 else 1)

    def between(size: float) -> NonlinearLimit:
        """Cubic in log size, with the slopes of neighbouring nodes."""
        i = int(np.clip(np.searchsorted(nodes, size) - 1, 0, len(nodes) - 2))
        width = math.log(nodes[i + 1] / nodes[i])
        t = math.log(size / nodes[i]) / width
        h = (1.0 + 2.0 * t) * (1.0 - t) ** 2, t * (1.0 - t) ** 2 * width
        g = t * t * (3.0 - 2.0 * t), t * t * (t - 1.0) * width
        value = h[0] * table[i] + h[1] * slopes[i] + g[0] * table[i + 1] + g[1] * slopes[i + 1]
        loss, error, linear = np.exp(value).tolist()
        beyond = found[i + 1].beyond if size > found[i + 1].beyond > 0.0 else 0.0
        return NonlinearLimit(size=size, loss=loss, error=error, linear=linear, beyond=beyond)

    return between
