"""Real features: how sparse they are, and which theory describes their learning curve."""

from __future__ import annotations

from sparselaw.measuring.learn import learn
from sparselaw.measuring.learning_curve import LearningCurve
from sparselaw.measuring.measure import measure
from sparselaw.measuring.measurement import Measurement

__all__ = ["LearningCurve", "Measurement", "learn", "measure"]
