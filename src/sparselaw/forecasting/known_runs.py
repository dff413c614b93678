"""The runs a forecast knows, in an order that depends on their values alone; thinned where there are many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray, IntArray

DIGITS = 9  # of ln(N D): budgets that agree so far are one budget


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRuns:
    """Positive and finite. ``group`` numbers the whole runs that rows belong to, if any."""

    N: FloatArray
    D: FloatArray
    loss: FloatArray
    scale: FloatArray  # relative standard errors over their median; ones where the table has none
    group: IntArray | None = None
    row: IntArray | None = None  # where each stood in the table, from zero

    def __len__(self) -> int:
        return self.loss.size

    def take(self, rows: IntArray) -> KnownRuns:
        return KnownRuns(
            N=self.N[rows],
            D=self.D[rows],
            loss=self.loss[rows],
            scale=self.scale[rows],
            group=None if self.group is None else self.group[rows],
            row=None if self.row is None else self.row[rows],
        )

    @property
    def log_compute(self) -> FloatArray:
        """ln(N D): compute but for a constant."""
        return np.asarray(np.log(self.N) + np.log(self.D))

    def in_order(self) -> KnownRuns:
        """Cheapest first; of the runs of one budget every other size first, so that any cut leaves small and
        large models on both sides."""
        keys: list[FloatArray | IntArray] = [
            self.scale,
            self.loss,
            self.D,
            self.N,
            self.log_compute.round(DIGITS),
        ]
        if self.group is not None:
            # Labels follow the order of the table; what a group consists of does not.
            _, place, count = np.unique(self.group, return_inverse=True, return_counts=True)
            keys = [count[place], _extreme(self.loss, place), _extreme(self.log_compute, place), *keys]
        first = np.lexsort(keys)
        budget = np.cumsum(np.diff(keys[-1][first], prepend=-np.inf) > 0.0)
        rank = np.arange(len(self)) - np.searchsorted(budget, budget)
        return self.take(first[np.lexsort([rank, rank % 2, budget])])

    def thinned(self, most: int) -> KnownRuns:
        """At most so many rows, evenly along the order, first and last included."""
        if len(self) <= most:
            return self
        return self.take(np.linspace(0, len(self) - 1, most).round().astype(np.int64))


def known_runs(
    N: FloatArray,
    D: FloatArray,
    loss: FloatArray,
    scale: FloatArray | None = None,
    group: IntArray | None = None,
    row: IntArray | None = None,
) -> KnownRuns:
    """From arrays; without ``scale`` every row is as sure as any other."""
    N, D, loss = (np.asarray(values, dtype=np.float64) for values in (N, D, loss))
    return KnownRuns(
        N=N, D=D, loss=loss, scale=np.ones(loss.size) if scale is None else scale, group=group, row=row
    )


def _extreme(values: FloatArray, place: IntArray) -> FloatArray:
    """The smallest value of the group of each row."""
    found = np.full(int(place.max()) + 1, np.inf)
    np.minimum.at(found, place, values)
    return np.asarray(found[place])
