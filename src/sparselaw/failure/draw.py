"""One data set as its nonzeros, drawn at their cost: common coordinates one by one, rare ones together.

Trials draw theirs in ``data.sparse_samples``, by the same law. That sampler takes any law of activations and
numpy's vectors, which cost more than ten times as much for data of a few hundred nonzeros; here up to 200,000
data sets are drawn for one point, their signs and probabilities tilted, within the compiled loop that decides
whether they fail. Putting this one under the trials would change every recorded loss.
``tests/failure/test_one_law.py`` compares the two.

The rare coordinates are drawn together, exactly for infinitely many of them. Coordinate j is seen with
probability p_j = j^-s. Where p_j is small the D samples of all coordinates first..last are one Poisson
stream: Bernoulli(p) is 1{Poisson(-log(1-p)) >= 1}, so a Poisson number of events with mean D * sum
-log(1-p_j), each with its own coordinate and sample, repeats dropped, has the law of the independent
activations. A coordinate is drawn by rounding a Pareto variable on [first - 1/2, last + 1/2] and thinning:
x^-s is convex, so the cell of j has at least the mass p_j, and the thinning never needs more than one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.compiled import njit
from sparselaw.errors import InputError
from sparselaw.failure.divergence import DENSE_LIMIT
from sparselaw.gram.nodes import log_survival, power_sum
from sparselaw.inputs import Inputs

COMMON_COUNT = 0.5  # a coordinate expected this often in the data set is drawn on its own
MOST_NONZEROS = 2e8
FLAT = 1e4  # beyond this the cell's mass is p_j (1 + s (s + 1) / (24 j^2)) to 16 digits
BETWEEN_LOOKS = 0.1  # seconds of compiled work at a time: Ctrl-C and progress wait no longer
# Seconds, measured on one core of 2020: for a data set, for a common coordinate, for a nonzero drawn and
# looked at, and more for a rare one, which is sorted; for the products of Lanczos's method with a nonzero;
# for a pair of nonzeros where a matrix is filled.
START, COORDINATE, NONZERO, RARE, PRODUCTS, PAIR = 2e-6, 1e-8, 4e-8, 3e-7, 1.6e-7, 6e-9


class Range(NamedTuple):
    """Coordinates first..last of the law j^-s, ready to be drawn from. ``mass`` is the sum of the law."""

    s: float
    first: float
    last: float
    mass: float
    poisson: bool  # the law is -log(1 - p_j), else p_j


def poisson_range(s: float, first: float, last: float) -> Range:
    """The coordinates of a Poisson stream; mass 0 where there are none."""
    return Range(s, first, last, log_survival(s, first, last), True)


def activation_range(s: float, first: float, last: float) -> Range:
    """Coordinates drawn in proportion to p_j: the law of one activation made to happen."""
    return Range(s, first, last, power_sum(s, first, last), False)


@njit()
def draw_coordinate(rng: np.random.Generator, law: Range) -> float:
    """One coordinate of the range."""
    s = law.s
    low, high = law.first - 0.5, law.last + 0.5
    log_ratio = math.log(high / low) if high < math.inf else math.inf
    most = _thinning(law, law.first)
    while True:
        u = 1.0 - rng.random()
        if s == 1.0:
            x = low * math.exp(u * log_ratio)
        elif high == math.inf:
            x = low * math.exp(-math.log(u) / (s - 1.0))
        else:
            x = low * math.exp(math.log1p(u * math.expm1((1.0 - s) * log_ratio)) / (1.0 - s))
        # math.floor would be a 64-bit integer here, and coordinates go far beyond.
        j: float = min(max(np.floor(x + 0.5), law.first), law.last)
        if rng.random() * most * _cell(s, j) <= _thinning(law, j):
            return j


@njit()
def _thinning(law: Range, j: float) -> float:
    """The law over p_j: 1, or -log(1 - p) / p, which falls with j."""
    if not law.poisson:
        return 1.0
    p = math.exp(-law.s * math.log(j))
    return -math.log1p(-p) / p if p > 1e-17 else 1.0


@njit()
def _cell(s: float, j: float) -> float:
    """The mass of x^-s on [j - 1/2, j + 1/2] over j^-s, at least 1."""
    if j > FLAT:
        return 1.0 + s * (s + 1.0) / (24.0 * j * j)
    low, high = math.log1p(-0.5 / j), math.log1p(0.5 / j)
    if s == 1.0:
        return j * (high - low)
    return j * (math.exp((1.0 - s) * high) - math.exp((1.0 - s) * low)) / (1.0 - s)


class DataLaw(NamedTuple):
    """The law of a data set of D samples: coordinates 2, ..., J one by one, the rest a Poisson stream.

    Row k of the arrays is coordinate k + 2. Numba's cache names this class: code that was kept under another
    name cannot be read back, and must stand on another line, which is how the cache tells functions apart.
    """

    D: int
    s: float  # p_j = j^-s
    active: FloatArray  # p_j
    squared: FloatArray  # c_j
    rare: Range  # J + 1, ..., M
    growth: float  # c_j = j^growth
    spike_index: float  # an activation beyond it is a failure by itself


def data_law(inputs: Inputs, D: int, spike_index: float, last: float, common: float = 0.0) -> DataLaw:
    """The law with coordinates up to ``last``, those up to ``common`` (0: as suits D) drawn one by one."""
    activations = inputs.power_activations()
    s, growth = activations.decay, activations.growth
    nonzeros = max(mean_nonzeros(inputs, D, last), D)
    if nonzeros > MOST_NONZEROS:
        condition = f"is too many samples to draw ({nonzeros:.1e} nonzeros)"
        raise InputError("D", D, condition, "choose a smaller D or dimension")
    J = min(last, float(common or default_common(inputs, D)))
    j = np.arange(2.0, J + 1.0)
    rare = poisson_range(s, J + 1.0, last) if last > J else Range(max(s, 1e-300), 2.0, 2.0, 0.0, True)
    return DataLaw(D, s, j**-s, j**growth, rare, growth, spike_index)


def default_common(inputs: Inputs, D: int) -> float:
    """The first coordinate not expected often enough; the Poisson stream also wants p of at most a tenth."""
    s = inputs.power_activations().decay
    log_index = math.log(max(D / COMMON_COUNT, 10.0)) / s if s > 0.0 else math.inf
    return min(inputs.dimension, float(math.ceil(math.exp(log_index))) if log_index < 40.0 else math.inf)


def mean_nonzeros(inputs: Inputs, D: int, last: float) -> float:
    """The expected nonzeros of a data set up to a coordinate, the first left out."""
    return D * power_sum(inputs.power_activations().decay, 2.0, last)


class Space(NamedTuple):
    """Work space for one data set at a time."""

    sample: NDArray[np.int64]
    coordinate: NDArray[np.int64]
    sign: NDArray[np.int8]
    first: NDArray[np.int64]
    singles: FloatArray


def work_space(law: DataLaw, most_active: float) -> Space:
    """Room for one data set; ``most_active`` is the largest sum of the common coordinates' probabilities."""
    mean = law.D * (most_active + law.rare.mass)
    room = int(mean + 15.0 * math.sqrt(mean) + 1000.0)  # 15 deviations and more: never reached
    return Space(
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int8),
        np.full(law.D, -1, np.int64),
        np.zeros(law.D),
    )


