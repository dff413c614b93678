"""Full-batch Adam with warm-up and a cosine: settings, and those known to reach the data's limit.

Adam moves every weight by about the rate whatever the size of its gradient, so that rare coordinates are
learnt as well as common ones. Plain momentum stops at many times the unseen variance, and an exponent
fitted there is the optimiser's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sparselaw.networks.descent import NetworkDescent
from sparselaw.networks.network import Network

DECAY_MEAN, DECAY_SQUARE, EPSILON = 0.9, 0.99, 1e-10


@dataclass(frozen=True, slots=True, kw_only=True)
class Adam(NetworkDescent):
    """Every weight moves by about the rate, whatever the size of its gradient."""

    name: ClassVar[str] = "adam"
    adaptive: ClassVar[bool] = True


def usual_adam(network: Network, target: str, outputs: int) -> Adam:
    """Steps and rate that bring such a network to the limit of its data, at D of 100 to 64,000."""
    if network.activation == "transformer":
        return Adam(steps=700, rate=0.01)
    if target == "facts":
        return Adam(steps=2000, rate=0.05, start=1.0) if network.frozen else Adam(steps=400, rate=0.05)
    if network.frozen:
        return Adam(steps=3000, rate=0.02, start=1.0)
    if outputs > 1:
        return Adam(steps=2000 if network.is_linear else 3000, rate=0.02)
    if network.depth > 2:
        return Adam(steps=2000)
    return Adam(steps=1000 if network.is_linear else 3000)
