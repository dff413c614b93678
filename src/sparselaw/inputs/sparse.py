"""Sparse inputs with power laws (eq:sparse-active-prob), the paper's own.

Coordinate j is active with probability p_j = j^-(alpha1+1) and then has the value +-sqrt(c_j), c_j =
j^-(alpha2+1), so that its variance is s_j = p_j c_j = j^-(alpha1+alpha2+2).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError
from sparselaw.gram.law import GramLaw
from sparselaw.gram.nodes import (
    CoordinateNodes,
    coordinate_nodes,
    log_survival,
    power_nodes,
    power_sum,
)
from sparselaw.gram.sampled import Sampled
from sparselaw.inputs.activations import ActivationInputs, counts_of
from sparselaw.inputs.base import (
    DEFAULT_DIMENSION,
    Exponents,
    PowerActivations,
    check_dimension,
    check_exponent,
    register,
    sparse_exponents,
)


def draw_power_tail(
    alpha1: float, dimension: float, after: int, count: int, rng: np.random.Generator
) -> FloatArray:
    """``count`` coordinates j > after with probability proportional to f_j = -log(1-p_j).

    Propose the integer nearest to x of density x^-(alpha1+1) on [after+1/2, dimension+1/2], by inversion: it
    is j with weight I_j = int_{j-1/2}^{j+1/2} x^-(alpha1+1) dx >= p_j (convexity). Accept with probability
    f_j / (B I_j), where B = f/p at after+1 bounds f_j/p_j. More than nine in ten are accepted.
    """
    decay = alpha1 + 1.0
    p_first = float((np.array([after + 1.0]) ** -decay)[0])
    bound = -math.log1p(-p_first) / p_first
    accepted: list[FloatArray] = []
    missing = count
    while missing > 0:
        size = int(missing * 1.1) + 16
        j = np.rint(_invert(alpha1, dimension, after, 1.0 - rng.random(size)))
        np.clip(j, after + 1.0, dimension, out=j)  # rounding of the inversion at the two ends
        p = j**-decay
        ratio = -np.log1p(-p) / (bound * p * _interval_over_p(decay, j))
        kept = j[rng.random(size) < ratio][:missing]
        accepted.append(kept)
        missing -= kept.size
    return np.concatenate(accepted) if accepted else np.empty(0)


def _invert(alpha1: float, dimension: float, after: int, uniform: FloatArray) -> FloatArray:
    """x with uniform = (mass beyond x) / (mass beyond after+1/2), density x^-(alpha1+1)."""
    low, high = after + 0.5, dimension + 0.5
    if math.isinf(high):
        return low * uniform ** (-1.0 / alpha1)
    span = math.log(high / low)
    if alpha1 == 0.0:
        return low * np.exp(span * (1.0 - uniform))
    return low * np.exp(-np.log1p((1.0 - uniform) * math.expm1(-alpha1 * span)) / alpha1)


def _interval_over_p(decay: float, j: FloatArray) -> FloatArray:
    """int_{j-1/2}^{j+1/2} x^-decay dx / j^-decay, with no cancellation for large j."""
    h = 0.5 / j
    small = h < 1e-3
    if small.all():
        return 1.0 + decay * (decay + 1.0) * h**2 / 6.0
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        if abs(decay - 1.0) < 1e-12:
            exact = (np.log1p(h) - np.log1p(-h)) / (2.0 * h)
        else:
            power = 1.0 - decay
            exact = (np.expm1(power * np.log1p(h)) - np.expm1(power * np.log1p(-h))) / (2.0 * h * power)
    return np.where(small, 1.0 + decay * (decay + 1.0) * h**2 / 6.0, exact)


CLOSEST_TO_ZERO = 1e-9  # of a positive alpha1
SMALLEST_ALPHA1 = 0.06  # below, the coordinates of an infinite tail overflow: 2^53 to the power 1/alpha1
LONGEST = 400.0  # of log j beyond the resolved coordinates, in the same sums
PAIR_SHARE = 1e-5  # neglected part of the rare coordinates in the sums over pairs


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class SparseInputs(ActivationInputs):
    """Sparse inputs: coordinate j is active with probability j^-(alpha1+1).

    Parameters
    ----------
    alpha1
        How fast activity becomes rare.
    alpha2
        How fast amplitudes fall: the square of an active coordinate is j^-(alpha2+1).
    dimension
        Number of coordinates; infinitely many unless given where alpha1 > 0, else 10,000.

    Examples
    --------
    >>> inputs = SparseInputs(alpha1=1.0, alpha2=0.3)
    >>> inputs.dimension, round(inputs.exponents.alpha_N, 12)
    (inf, 2.3)
    """

    kind: ClassVar[str] = "sparse"

    alpha1: float
    alpha2: float
    dimension: float = None  # type: ignore[assignment]  # None going in means the default; never None after

    def __post_init__(self) -> None:
        alpha1 = check_exponent("alpha1", self.alpha1)
        alpha2 = check_exponent("alpha2", self.alpha2)
        if alpha1 < -1.0:
            raise InputError("alpha1", alpha1, "must be at least -1", "choose alpha1 >= -1")
        if 0.0 < alpha1 < CLOSEST_TO_ZERO:
            condition = f"is so close to zero that a sample has {1.0 / max(alpha1, 1e-300):.2g} nonzeros"
            remedy = f"choose 0 with a dimension, or at least {CLOSEST_TO_ZERO:g}"
            raise InputError("alpha1", alpha1, condition, remedy)
        if alpha1 + alpha2 + 1.0 <= 0.0:
            condition = f"alpha1 + alpha2 + 1 must be positive (alpha1={alpha1})"
            raise InputError("alpha2", alpha2, condition, f"choose alpha2 > {-1.0 - alpha1:g}")
        dimension = math.inf if alpha1 > 0.0 else DEFAULT_DIMENSION
        if self.dimension is not None:
            dimension = check_dimension(self.dimension)
        if alpha1 <= 0.0 and math.isinf(dimension):
            condition = f"a sample has infinitely many nonzeros when alpha1 <= 0 (alpha1={alpha1})"
            raise InputError("dimension", dimension, condition, "choose a finite dimension")
        object.__setattr__(self, "alpha1", alpha1)
        object.__setattr__(self, "alpha2", alpha2)
        object.__setattr__(self, "dimension", dimension)

    @property
    def exponents(self) -> Exponents:
        return sparse_exponents(self.alpha1, self.alpha2)

    def probabilities(self, j: FloatArray) -> FloatArray:
        return j ** -(self.alpha1 + 1.0)

    def squared_amplitudes(self, j: FloatArray) -> FloatArray:
        return j ** -(self.alpha2 + 1.0)

    def amplitudes(self, j: FloatArray) -> FloatArray:
        return j ** (-0.5 * (self.alpha2 + 1.0))

    def variances(self, j: FloatArray) -> FloatArray:
        return j ** -(self.alpha1 + self.alpha2 + 2.0)

    def expected_nonzeros(self) -> float:
        return power_sum(self.alpha1 + 1.0, 1, self.dimension)

    def last_above(self, probability: float) -> int:
        decay = self.alpha1 + 1.0
        log_last = -math.log(probability) / decay if decay > 0.0 else math.inf
        return int(
            min(math.exp(log_last) * (1.0 + 1e-12), self.dimension) if log_last < 700.0 else self.dimension
        )

    def tail_rate(self, after: int) -> float:
        return _tail_rate(self, after)

    def draw_tail(self, after: int, count: int, rng: np.random.Generator) -> FloatArray:
        return draw_power_tail(self.alpha1, self.dimension, after, count, rng)

    def tail_variance(self, after: int) -> float:
        return power_sum(self.alpha1 + self.alpha2 + 2.0, after + 1, self.dimension)

    def nodes(self, D: float) -> CoordinateNodes:
        return power_nodes(self.alpha1, self.alpha2, self.dimension, D)

    def gram(self, D: float, *, sharp: bool = True) -> GramLaw:
        if sharp or self.alpha1 > 0.0:
            return ActivationInputs.gram(self, D, sharp=sharp)
        return _medium(self, float(D))

    def grams(self, D: FloatArray, *, sharp: bool = True) -> GramLaw:
        law: Any = ActivationInputs.grams(self, D, sharp=sharp)
        return law if sharp or self.alpha1 > 0.0 else Sampled(law, D)

    def pair_nodes(self, D: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        a1, b = self.alpha1, self.alpha2 + 1.0
        J = math.log(D) / (a1 + 1.0) if a1 > -1.0 else math.inf
        # the number seen once beyond j falls as j^-alpha1
        reach = J - math.log(PAIR_SHARE) / a1 if a1 * LONGEST > -math.log(PAIR_SHARE) else J + LONGEST
        nodes = coordinate_nodes(self.dimension, reach, max(a1 + 1.0, abs(b), 1.0), first=256)
        return nodes.weight, np.exp(-(a1 + 1.0) * nodes.log_j), np.exp(-b * nodes.log_j)

    @property
    def has_power_activations(self) -> bool:
        return True

    def power_activations(self) -> PowerActivations:
        return PowerActivations(decay=self.alpha1 + 1.0, growth=-self.alpha2 - 1.0, dimension=self.dimension)

    def check_drawable(self) -> None:
        """Refuse inputs whose coordinates cannot be numbered."""
        if math.isinf(self.dimension) and self.alpha1 < SMALLEST_ALPHA1:
            condition = f"coordinates overflow below {SMALLEST_ALPHA1} when the dimension is infinite"
            raise InputError("alpha1", self.alpha1, condition, "choose a finite dimension")


@functools.lru_cache(maxsize=256)
def _tail_rate(inputs: SparseInputs, after: int) -> float:
    return log_survival(inputs.alpha1 + 1.0, after + 1.0, inputs.dimension)


@functools.lru_cache(maxsize=64)
def _medium(inputs: SparseInputs, D: float) -> GramLaw:
    """Where every sample shows many coordinates (alpha1 <= 0) the leading surface has them share samples."""
    return Sampled(counts_of(inputs, D), D)
