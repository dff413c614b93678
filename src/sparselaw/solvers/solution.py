"""What a solver hands back: a value with a status, never an exception for a descent that failed."""

from __future__ import annotations

from dataclasses import dataclass

from sparselaw.arrays import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """The readout in the eigenbasis V of the normal equations: theta = V @ coefficients."""

    coefficients: FloatArray  # (r, T), one column for each target
    status: str = "ok"  # ok, diverged, not-converged, rank-deficient
    reason: str = ""  # in words, where the status is not ok
    iterations: int | None = None
    restarts: int | None = None
    gradient: float | None = None  # the last |gradient| / |first gradient|
