"""What a loss surface says of one point."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SurfaceValue:
    """The loss at one point; ``log_cutoff`` is log k, -inf where every seen coordinate is resolved."""

    loss: float
    log_cutoff: float
    reason: str = ""  # why the loss is infinite, where it is
