"""The random features: ``base`` says what an activation function answers, ``activations`` has those known."""

from __future__ import annotations

from sparselaw.features.activations import (
    GELU,
    Absolute,
    Erf,
    LeakyReLU,
    Linear,
    ReLU,
    Sign,
    Tanh,
    Trained,
)  # fmt: skip
from sparselaw.features.base import FEATURES, FeatureMap, Layer, register

__all__ = [
    "FEATURES", "GELU", "Absolute", "Erf", "FeatureMap", "Layer", "LeakyReLU", "Linear", "ReLU", "Sign",
    "Tanh", "Trained", "register",
]  # fmt: skip
