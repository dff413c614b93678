"""One D with its exact spike, and what sampling it would take, estimated before it starts.

What cannot answer within a day is refused, what may take minutes is announced.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from sparselaw.errors import InputError
from sparselaw.failure.direct import table_spike
from sparselaw.failure.draw import MOST_NONZEROS, DataLaw, data_law, data_set_seconds, in_words, mean_nonzeros
from sparselaw.failure.failure_curve import Sampling
from sparselaw.failure.importance import LEARNING_ROUNDS, LEAST_EFFECTIVE, learning_draws
from sparselaw.inputs import ActivationInputs, Inputs
from sparselaw.theory.descent import spike_index, spike_probability

PILOT_WORK = 4e7  # nonzeros drawn to choose the method, about a second
LONGEST = 86_400.0  # seconds: what cannot answer within a day is refused
LONG = 120.0  # seconds: what may take longer is announced


class Work(NamedTuple):
    """Data sets to be drawn, and the time of one. Rough: right to a factor of two or so."""

    seconds: float  # of one data set
    least: float  # data sets that no answer can do without
    most: float  # data sets after which it stops, whatever was seen


def work_of(case: Case, sampling: Sampling) -> Work:
    """The work of a case that is to be sampled."""
    law = case.bulk_law() if sampling.method == "importance" else case.law()
    wanted, limit = sampling.wanted, sampling.replicates
    learning = LEARNING_ROUNDS * learning_draws(limit, 100.0 + len(law.active) + case.nonzeros)
    pilot = pilot_draws(case, sampling)
    least, most = {
        "direct": (min(wanted, limit), limit),
        "importance": (learning + min(LEAST_EFFECTIVE, limit), learning + limit),
        "auto": (min(wanted, pilot), pilot + learning + limit),
    }[sampling.method]
    return Work(data_set_seconds(law), least, most)


def _is_sampled(case: Case, sampling: Sampling) -> bool:
    """Whether many data sets are drawn for it; what is too large to draw is left to the spike, or refused."""
    by_law = case.inputs.has_power_activations and case.sampled
    return by_law and sampling.method != "exact-spike" and (sampling.method != "auto" or case.drawable)


def check_work(case: Case, sampling: Sampling) -> None:
    """Refuse what would not answer within a day."""
    if not _is_sampled(case, sampling):
        return
    work = work_of(case, sampling)
    if work.seconds * work.least > LONGEST:
        raise InputError(
            "D",
            case.D,
            f"sampling would take {in_words(work.seconds * work.least)} at least",
            "ask for fewer failures or replicates, or choose a smaller D or dimension",
        )


def announcements(inputs: Inputs, D: Sequence[int], threshold: float, sampling: Sampling) -> list[str]:
    """What to say before sampling, one line for each D that may take minutes."""
    lines = []
    for case in (case_of(inputs, size, threshold) for size in D):
        if _is_sampled(case, sampling):
            seconds, _, most = work_of(case, sampling)
            if seconds * most >= LONG:
                words = (
                    f"up to {most:.0f} data sets of {in_words(seconds)}, {in_words(seconds * most)} in all"
                )
                lines.append(f"D={case.D}: {words}; fewer replicates or failures make it shorter")
    return lines


def pilot_draws(case: Case, sampling: Sampling) -> int:
    """Data sets drawn directly before the method is chosen."""
    return min(sampling.replicates, max(100, min(20_000, int(PILOT_WORK / (50.0 + case.nonzeros)))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One D, and what every method needs to know of it."""

    inputs: Inputs
    D: int
    threshold: float
    spike: float  # P(some activation beyond j*)
    spike_index: float  # j*

    @property
    def last(self) -> float:
        """The last coordinate of the bulk."""
        return min(self.inputs.dimension, self.spike_index)

    @property
    def sampled(self) -> bool:
        """Whether there is anything to sample: below 1 all data fail, and x_1 alone never does."""
        return self.threshold >= 1.0 and self.last > 1.0

    @property
    def nonzeros(self) -> float:
        """Expected in one data set, coordinate 1 left out."""
        return mean_nonzeros(self.inputs, self.D, self.inputs.dimension)

    @property
    def drawable(self) -> bool:
        return max(self.nonzeros, self.D) <= MOST_NONZEROS

    def law(self) -> DataLaw:
        """The law of a whole data set, ready to be drawn from."""
        return data_law(self.inputs, self.D, self.spike_index, self.inputs.dimension)

    def bulk_law(self) -> DataLaw:
        """The law of a data set without a spike."""
        return data_law(self.inputs, self.D, self.spike_index, self.last)


def case_of(inputs: Inputs, D: int, threshold: float) -> Case:
    """One D with its exact spike."""
    if inputs.has_power_activations:
        spike, index = spike_probability(inputs, D, threshold), spike_index(inputs, D, threshold)
    else:
        spike, index = table_spike(cast(ActivationInputs, inputs), D, threshold), math.inf
    return Case(inputs=inputs, D=D, threshold=threshold, spike=spike, spike_index=index)
