"""When runs do not allow a forecast, said plainly; and when one reaches too far."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError
from sparselaw.forecasting.known_runs import KnownRuns

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


def spans_ahead(runs: KnownRuns, N: FloatArray, D: FloatArray) -> FloatArray:
    """How far each point lies beyond the most expensive run, in the runs' own span of log compute."""
    known = runs.log_compute
    return np.asarray((np.log(N) + np.log(D) - known.max()) / np.ptp(known))
