"""What the forecast would have said, had one stopped earlier: the cheaper runs known, the dearer foretold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.fitting.fitted_runs import Runs
from sparselaw.fitting.forecast.average import average
from sparselaw.fitting.forecast.refusals import log_compute, refusal
from sparselaw.interval import Z95
from sparselaw.plain import put

CUTOFFS = (0.5, 0.7)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackTest:
    """Fitted on the cheapest ``cutoff`` of the runs: how the other ``runs`` turned out.

    ``covered`` is the share inside its 95 % interval, ``error`` the root mean square of the log error and
    ``bias`` its mean (positive: the losses were higher than foretold), ``width`` the median of the interval's
    width in log loss. ``reason`` says why there is no such forecast.
    """

    cutoff: float
    fitted: int
    runs: int
    covered: float
    error: float
    bias: float
    width: float
    reason: str = ""
    rows: IntArray = field(repr=False)  # row numbers of the runs foretold
    mean: FloatArray = field(repr=False)  # of their log losses
    sd: FloatArray = field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        result: dict[str, Any] = {"cutoff": self.cutoff, "fitted": self.fitted, "runs": self.runs}
        for key in ("covered", "error", "bias", "width"):
            put(result, key, getattr(self, key), self.reason)
        return result


def backtest(runs: Runs, cutoffs: tuple[float, ...] = CUTOFFS) -> tuple[BackTest, ...]:
    return tuple(back_test_at(runs, cutoff) for cutoff in cutoffs)


def back_test_at(runs: Runs, cutoff: float) -> BackTest:
    """Runs of the same compute stay in the order of the table."""
    order = np.argsort(log_compute(runs).round(9), kind="stable")
    count = round(cutoff * len(runs))
    known, rows = runs.take(np.sort(order[:count])), np.sort(order[count:])
    refused = refusal(known)
    if refused is not None:
        return _record(cutoff, count, rows, *(np.full(rows.size, np.nan),) * 3, reason=refused.sentence())
    later = runs.take(rows)
    mean, sd = average(known).log_losses(later.N, later.D)
    return _record(cutoff, count, rows, np.log(later.loss), mean, sd)


def _record(
    cutoff: float,
    fitted: int,
    rows: IntArray,
    truth: FloatArray,
    mean: FloatArray,
    sd: FloatArray,
    reason: str = "",
) -> BackTest:
    error = truth - mean
    return BackTest(
        cutoff=cutoff,
        fitted=fitted,
        runs=rows.size,
        covered=float("nan") if reason else float(np.mean(np.abs(error) <= Z95 * sd)),
        error=float(np.sqrt(np.mean(error**2))),
        bias=float(np.mean(error)),
        width=float(np.median(2.0 * Z95 * sd)),
        reason=reason,
        rows=rows,
        mean=mean,
        sd=sd,
    )
