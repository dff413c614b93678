"""One of the two limits of the loss of nonlinear features."""

from __future__ import annotations

import math
from dataclasses import dataclass

UNSURE = 0.15  # relative error of a decade that is continued


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
