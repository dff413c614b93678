"""Draws sparse data in time proportional to its nonzeros, with infinitely many coordinates if need be.

Bernoulli(p) is the event that a Poisson variable of rate f = -log(1-p) is at least one. So the nonzeros are
the events of a Poisson process over (coordinate, sample), repeats dropped. Three groups, by how often:

  frequent, p_j >= 1/2        one Bernoulli draw per sample, since Poisson events would mostly be repeats;
  common, down to p_j ~ 1/D   the process runs along the samples of one coordinate after the other, its gaps
                              exponential: the events come in order;
  rare, all the others        one Poisson number of events, a random coordinate and a uniform sample for each.

The law is exact, also when the dimension is infinite.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.data.spectrum import probabilities
from sparselaw.errors import InputError
from sparselaw.inputs import SparseInputs
from sparselaw.sums.power_sums import log_survival

FREQUENT = 0.5
RARE = 1.0 / 16.0  # never rare above it: the proposal for rare coordinates would fit badly
FREQUENT_BLOCK = 1 << 23  # uniform numbers held at once
COMMON_BLOCK = 1 << 16  # events in a sum of gaps, so that rounding never moves one by a sample
SMALLEST_ALPHA1 = 0.06  # below, the coordinates of an infinite tail overflow: 2^53 to the power 1/alpha1

Group = tuple[FloatArray, IntArray, IntArray]  # coordinates, how often each is active, and in which samples


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseData:
    """D sparse samples as a list of nonzeros, ordered by coordinate and then by sample."""

    samples: int  # D
    active: FloatArray  # (K,) the coordinates seen, ascending; floats, since j may exceed 2^63
    sample: IntArray  # (nonzeros,) 0 .. D-1
    column: IntArray  # (nonzeros,) index into active
    sign: IntArray  # (nonzeros,) -1 or +1


def check_drawable(inputs: SparseInputs) -> None:
    """Refuse inputs whose coordinates cannot be numbered."""
    if math.isinf(inputs.dimension) and inputs.alpha1 < SMALLEST_ALPHA1:
        raise InputError(
            "alpha1",
            inputs.alpha1,
            f"coordinates overflow below {SMALLEST_ALPHA1} when the dimension is infinite",
            "choose a finite dimension",
        )


def draw_sparse(inputs: SparseInputs, D: int, rng: np.random.Generator) -> SparseData:
    """D independent samples of the sparse inputs."""
    check_drawable(inputs)
    frequent, common = last_above(inputs, FREQUENT), last_above(inputs, min(RARE, 1.0 / D))
    groups = [_draw_frequent(inputs, frequent, D, rng)]
    if common > frequent:
        groups.append(_draw_common(inputs, frequent, common, D, rng))
    if inputs.dimension > common:
        groups.append(_draw_rare(inputs, common, D, rng))
    coordinates, counts, samples = (np.concatenate(parts) for parts in zip(*groups, strict=True))
    seen = counts > 0
    column = np.repeat(np.arange(np.count_nonzero(seen), dtype=samples.dtype), counts[seen])
    return SparseData(
        samples=D, active=coordinates[seen], sample=samples, column=column, sign=_signs(samples.size, rng)
    )


def last_above(inputs: SparseInputs, probability: float) -> int:
    """The last coordinate with p_j >= probability."""
    decay = inputs.alpha1 + 1.0
    log_last = -math.log(probability) / decay if decay > 0.0 else math.inf
    return int(
        min(math.exp(log_last) * (1.0 + 1e-12), inputs.dimension) if log_last < 700.0 else inputs.dimension
    )


@functools.lru_cache(maxsize=256)
def rare_rate(inputs: SparseInputs, common: int) -> float:
    """sum_{j>common} -log(1-p_j)."""
    return log_survival(inputs.alpha1 + 1.0, common + 1.0, inputs.dimension)


def draw_rare_coordinates(
    inputs: SparseInputs, common: int, count: int, rng: np.random.Generator
) -> FloatArray:
    """``count`` coordinates j > common with probability proportional to f_j = -log(1-p_j).

    Propose the integer nearest to x of density x^-(alpha1+1) on [common+1/2, dimension+1/2], by inversion: it
    is j with weight I_j = int_{j-1/2}^{j+1/2} x^-(alpha1+1) dx >= p_j (convexity). Accept with probability
    f_j / (B I_j), where B = f/p at common+1 bounds f_j/p_j. More than nine in ten are accepted.
    """
    p_first = float(probabilities(inputs, np.array([common + 1.0]))[0])
    bound = -math.log1p(-p_first) / p_first
    accepted: list[FloatArray] = []
    missing = count
    while missing > 0:
        size = int(missing * 1.1) + 16
        j = np.rint(_invert(inputs, common, 1.0 - rng.random(size)))
        np.clip(j, common + 1.0, inputs.dimension, out=j)  # rounding of the inversion at the two ends
        p = probabilities(inputs, j)
        ratio = -np.log1p(-p) / (bound * p * _interval_over_p(inputs.alpha1 + 1.0, j))
        kept = j[rng.random(size) < ratio][:missing]
        accepted.append(kept)
        missing -= kept.size
    return np.concatenate(accepted) if accepted else np.empty(0)


def _invert(inputs: SparseInputs, common: int, uniform: FloatArray) -> FloatArray:
    """x with uniform = (mass beyond x) / (mass beyond common+1/2), density x^-(alpha1+1)."""
    low, high, alpha1 = common + 0.5, inputs.dimension + 0.5, inputs.alpha1
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


def _draw_frequent(inputs: SparseInputs, last: int, D: int, rng: np.random.Generator) -> Group:
    """Coordinates 1, ..., last, each sample with its own uniform number; x_1 is always active."""
    p = probabilities(inputs, np.arange(2.0, last + 1.0))
    counts, samples = [np.array([D])], [np.arange(D, dtype=_index_type(D))]
    block = max(1, FREQUENT_BLOCK // D)
    for start in range(0, p.size, block):
        part = p[start : start + block]
        active = rng.random((part.size, D)) < part[:, None]
        counts.append(np.count_nonzero(active, axis=1))
        samples.append(np.nonzero(active)[1].astype(_index_type(D)))
    return np.arange(1.0, last + 1.0), np.concatenate(counts), np.concatenate(samples)


def _draw_common(inputs: SparseInputs, first: int, last: int, D: int, rng: np.random.Generator) -> Group:
    """Coordinates first+1, ..., last, a block of them at a time."""
    coordinates = np.arange(first + 1.0, last + 1.0)
    rates = -np.log1p(-probabilities(inputs, coordinates))
    block = np.floor(np.cumsum(D * rates) / COMMON_BLOCK)
    parts = np.split(rates, np.flatnonzero(np.diff(block)) + 1)
    counts, samples = zip(*(_cells_hit(part, D, rng) for part in parts), strict=True)
    return coordinates, np.concatenate(counts), np.concatenate(samples)


def _cells_hit(rates: FloatArray, D: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Poisson processes of these rates on [0, D): how many of the D unit cells of each are hit, and which.

    Laid end to end and scaled by their rates they are one process of rate one.
    """
    ends = np.cumsum(D * rates)
    times = _arrivals(ends[-1], rng)
    which = np.repeat(np.arange(rates.size), np.diff(np.searchsorted(times, ends), prepend=0))
    times = times[: which.size]
    cell: IntArray = ((times - (ends - D * rates)[which]) / rates[which]).astype(_index_type(D))
    np.clip(cell, 0, D - 1, out=cell)  # rounding at the two ends
    once = np.ones(cell.size, dtype=bool)
    once[1:] = (cell[1:] != cell[:-1]) | (which[1:] != which[:-1])
    return np.bincount(which[once], minlength=rates.size), cell[once]


