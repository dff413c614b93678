"""The leading surface of D samples at one N after the other: the counts are laid out once.

The same as ``count_surface.count_loss``, which sums to 1e-12, within 1e-8 and ten times as quick from the
second N on. Where no cut-off is found so, ``count_loss`` is asked.
"""

from __future__ import annotations

import math

import numpy as np

from sparselaw.sums.count_points import CountPoints
from sparselaw.sums.counts import CountSums
from sparselaw.theory.count_curve import CLOSE, log_excess
from sparselaw.theory.count_surface import count_loss
from sparselaw.theory.surface_value import SurfaceValue


class LeadingPoint:
    """The surface of ``sums``, which saw ``seen`` coordinates on average."""

    def __init__(self, sums: CountSums, seen: float) -> None:
        self._sums, self._seen = sums, seen
        self._points: CountPoints | None = None

    def __call__(self, N: float, ridge: float = 0.0, noise: float = 0.0) -> SurfaceValue:
        if noise > 0.0 or (ridge == 0.0 and N >= self._seen):
            return count_loss(self._sums, N, self._seen, ridge, noise)
        if self._points is None:
            self._points = self._sums.points()
        points, size = self._points, np.array([N])
        with np.errstate(all="ignore"):
            log_k = np.logaddexp(
                log_excess(points, size, self._sums.first_cutoff(N), ridge),
                math.log(ridge) if ridge > 0.0 else -math.inf,
            )
            found = points.at(log_k)
            held = N * ridge * math.exp(-float(log_k[0])) if ridge > 0.0 else 0.0
            partial, lost = float(found.partial[0]), float(found.lost[0])
            loss = lost * N / (partial + held)
        if abs(float(found.degrees[0] + held) / N - 1.0) < CLOSE and math.isfinite(loss):
            return SurfaceValue(loss, float(log_k[0]))
        return count_loss(self._sums, N, self._seen, ridge, noise)
