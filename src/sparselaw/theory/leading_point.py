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

    def __call__(self, N: float, ridge: float = 0.0) -> SurfaceValue:
        """Without label noise."""
        if ridge == 0.0 and N >= self._seen:
            return count_loss(self._sums, N, self._seen, 0.0, 0.0)
        found = self._found(N, ridge)
        return count_loss(self._sums, N, self._seen, ridge, 0.0) if found is None else found[0]

    def noise(self, N: float, ridge: float = 0.0) -> float:
        """What label noise of variance one adds."""
        found = None if ridge == 0.0 and N >= self._seen else self._found(N, ridge)
        if found is not None and math.isfinite(found[1]):
            return found[1]
        both, quiet = (count_loss(self._sums, N, self._seen, ridge, noise).loss for noise in (1.0, 0.0))
        return both - quiet if math.isfinite(both) else math.inf

    def _found(self, N: float, ridge: float) -> tuple[SurfaceValue, float] | None:
        if self._points is None:
            self._points = self._sums.points()
        points, size = self._points, np.array([N])
        with np.errstate(all="ignore"):
            log_k = float(
                np.logaddexp(
                    log_excess(points, size, self._sums.first_cutoff(N), ridge),
                    math.log(ridge) if ridge > 0.0 else -math.inf,
                )[0]
            )
            sums = points.at(np.array([log_k]))
            held = N * ridge * math.exp(-log_k) if ridge > 0.0 else 0.0
            partial, lost = float(sums.partial[0]), float(sums.lost[0])
            loss = lost * N / (partial + held)
            noise = float(sums.noise[0]) + lost * partial / (partial + held) * math.exp(-log_k)
        if abs(float(sums.degrees[0] + held) / N - 1.0) < CLOSE and math.isfinite(loss):
            return SurfaceValue(loss, log_k), noise
        return None
