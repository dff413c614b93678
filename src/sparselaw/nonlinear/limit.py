"""One of the two limits of the loss of nonlinear features, and how it is found between two sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

UNSURE = 0.15  # relative error of a decade that is continued
FEW = 24.0  # up to which every number of features has its own value


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


def between_nodes(limit: Callable[[float], NonlinearLimit], N: float) -> NonlinearLimit:
    """The limit at N, from those at the two nodes about it: straight in logarithms.

    Every number up to FEW is a node; beyond, they are 2^(k/2), rounded. A point is the same alone and in a
    list, and a list of many sizes asks for few nodes. The limit itself is within 0.7 % of it.
    """
    low, high = _nodes(N)
    one = limit(low)
    if low == high:
        return one
    two, share = limit(high), math.log(N / low) / math.log(high / low)
    values = [(one.loss, two.loss), (one.error, two.error), (one.linear, two.linear)]
    if min(min(pair) for pair in values) <= 0.0:  # so many features that nothing is left
        return limit(N)
    loss, error, linear = (a * math.pow(b / a, share) for a, b in values)
    beyond = two.beyond if N > two.beyond else 0.0
    return NonlinearLimit(size=N, loss=loss, error=error, linear=linear, beyond=beyond)


def _nodes(N: float) -> tuple[float, float]:
    """The nodes about N.

    >>> _nodes(17.0), _nodes(30.0), _nodes(64.0), _nodes(100.0)
    ((17.0, 17.0), (24.0, 32.0), (64.0, 64.0), (91.0, 128.0))
    """
    if N <= FEW:
        return N, N
    k = math.floor(2.0 * math.log2(N))
    around = sorted({FEW, *(float(round(2.0 ** (0.5 * i))) for i in (k - 1, k, k + 1, k + 2))})
    low = max(node for node in around if node <= N)
    return low, (N if low == N else min(node for node in around if node > N))
