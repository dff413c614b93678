"""Full-batch descent with momentum, for comparison: rare coordinates have small gradients and stay behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sparselaw.networks.descent import NetworkDescent


@dataclass(frozen=True, slots=True, kw_only=True)
class Momentum(NetworkDescent):
    """Steps along a running mean of the gradients, over the last ten or so."""

    name: ClassVar[str] = "momentum"
    adaptive: ClassVar[bool] = False
