"""The runs a forecast knows, in an order that depends on their values alone; and whether they allow one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.errors import InputError

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
    seed: FloatArray | None = None  # where known; runs of one N, D and seed share noise between recipes

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
            seed=None if self.seed is None else self.seed[rows],
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


FEWEST_ROWS, FEWEST_SIZES = 10, 3
LARGEST_CORRELATION = 0.995
LEAST_RANGE = 2.0  # of compute, 90th over 10th percentile
LARGEST_FALL = 10.0  # of the loss, highest over lowest: beyond it no floor is in sight
FARTHEST = 1.5  # spans of log compute ahead of the runs


class Refusal(NamedTuple):
    """The parts of an InputError."""

    name: str
    value: object
    condition: str
    remedy: str

    def sentence(self) -> str:
        return f"{self.name}={self.value} {self.condition}"


def refusal(runs: KnownRuns) -> Refusal | None:
    """Why these runs cannot be extrapolated, or None."""
    if len(runs) < FEWEST_ROWS:
        return Refusal("rows", len(runs), f"is too few for a forecast, which needs {FEWEST_ROWS}", "add runs")
    for name in ("N", "D"):
        distinct = np.unique(getattr(runs, name)).size
        if distinct < FEWEST_SIZES:
            return Refusal(
                f"distinct {name}", distinct, f"is too few for a forecast, which needs {FEWEST_SIZES}",
                f"add runs with other {name}",
            )  # fmt: skip
    log_N, log_D = np.log(runs.N), np.log(runs.D)
    correlation = float(np.corrcoef(log_N, log_D)[0, 1])
    if abs(correlation) > LARGEST_CORRELATION:
        return Refusal(
            "correlation of ln N and ln D", f"{correlation:.4f}", "leaves one size unknown without the other",
            "add runs with other D/N" if correlation > 0 else "add runs at other budgets",
        )  # fmt: skip
    low, high = np.quantile(runs.log_compute, [0.1, 0.9])
    if high - low < np.log(LEAST_RANGE):
        return Refusal(
            "compute range", f"{np.exp(high - low):.3g}",
            f"is too narrow for a forecast: 90th over 10th percentile below {LEAST_RANGE:g}",
            "add cheaper or more expensive runs",
        )  # fmt: skip
    if np.ptp(runs.loss) == 0.0:
        return Refusal("loss", f"{runs.loss[0]:g}", "is the same in every row", "add runs that differ")
    return None


def check_runs(runs: KnownRuns) -> None:
    """Raise the refusal, if there is one."""
    found = refusal(runs)
    if found is not None:
        raise InputError(*found)


def no_floor(runs: KnownRuns) -> str:
    """Why the prior on the floor does not suit these runs; empty where it does.

    It supposes a floor of about half the lowest loss, as language models have.
    """
    fall = float(runs.loss.max() / runs.loss.min())
    if fall <= LARGEST_FALL:
        return ""
    return f"the losses fall by a factor of {fall:.3g}, and a forecast supposes a floor near the lowest"


def unforeseeable(runs: KnownRuns) -> str:
    """Why nothing is forecast of these runs; empty where it is."""
    found = refusal(runs)
    return no_floor(runs) if found is None else found.sentence()


def spans_ahead(runs: KnownRuns, N: FloatArray, D: FloatArray) -> FloatArray:
    """How far each point lies beyond the most expensive run, in the runs' own span of log compute."""
    known = runs.log_compute
    return np.asarray((np.log(N) + np.log(D) - known.max()) / np.ptp(known))
