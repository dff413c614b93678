"""The random features: one file for each activation function; ``base`` says what it answers."""

from __future__ import annotations

from sparselaw.features.base import FEATURES, FeatureMap, register
from sparselaw.features.linear import Linear
from sparselaw.features.relu import ReLU
from sparselaw.features.trained import Trained

__all__ = ["FEATURES", "FeatureMap", "Linear", "ReLU", "Trained", "register"]
