"""Draws sparse data in time proportional to its nonzeros, with infinitely many coordinates if need be.

Head, the few coordinates with p_j >= 1/16: one Bernoulli draw per sample. Tail j > J: Bernoulli(p) is the
event that a Poisson variable of rate -log(1-p) is at least one. So one Poisson number of events is drawn with
rate D * sum_{j>J} -log(1-p_j), each event gets a coordinate with probability proportional to -log(1-p_j) and
a uniform sample, and repeats are dropped. The law is exact, also when the dimension is infinite.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from sparselaw.data.arrays import FloatArray, IntArray
from sparselaw.data.spectrum import probabilities
from sparselaw.errors import InputError
from sparselaw.problem import SparseInputs
from sparselaw.theory.power_sums import log_survival

HEAD_PROBABILITY = 1.0 / 16.0
HEAD_BLOCK = 1 << 23  # uniform numbers held at once
SMALLEST_ALPHA1 = 0.06  # below, the coordinates of an infinite tail overflow: 2^53 to the power 1/alpha1


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseData:
    """D sparse samples as a list of nonzeros, ordered by coordinate and then by sample."""

    samples: int  # D
    active: FloatArray  # (K,) the coordinates seen, ascending; floats, since j may exceed 2^63
    sample: IntArray  # (nonzeros,) 0 .. D-1
    column: IntArray  # (nonzeros,) index into active
    sign: IntArray  # (nonzeros,) -1 or +1


def check_drawable(problem: SparseInputs) -> None:
    """Refuse inputs whose coordinates cannot be numbered."""
    if math.isinf(problem.dimension) and problem.alpha1 < SMALLEST_ALPHA1:
        raise InputError(
            "alpha1",
            problem.alpha1,
            f"coordinates overflow below {SMALLEST_ALPHA1} when the dimension is infinite",
            "choose a finite dimension",
        )


def draw_sparse(problem: SparseInputs, D: int, rng: np.random.Generator) -> SparseData:
    """D independent samples of the sparse inputs."""
    check_drawable(problem)
    head = head_size(problem)
    active, column, sample = _draw_head(problem, head, D, rng)
    if head < problem.dimension:
        tail_active, tail_column, tail_sample = _draw_tail(problem, head, D, rng)
        column = np.concatenate([column, tail_column + column.dtype.type(active.size)])
        active = np.concatenate([active, tail_active])
        sample = np.concatenate([sample, tail_sample])
    sign = 2 * rng.integers(0, 2, size=sample.size, dtype=np.int8) - np.int8(1)
    return SparseData(samples=D, active=active, sample=sample, column=column, sign=sign)


def head_size(problem: SparseInputs) -> int:
    """J: the number of coordinates with p_j >= 1/16."""
    decay = problem.alpha1 + 1.0
    last = HEAD_PROBABILITY ** (-1.0 / decay) * (1.0 + 1e-12) if decay > 0.05 else math.inf
    return int(min(last, problem.dimension))


@functools.lru_cache(maxsize=256)
def tail_rate(problem: SparseInputs, head: int) -> float:
    """sum_{j>head} -log(1-p_j)."""
    return log_survival(problem.alpha1 + 1.0, head + 1.0, problem.dimension)


def draw_tail_coordinates(
    problem: SparseInputs, head: int, count: int, rng: np.random.Generator
) -> FloatArray:
    """``count`` coordinates j > head with probability proportional to f_j = -log(1-p_j).

    Propose the integer nearest to x of density x^-(alpha1+1) on [head+1/2, dimension+1/2], by inversion: it
    is j with weight I_j = int_{j-1/2}^{j+1/2} x^-(alpha1+1) dx >= p_j (convexity). Accept with probability
    f_j / (B I_j), where B = f/p at head+1 bounds f_j/p_j. More than nine in ten are accepted.
    """
    p_first = float(probabilities(problem, np.array([head + 1.0]))[0])
    bound = -math.log1p(-p_first) / p_first
    accepted: list[FloatArray] = []
    missing = count
    while missing > 0:
        size = int(missing * 1.1) + 16
        j = np.rint(_invert(problem, head, 1.0 - rng.random(size)))
        np.clip(j, head + 1.0, problem.dimension, out=j)  # rounding of the inversion at the two ends
        p = probabilities(problem, j)
        ratio = -np.log1p(-p) / (bound * p * _interval_over_p(problem.alpha1 + 1.0, j))
        kept = j[rng.random(size) < ratio][:missing]
        accepted.append(kept)
        missing -= kept.size
    return np.concatenate(accepted) if accepted else np.empty(0)


def _invert(problem: SparseInputs, head: int, uniform: FloatArray) -> FloatArray:
    """x with uniform = (mass beyond x) / (mass beyond head+1/2), density x^-(alpha1+1)."""
    low, high, alpha1 = head + 0.5, problem.dimension + 0.5, problem.alpha1
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


def _draw_head(
    problem: SparseInputs, head: int, D: int, rng: np.random.Generator
) -> tuple[FloatArray, IntArray, IntArray]:
    """Active coordinates j <= head, and column and sample of their nonzeros; x_1 is always active."""
    index = _index_type(D)
    coordinates, samples = [np.zeros(D, dtype=index)], [np.arange(D, dtype=index)]
    p = probabilities(problem, np.arange(2.0, head + 1.0))
    block = max(1, HEAD_BLOCK // D)
    for start in range(0, p.size, block):
        part = p[start : start + block]
        row, sample = np.nonzero(rng.random((part.size, D)) < part[:, None])
        coordinates.append((row + (start + 1)).astype(index))
        samples.append(sample.astype(index))
    column: IntArray = np.concatenate(coordinates)
    seen = np.bincount(column, minlength=head) > 0
    column = np.asarray((np.cumsum(seen) - 1)[column], dtype=index)
    return 1.0 + np.flatnonzero(seen).astype(np.float64), column, np.concatenate(samples)


def _draw_tail(
    problem: SparseInputs, head: int, D: int, rng: np.random.Generator
) -> tuple[FloatArray, IntArray, IntArray]:
    """The same for j > head. One sort by coordinate, one by (coordinate, sample) as a single integer."""
    events = int(rng.poisson(D * tail_rate(problem, head)))
    coordinates = draw_tail_coordinates(problem, head, events, rng)
    samples = rng.integers(0, D, size=events)
    order = np.argsort(coordinates)
    coordinates = coordinates[order]
    new = np.ones(events, dtype=bool)
    new[1:] = coordinates[1:] != coordinates[:-1]
    key = (np.cumsum(new) - 1) * D + samples[order]
    key.sort()
    once = np.ones(events, dtype=bool)
    once[1:] = key[1:] != key[:-1]
    column, sample = np.divmod(key[once], D)
    index = _index_type(D)
    return coordinates[new], column.astype(index), sample.astype(index)


def _index_type(size: int) -> type[np.int32] | type[np.int64]:
    return np.int32 if size < 2**31 else np.int64
