"""Inputs whose coordinates are switched on now and then, each on its own.

Coordinate j is active with probability p_j and then has the value +-sqrt(c_j) with a fair sign, so that its
variance is s_j = p_j c_j (eq:sparse-active-prob). Coordinates come in the order of falling p_j; the first is
always active, p_1 = 1.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs.base import ClosedForm, Inputs, Sampling
from sparselaw.sums.counts import CountSums


class ActivationInputs(Inputs):
    """Independent activations with fair signs."""

    __slots__ = ()

    sampling: ClassVar[Sampling] = "activations"

    @abstractmethod
    def probabilities(self, j: FloatArray) -> FloatArray:
        """p_j."""

    @abstractmethod
    def squared_amplitudes(self, j: FloatArray) -> FloatArray:
        """c_j."""

    def amplitudes(self, j: FloatArray) -> FloatArray:
        """sqrt(c_j)."""
        return np.sqrt(self.squared_amplitudes(j))

    def variances(self, j: FloatArray) -> FloatArray:
        """s_j = p_j c_j."""
        return self.probabilities(j) * self.squared_amplitudes(j)

    @property
    def closed_form(self) -> ClosedForm:
        return "counts"

    @abstractmethod
    def expected_nonzeros(self) -> float:
        """sum_j p_j: the mean number of nonzeros of a sample."""

    @abstractmethod
    def last_above(self, probability: float) -> int:
        """The last coordinate with p_j >= probability."""

    @abstractmethod
    def tail_rate(self, after: int) -> float:
        """sum_{j>after} -log(1-p_j): the rate of the Poisson events beyond a coordinate."""

    @abstractmethod
    def draw_tail(self, after: int, count: int, rng: np.random.Generator) -> FloatArray:
        """``count`` coordinates j > after with probability proportional to -log(1-p_j)."""

    @abstractmethod
    def tail_variance(self, after: int) -> float:
        """sum_{j>after} s_j."""

    @abstractmethod
    def count_sums(self, D: float) -> CountSums:
        """The sums over coordinates and counts from which the loss surface of D samples is made."""

    @abstractmethod
    def pair_nodes(self, D: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(weight, p, c) of coordinates so many that pairs seen once in D samples are all among them."""

    @property
    def independent_rows(self) -> bool:
        """Whether rows of the data are seldom dependent, so that their factor is sparse."""
        return True

    @abstractmethod
    def log_smallest_amplitude(self, D: float) -> float:
        """log sqrt(c_j) of the smallest amplitude that D samples may well show."""

    def expected_seen(self, D: float) -> float:
        return self.count_sums(D).seen()

    def asymptotic_seen(self, D: float) -> float:
        return min(self.expected_seen(D), D)

    def expected_unseen(self, D: float) -> float:
        """sum_j s_j (1-p_j)^D: the mean of the unseen variance over the data."""
        return self.count_sums(D).unseen_variance()

    def unseen_variance(self, active: FloatArray) -> float:
        """sum_{j not in active} s_j, with no cancellation: losses of 1e-12 must keep their digits.

        Up to a cutoff of about twice the number of active coordinates the complement is added term by term.
        Beyond it few coordinates are active, so that the tail sum minus those few loses nothing.
        """
        cutoff = int(min(self.dimension, 2 * active.size + 64))
        missing = np.ones(cutoff, dtype=bool)
        near = active <= cutoff
        missing[active[near].astype(np.int64) - 1] = False
        below = math.fsum(self.variances(1.0 + np.flatnonzero(missing).astype(np.float64)))
        far = active[~near]
        if cutoff == self.dimension or far.size == self.dimension - cutoff:
            return below
        beyond = self.tail_variance(cutoff) - math.fsum(self.variances(far))
        return below + max(beyond, 0.0)
