"""One D and all that every method needs to know of it."""

from __future__ import annotations

from dataclasses import dataclass

from sparselaw.failure.draw import MOST_NONZEROS, DataLaw, data_law, mean_nonzeros
from sparselaw.inputs import Inputs
from sparselaw.theory.failure_law import spike_index, spike_probability


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
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
    return Case(
        inputs=inputs,
        D=D,
        threshold=threshold,
        spike=spike_probability(inputs, D, threshold),
        spike_index=spike_index(inputs, D, threshold),
    )