def _arrivals(end: float, rng: np.random.Generator) -> FloatArray:
    """The arrival times of a Poisson process of rate one, up to and beyond ``end``."""
    times = np.cumsum(rng.standard_exponential(int(end + 4.0 * math.sqrt(end)) + 16))
    while times[-1] < end:
        more = times[-1] + np.cumsum(rng.standard_exponential(int(math.sqrt(end)) + 16))
        times = np.concatenate([times, more])
    return times


def _draw_rare(inputs: SparseInputs, common: int, D: int, rng: np.random.Generator) -> Group:
    """Coordinates beyond ``common``, those that were hit."""
    events = int(rng.poisson(D * rare_rate(inputs, common)))
    coordinates = draw_rare_coordinates(inputs, common, events, rng)
    samples = rng.integers(0, D, size=events, dtype=_index_type(D))
    order = np.lexsort((samples, coordinates))
    coordinates, samples = coordinates[order], samples[order]
    once = np.ones(events, dtype=bool)
    once[1:] = (samples[1:] != samples[:-1]) | (coordinates[1:] != coordinates[:-1])
    active, counts = np.unique(coordinates[once], return_counts=True)
    return active, counts, samples[once]


def _signs(count: int, rng: np.random.Generator) -> IntArray:
    """Fair signs, one random bit for each."""
    bits = np.frombuffer(rng.bytes(-(-count // 8)), dtype=np.uint8)
    sign = np.unpackbits(bits, count=count).view(np.int8)
    sign *= 2
    sign -= 1
    return sign


def _index_type(size: int) -> type[np.int32] | type[np.int64]:
    return np.int32 if size < 2**31 else np.int64
