"""The spike by importance sampling: force an activation beyond j* and weigh it.

With N the activations beyond j* in the data set and m = E N, data with one of them forced has the density
N / m over the original law, so P(N >= 1) = E[m / N] under the forced law. The estimate checks the closed
form, and every forced data set must fail: c_j > threshold * D stands alone on the diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparselaw.errors import InputError
from sparselaw.failure.draw import activation_range, draw_coordinate, poisson_range
from sparselaw.failure.failure_curve import random_numbers
from sparselaw.inputs import Inputs
from sparselaw.interval import Z95, Interval
from sparselaw.theory.descent import spike_index

LARGEST = 1e280


@dataclass(frozen=True, slots=True, kw_only=True)
class ForcedSpikes:
    """``coordinates`` are the forced ones, the smallest amplitude first."""

    probability: Interval
    replicates: int
    coordinates: tuple[float, ...]


def forced_spikes(
    inputs: Inputs, D: int, threshold: float, *, replicates: int = 1000, seed: int = 0
) -> ForcedSpikes:
    """P(some activation beyond j*) from data in which there is one."""
    first, last = spike_index(inputs, D, threshold) + 1.0, inputs.dimension
    if not first <= last or first > LARGEST:
        raise InputError(
            "threshold",
            threshold,
            "no activation is enough alone",
            "choose alpha2 < -1, or a larger dimension",
        )
    rng = random_numbers(seed, D, "spike")
    s = inputs.power_activations().decay
    forced, others = activation_range(s, first, last), poisson_range(s, first, last)
    values, coordinates = np.empty(replicates), []
    for r in range(replicates):
        entries = {(draw_coordinate(rng, forced), int(rng.integers(D)))}
        coordinates.append(next(iter(entries))[0])
        for _ in range(rng.poisson(D * others.mass)):
            entries.add((draw_coordinate(rng, others), int(rng.integers(D))))
        values[r] = D * forced.mass / len(entries)
    best = float(values.mean())
    half = Z95 * float(values.std(ddof=1)) / replicates**0.5 if replicates > 1 else best
    return ForcedSpikes(
        probability=Interval(best - half, best, best + half),
        replicates=replicates,
        coordinates=tuple(sorted(coordinates)),
    )
