"""A network without biases: x -> W_L f(... f(W_2 f(W_1 x))), f its activation, hidden layers of N units."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from sparselaw.errors import InputError, check_choice, check_size

ACTIVATIONS = ("linear", "relu", "transformer")
NO_TORCH = "needs torch (pip install 'sparselaw[torch]')"
# What a network is taught: a linear teacher, products of pairs of coordinates, an answer to every token.
TARGETS = ("linear", "pairs", "facts")


@dataclass(frozen=True, slots=True)
class Network:
    """Depth counts the layers of weights: 2 is one hidden layer. A frozen first layer stays as it was drawn.
    "transformer" in place of an activation is one block of attention, for facts; it needs torch.

    >>> Network(depth=3, width=32, activation="relu")
    Network(depth=3, width=32, activation='relu', frozen=False)
    """

    depth: int = 2
    width: int = 64
    activation: str = "linear"
    frozen: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", check_size("depth", self.depth))
        object.__setattr__(self, "width", check_size("width", self.width))
        check_choice("network", self.activation, ACTIVATIONS)
        if self.activation == "transformer" and find_spec("torch") is None:
            remedy = "pip install 'sparselaw[torch]', or choose linear or relu"
            raise InputError("network", self.activation, "needs torch", remedy)
        if self.depth < 2:
            raise InputError("depth", self.depth, "has no hidden layer", "choose depth >= 2")

    @property
    def is_linear(self) -> bool:
        return self.activation == "linear"

    def settings(self) -> dict[str, Any]:
        """All but the width, which a task calls N."""
        return {"depth": self.depth, "network": self.activation, "frozen": self.frozen}
