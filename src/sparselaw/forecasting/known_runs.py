"""The runs a forecast knows, in an order that depends on their values alone; and whether they allow one."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

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
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{name: v[rows] for name, v in values.items() if v is not None})

    @property
    def log_compute(self) -> FloatArray:
        """ln(N D): compute but for a constant."""
        return np.asarray(np.log(self.N) + np.log(self.D))

    def in_order(self) -> KnownRuns:
        """Cheapest first; of the runs of one budget every other size first, so that any cut leaves small and
        large models on both sides."""
        budget = self.log_compute.round(DIGITS)
        keys: list[FloatArray | IntArray] = [self.scale, self.loss, self.D, self.N, budget]
        if self.group is not None:
            # Labels follow the order of the table; what a group consists of does not.
            _, member, count = np.unique(self.group, return_inverse=True, return_counts=True)
            least = np.full((2, len(count)), np.inf)
            for smallest, values in zip(least, (self.loss, self.log_compute), strict=True):
                np.minimum.at(smallest, member, values)
            keys = [count[member], *least[:, member], *keys]
        first = np.lexsort(keys)
        place = np.cumsum(np.diff(budget[first], prepend=-np.inf) > 0.0)
        rank = np.arange(len(self)) - np.searchsorted(place, place)
        return self.take(first[np.lexsort([rank, rank % 2, place])])

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
    scale = np.ones(loss.size) if scale is None else scale
    return KnownRuns(N=N, D=D, loss=loss, scale=scale, group=group, row=row)


FEWEST_ROWS, FEWEST_SIZES = 10, 3
LARGEST_CORRELATION = 0.995
LEAST_RANGE = 2.0  # of compute, 90th over 10th percentile
LARGEST_FALL = 10.0  # of the loss, highest over lowest: beyond it no floor is in sight
FARTHEST = 1.5  # spans of log compute ahead of the runs


def refusal(runs: KnownRuns) -> InputError | None:
    """Why these runs cannot be extrapolated, or None."""
    if len(runs) < FEWEST_ROWS:
        return InputError(
            "rows", len(runs), f"is too few for a forecast, which needs {FEWEST_ROWS}", "add runs"
        )
    for name, values in (("N", runs.N), ("D", runs.D)):
        distinct = np.unique(values).size
        if distinct < FEWEST_SIZES:
            few = f"is too few for a forecast, which needs {FEWEST_SIZES}"
            return InputError(f"distinct {name}", distinct, few, f"add runs with other {name}")
    correlation = float(np.corrcoef(np.log(runs.N), np.log(runs.D))[0, 1])
    if abs(correlation) > LARGEST_CORRELATION:
        remedy = "add runs with other D/N" if correlation > 0 else "add runs at other budgets"
        unknown = "leaves one size unknown without the other"
        return InputError("correlation of ln N and ln D", f"{correlation:.4f}", unknown, remedy)
    low, high = np.quantile(runs.log_compute, [0.1, 0.9])
    if high - low < np.log(LEAST_RANGE):
        narrow = f"is too narrow for a forecast: 90th over 10th percentile below {LEAST_RANGE:g}"
        remedy = "add cheaper or more expensive runs"
        return InputError("compute range", f"{np.exp(high - low):.3g}", narrow, remedy)
    if np.ptp(runs.loss) == 0.0:
        return InputError("loss", f"{runs.loss[0]:g}", "is the same in every row", "add runs that differ")
    return None


def sentence(refused: InputError) -> str:
    """Without the remedy."""
    return f"{refused.name}={refused.value} {refused.condition}"


def check_runs(runs: KnownRuns) -> None:
    """Raise the refusal, if there is one."""
    found = refusal(runs)
    if found is not None:
        raise found


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
    return no_floor(runs) if found is None else sentence(found)


def spans_ahead(runs: KnownRuns, N: FloatArray, D: FloatArray) -> FloatArray:
    """How far each point lies beyond the most expensive run, in the runs' own span of log compute."""
    known = runs.log_compute
    return np.asarray((np.log(N) + np.log(D) - known.max()) / np.ptp(known))