@njit()
def draw_data(rng, law, space):  # type: ignore[no-untyped-def]
    """One data set into the work space; its size, and c, count and (of the rare) j of its coordinates."""
    size, room, common = np.int64(0), len(space.sample), len(law.active)
    common_count = np.zeros(common, np.int64)
    for k in range(common):
        before = size
        half = 0.5 * law.active[k]
        size, _, _ = draw_common(rng, law.D, k, half, half, space, size, room)
        common_count[k] = size - before
    j, i = draw_rare(rng, law.D, law.rare)
    return add_rare(rng, j, i, law.growth, space, size, room, law.squared, common_count)


@njit()
def draw_common(rng, D, k, plus, minus, space, size, room):  # type: ignore[no-untyped-def]
    """Appends the activations of common coordinate k: positive with probability plus, negative with minus.

    The gap to the next active sample is geometric. Returns the new size and the two counts.
    """
    active = plus + minus
    n_plus = n_minus = 0
    if active <= 0.0:
        return size, n_plus, n_minus
    share = plus / active
    scale = 1.0 / math.log1p(-active) if active < 1.0 else -0.0
    i = -1.0
    while True:
        u = 1.0 - rng.random()
        i += 1.0 + np.floor(math.log(u) * scale)
        if i >= D or size == room:
            return size, n_plus, n_minus
        space.sample[size] = int(i)
        space.coordinate[size] = k
        if rng.random() < share:
            space.sign[size] = 1
            n_plus += 1
        else:
            space.sign[size] = -1
            n_minus += 1
        size += 1


