"""Full-batch Adam with warm-up and a cosine: settings, and those known to reach the data's limit.

Adam moves every weight by about the rate whatever the size of its gradient, so that rare coordinates are
learnt as well as common ones. Plain momentum stops at many times the unseen variance, and an exponent
fitted there is the optimiser's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sparselaw.errors import check_positive, check_size
from sparselaw.networks.network import Network
from sparselaw.solvers import Solver

DECAY_MEAN, DECAY_SQUARE, EPSILON = 0.9, 0.99, 1e-10


@dataclass(frozen=True, slots=True, kw_only=True)
class Adam(Solver):
    """``start`` scales the first weights: the first layer is drawn with deviation start / sqrt(N)."""

    name: ClassVar[str] = "adam"
    rotation_invariant: ClassVar[bool] = False
    remedy: ClassVar[str] = "reduce D, the width or the steps"
    steps: int = 1000
    rate: float = 0.005
    start: float = 0.1
    warm_up: int = 50

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", check_size("steps", self.steps))
        object.__setattr__(self, "rate", check_positive("rate", self.rate))
        object.__setattr__(self, "start", check_positive("start", self.start))
        object.__setattr__(self, "warm_up", check_size("warm_up", self.warm_up))


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
