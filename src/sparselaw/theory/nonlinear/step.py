"""What the theory needs to know of the sign function."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.theory.nonlinear.response import DensePairs, Part, Trust

SEEN = Trust(features=0.2, few=0.5, data=0.08, between=0.3, below=0.3, above=0.06)
SCALE = math.pi / 8.0  # 1/(2 E|g|)^2: the slope is 1/2, as with the ReLU


@dataclass(frozen=True, slots=True)
class StepPart:
    """The whole of it is odd."""

    targets: bool = True
    jump: bool = True

    @property
    def identity(self) -> dict[str, Any]:
        return {"activation": "sign"}

    def sums(
        self, start: IntArray, c: FloatArray, part: IntArray, typed: IntArray, types: FloatArray, first: bool
    ) -> FloatArray:
        from sparselaw.theory.nonlinear.bend_kernel import alternating_sums  # numba: only where it is needed

        return alternating_sums(start, c, part, typed, types, first, step=True)

    def mean_and_slope(self, means: FloatArray, deviations: FloatArray) -> tuple[FloatArray, FloatArray]:
        raise NotImplementedError("a step is odd")

    def reflected(self, pairs: DensePairs, slope: bool = False) -> FloatArray:
        raise NotImplementedError("dense inputs have no tables of a step")


@dataclass(frozen=True, slots=True)
class Step:
    """f(z) = sign(z) over twice its slope E|g|."""

    parts: tuple[Part, ...] = (StepPart(),)
    slope: float | None = None
    even: bool = False
    even_weight: float = 1.0
    trust: Trust = SEEN
    dense: bool = False

    @property
    def identity(self) -> dict[str, Any]:
        return {"activation": "sign"}

    def kernel(self, left: FloatArray, right: FloatArray, covariance: FloatArray) -> FloatArray:
        """2/pi asin(cosine) (Sheppard 1899), times the scale."""
        size = np.maximum(np.sqrt(left * right), 1e-300)
        cosine = np.clip(covariance / size, -1.0, 1.0)
        return np.asarray(SCALE * (2.0 / math.pi) * np.arcsin(cosine))

    def even_kernel(self, left: FloatArray, right: FloatArray, covariance: FloatArray) -> FloatArray:
        return np.zeros(np.broadcast_shapes(left.shape, right.shape, covariance.shape))
