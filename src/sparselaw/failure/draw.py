"""One data set as its nonzeros, drawn at their cost: common coordinates one by one, rare ones together.

Trials draw theirs in ``data.sparse``, by the same law. That sampler takes any law of activations and numpy's
vectors, which cost more than ten times as much for data of a few hundred nonzeros; here up to 200,000 data
sets are drawn for one point, their signs and probabilities tilted, within the compiled loop that decides
whether they fail. Putting this one under the trials would change every recorded loss.
``tests/failure/test_one_law.py`` compares the two.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.compiled import njit
from sparselaw.errors import InputError
from sparselaw.failure.tail import Range, draw_coordinate, poisson_range
from sparselaw.inputs import Inputs
from sparselaw.sums.power_sums import power_sum

COMMON_COUNT = 0.5  # a coordinate expected this often in the data set is drawn on its own
MOST_NONZEROS = 2e8


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
    check_nonzeros(inputs, D, last)
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


def check_nonzeros(inputs: Inputs, D: int, last: float) -> None:
    nonzeros = max(mean_nonzeros(inputs, D, last), D)
    if nonzeros > MOST_NONZEROS:
        raise InputError(
            "D",
            D,
            f"is too many samples to draw ({nonzeros:.1e} nonzeros)",
            "choose a smaller D or dimension",
        )


class Space(NamedTuple):
    """Work space for one data set at a time."""

    sample: NDArray[np.int64]
    coordinate: NDArray[np.int64]
    sign: NDArray[np.int8]
    first: NDArray[np.int64]
    singles: FloatArray


def work_space(law: DataLaw, most_active: float) -> Space:
    """``most_active``: the sum over the common coordinates of the largest probability they may get."""
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
