"""The random features: one file for each activation function; ``base`` says what it answers."""

from __future__ import annotations

# ruff: noqa: I001  # in the order in which they are listed
from sparselaw.features.base import FEATURES, FeatureMap, register
from sparselaw.features.linear import Linear
from sparselaw.features.relu import ReLU
from sparselaw.features.leaky_relu import LeakyReLU
from sparselaw.features.gelu import GELU
from sparselaw.features.tanh import Tanh
from sparselaw.features.erf import Erf
from sparselaw.features.sign import Sign
from sparselaw.features.absolute import Absolute
from sparselaw.features.trained import Trained
from sparselaw.features.base import Layer

__all__ = [
    "FEATURES", "GELU", "Absolute", "Erf", "FeatureMap", "Layer", "LeakyReLU", "Linear", "ReLU", "Sign",
    "Tanh", "Trained", "register",
]  # fmt: skip
