"""What a network is trained on, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from sparselaw.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """The distinct samples, each with its nonzeros, its share of the D samples and its target.

    With ``classes`` the targets are probabilities of answers and the loss is the cross-entropy; else it is
    the mean square error of an output.
    """

    indptr: IntArray  # (P+1,)
    column: IntArray  # (nonzeros,)
    value: FloatArray  # (nonzeros,)
    weight: FloatArray  # (P,) sums to one
    targets: FloatArray  # (P, m)
    coordinates: int  # K
    classes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Layer by layer. ``first`` has a row for each coordinate, the others one for each unit they lead to."""

    first: FloatArray  # (K, N)
    hidden: FloatArray  # (depth - 2, N, N)
    last: FloatArray  # (m, N)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    weights: Weights
    losses: FloatArray  # (steps + 1,) training loss before each step and after the last
    gradient: float  # |last gradient| / |first gradient|
