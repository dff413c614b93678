"""Inputs whose coordinates are switched on now and then, each on its own.

Coordinate j is active with probability p_j and then has the value +-sqrt(c_j) with a fair sign, so that its
variance is s_j = p_j c_j (eq:sparse-active-prob). Coordinates come in the order of falling p_j.

A law says what p_j and c_j are. Everything else follows here by plain sums over its coordinates, which must
then be finitely many; a law with closed forms says them itself.
"""

from __future__ import annotations

import functools
import math
from abc import abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError
from sparselaw.gram.cavity import Cavity
from sparselaw.gram.coactivation import Coactivation
from sparselaw.gram.counts import Counts
from sparselaw.gram.law import Atoms, GramLaw
from sparselaw.gram.nodes import CoordinateNodes, table_nodes
from sparselaw.gram.several import SeveralCoactivation, SeveralCounts
from sparselaw.inputs.base import Inputs, Sampling

LARGEST_TABLE = 10_000_000  # coordinates that are added one by one


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

    def expected_nonzeros(self) -> float:
        """sum_j p_j: the mean number of nonzeros of a sample."""
        return float(_table(self).p.sum())

    def last_above(self, probability: float) -> int:
        """The last coordinate with p_j >= probability."""
        return int(np.searchsorted(-_table(self).p, -probability, side="right"))

    def tail_rate(self, after: int) -> float:
        """sum_{j>after} -log(1-p_j): the rate of the Poisson events beyond a coordinate."""
        return float(-np.log1p(-_table(self).p[after:]).sum())

    def draw_tail(self, after: int, count: int, rng: np.random.Generator) -> FloatArray:
        """``count`` coordinates j > after with probability proportional to -log(1-p_j)."""
        mass = np.cumsum(-np.log1p(-_table(self).p[after:]))
        place = np.searchsorted(mass, rng.random(count) * mass[-1], side="right")
        drawn: FloatArray = after + 1.0 + np.minimum(place, mass.size - 1)
        return drawn

    def tail_variance(self, after: int) -> float:
        """sum_{j>after} s_j."""
        return math.fsum(_table(self).s[after:])

    def nodes(self, D: float) -> CoordinateNodes:
        """Coordinates that stand for all of them in D samples."""
        return table_nodes(*self.pair_nodes(D), D)

    def population(self, D: float) -> Atoms:
        nodes = self.nodes(D)
        variance = nodes.weight * np.exp(nodes.log_s)
        return Atoms(nodes.weight, nodes.log_s, variance, unseen=nodes.unseen_beyond, log_single=nodes.log_c)

    def gram(self, D: float, *, sharp: bool = True) -> GramLaw:
        return _gram(self, float(D)) if sharp else counts_of(self, float(D))

    def grams(self, D: FloatArray, *, sharp: bool = True) -> GramLaw:
        return _grams(self, tuple(D.tolist()), sharp)

    def pair_nodes(self, D: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(weight, p, c) of coordinates so many that pairs seen once in D samples are all among them."""
        del D
        table = _table(self)
        return np.ones_like(table.p), table.p, table.c

    def check_drawable(self) -> None:
        _table(self)

    def expected_seen(self, D: float) -> float:
        return counts_of(self, float(D)).rank

    def expected_unseen(self, D: float) -> float:
        """sum_j s_j (1-p_j)^D: the mean of the unseen variance over the data."""
        return counts_of(self, float(D)).unseen

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


class _Table(NamedTuple):
    p: FloatArray
    c: FloatArray
    s: FloatArray


@functools.lru_cache(maxsize=128)
def _gram(inputs: ActivationInputs, D: float) -> GramLaw:
    """Kept: every N of one D asks the same law."""
    return _coactivation(inputs, D, counts_of(inputs, D))


def _coactivation(inputs: ActivationInputs, D: float, counts: Counts) -> Coactivation:
    most = 10.0 ** (3 * math.ceil(math.log10(max(D, 2.0)) / 3.0))
    return Coactivation(counts, inputs.pair_nodes(D), D, functools.partial(_closure, inputs, most))


@functools.lru_cache(maxsize=8)
def _grams(inputs: ActivationInputs, D: tuple[float, ...], sharp: bool) -> GramLaw:
    """Kept: a plan and its picture ask the same laws."""
    counts = [Counts(inputs.nodes(d), functools.partial(inputs.pair_nodes, d)) for d in D]
    if not sharp:
        return SeveralCounts(counts)
    return SeveralCoactivation([_coactivation(inputs, d, each) for d, each in zip(D, counts, strict=True)])


@functools.lru_cache(maxsize=16)
def _closure(inputs: ActivationInputs, most: float) -> Cavity:
    """Shared by all numbers of samples between two powers of a thousand."""
    return Cavity(*inputs.pair_nodes(most), most)


@functools.lru_cache(maxsize=128)
def counts_of(inputs: ActivationInputs, D: float) -> Counts:
    """Coordinates that share no sample."""
    return Counts(inputs.nodes(D), functools.partial(inputs.pair_nodes, D))


@functools.lru_cache(maxsize=16)
def _table(inputs: ActivationInputs) -> _Table:
    """The law coordinate by coordinate, checked."""
    if not inputs.dimension <= LARGEST_TABLE:
        raise InputError(
            "dimension", inputs.dimension, "is too large to add coordinate by coordinate",
            f"choose a dimension of at most {LARGEST_TABLE}",
        )  # fmt: skip
    j = np.arange(1.0, inputs.dimension + 1.0)
    p, c = inputs.probabilities(j), inputs.squared_amplitudes(j)
    if not (p[0] <= 1.0 and (np.diff(p) <= 0.0).all() and (p > 0.0).all()):
        raise InputError(
            "probabilities", p[0], "must not exceed 1, fall with j and stay positive", "sort the coordinates"
        )
    if not (np.isfinite(c).all() and (c > 0.0).all()):
        raise InputError("amplitudes", c.min(), "must be positive and finite", "leave other coordinates out")
    return _Table(p, c, inputs.variances(j))
