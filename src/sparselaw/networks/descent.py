"""What trains a network: full-batch descent with warm-up and a cosine, its settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sparselaw.errors import check_positive, check_size
from sparselaw.solvers import Solver


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkDescent(Solver):
    """``start`` scales the first weights: the first layer is drawn with deviation start / sqrt(N)."""

    rotation_invariant: ClassVar[bool] = False
    trains_networks: ClassVar[bool] = True
    remedy: ClassVar[str] = "reduce D, the width or the steps"
    adaptive: ClassVar[bool]  # whether each weight's step is divided by the size of its gradients
    steps: int = 1000
    rate: float = 0.005
    start: float = 0.1
    warm_up: int = 50

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", check_size("steps", self.steps))
        object.__setattr__(self, "rate", check_positive("rate", self.rate))
        object.__setattr__(self, "start", check_positive("start", self.start))
        object.__setattr__(self, "warm_up", check_size("warm_up", self.warm_up))