@njit()
def draw_rare(rng, D, rare):  # type: ignore[no-untyped-def]
    """The activations of the rare coordinates: coordinates and samples, repeats still among them."""
    events = rng.poisson(D * rare.mass) if rare.mass > 0.0 else 0
    j, i = np.empty(events), np.empty(events, np.int64)
    for e in range(events):
        j[e] = draw_coordinate(rng, rare)
        i[e] = int(rng.random() * D)
    return j, i


@njit()
def add_rare(rng, j, i, growth, space, size, room, common_squared, common_count):  # type: ignore[no-untyped-def]
    """Gives the rare activations compact indices and random signs, drops repeats, and appends them.

    Returns the new size, c and the counts of all coordinates (common ones first), and the rare ones' own j.
    """
    common, events = len(common_squared), len(j)
    squared, count = np.empty(common + events), np.zeros(common + events, np.int64)
    rare_j = np.empty(events)
    for k in range(common):  # numba takes seconds to compile the assignment of a slice
        squared[k] = common_squared[k]
        count[k] = common_count[k]
    order = np.argsort(j)
    k = common - 1
    start = 0  # where the entries of the present coordinate begin
    for e in range(events):
        a = order[e]
        if e == 0 or j[a] != j[order[e - 1]]:
            k += 1
            squared[k] = math.exp(growth * math.log(j[a]))
            rare_j[k - common] = j[a]
            start = size
        again = False
        for f in range(start, size):
            again = again or space.sample[f] == i[a]
        if again or size == room:
            continue
        space.sample[size] = i[a]
        space.coordinate[size] = k
        space.sign[size] = 1 if rng.random() < 0.5 else -1
        count[k] += 1
        size += 1
    return size, squared[: k + 1], count[: k + 1], rare_j[: k + 1 - common]


class Entries(NamedTuple):
    """The nonzeros of coordinates 2, 3, ... are entries 0, ..., size-1; x_1 = 1 in every sample.

    Coordinates have compact indices, into ``squared`` and ``often``.
    """

    size: int
    D: int
    sample: NDArray[np.int64]
    coordinate: NDArray[np.int64]
    sign: NDArray[np.int8]
    squared: FloatArray  # c
    often: NDArray[np.int64]  # how often each coordinate was seen


def data_set_seconds(law: DataLaw, most_active: float | None = None) -> float:
    """Seconds to draw a data set and to decide whether it fails.

    ``most_active`` is the sum of the common coordinates' probabilities where they are not those of the law.
    """
    common = float(law.active.sum()) if most_active is None else most_active
    nonzeros = law.D * (common + law.rare.mass)
    often = law.active[law.D * law.active > 2.0]
    seconds = START + COORDINATE * len(law.active) + NONZERO * nonzeros + RARE * law.D * law.rare.mass
    if often.size > DENSE_LIMIT:
        return seconds + PRODUCTS * nonzeros
    return seconds + PAIR * 0.5 * law.D * float(often.sum()) ** 2  # pairs of coordinates within a sample


def data_sets_at_a_time(law: DataLaw, most_active: float | None = None) -> int:
    return max(1, int(BETWEEN_LOOKS / data_set_seconds(law, most_active)))


def in_words(seconds: float) -> str:
    """A duration in words.

    >>> in_words(45.0), in_words(9000.0), in_words(1e12)
    ('about 45 s', 'about 2.5 h', 'years')
    """
    for size, unit in ((31_557_600.0, ""), (86_400.0, "days"), (3600.0, "h"), (60.0, "min")):
        if seconds >= 2.0 * size:
            return f"about {seconds / size:.2g} {unit}" if unit else "years"
    return f"about {seconds:.2g} s"
