"""How well a law fits, in per cent of the loss: what a reader wants to know before any parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.fitting.fitted_runs import Runs

WORST = 3
NORMAL = 1.4826  # the standard deviation of normal numbers over the median of their sizes
OUTLYING = 15.0  # typical residuals
LEAST = 0.02  # of the loss: nobody minds an outlier smaller than this
SAME = 0.01  # in log compute
LEAST_LAST = 0.005  # the same for the most expensive run, which decides an extrapolation


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstRow:
    """A run far from the law. ``row`` counts the rows of the table from 1, the header not counted."""

    row: int
    N: float
    D: float
    loss: float
    percent: float  # by how much its loss lies above the law
    times: float  # its residual over the typical one

    def words(self) -> str:
        return f"row {self.row} (N = {self.N:.4g}, D = {self.D:.4g}) {self.percent:+.2g} %"

    def as_dict(self) -> dict[str, Any]:
        return {"row": self.row, "N": self.N, "D": self.D, "loss": self.loss, "percent": self.percent}


@dataclass(frozen=True, slots=True, kw_only=True)
class Goodness:
    """With r = 100 (log loss - log law): ``sd`` is its root mean square, ``mad`` the median of its size.

    ``typical`` is a standard deviation that no single row moves: 1.48 times the median size of r, of which
    as many of the smallest are left out as the law has parameters: a law can pass through that many runs.
    """

    sd: float
    mad: float
    typical: float
    worst: tuple[WorstRow, ...]  # worst first
    outliers: tuple[WorstRow, ...]  # more than 15 typical residuals and two per cent from the law
    most_expensive: WorstRow  # the run with the largest N D; of several, the furthest from the law

    def words(self) -> str:
        """One line."""
        return f"residuals: SD {self.sd:.3g} %, half of the runs within {self.mad:.3g} %"

    def worst_words(self) -> str:
        return "worst: " + ", ".join(row.words() for row in self.worst)

    def outlier_words(self) -> tuple[str, ...]:
        """What is said of rows that do not belong, and of the run that matters most."""
        said = [
            f"{row.words()} lies {row.times:.0f} typical residuals from the law: if it diverged or was "
            "misread, leave it out"
            for row in self.outliers[:WORST]
        ]
        if len(self.outliers) > WORST:
            said.append(f"{len(self.outliers) - WORST} more rows lie as far out")
        last = self.most_expensive
        known = any(row.row == last.row for row in self.outliers)
        if last.times >= OUTLYING and abs(last.percent) > 100.0 * LEAST_LAST and not known:
            said.append(
                f"the most expensive run, {last.words()}, lies {last.times:.0f} typical residuals away"
            )
        return tuple(said)

    def as_dict(self) -> dict[str, Any]:
        return {
            "sd": self.sd,
            "mad": self.mad,
            "worst": [row.as_dict() for row in self.worst],
        }


def goodness(residuals: FloatArray, runs: Runs, parameters: int) -> Goodness:
    """Of residuals in log loss, row by row, for a law with so many ``parameters``."""
    size = np.abs(residuals)
    order = np.argsort(-size, kind="stable")
    typical = typical_residual(residuals, parameters)
    rows = np.arange(len(runs)) if runs.row is None else runs.row
    times = size / max(typical, 1e-12)

    def one(i: int) -> WorstRow:
        with np.errstate(over="ignore"):
            percent = float(100.0 * np.expm1(residuals[i]))
        return WorstRow(
            row=int(rows[i]) + 1,
            N=float(runs.N[i]),
            D=float(runs.D[i]),
            loss=float(runs.loss[i]),
            percent=percent,
            times=float(times[i]),
        )

    compute = np.log(runs.N) + np.log(runs.D)
    last = int(np.argmax(np.where(compute > compute.max() - SAME, size, -1.0)))
    far = [i for i in order if times[i] > OUTLYING and size[i] > LEAST]
    return Goodness(
        sd=float(100.0 * np.sqrt(np.mean(residuals**2))),
        mad=float(100.0 * np.median(size)),
        typical=100.0 * typical,
        worst=tuple(one(i) for i in order[:WORST]),
        outliers=tuple(one(i) for i in far),
        most_expensive=one(last),
    )


def typical_residual(residuals: FloatArray, parameters: int) -> float:
    """Robust, in log loss."""
    size = np.sort(np.abs(residuals))
    left = size[min(parameters, size.size - 1) :]
    return float(NORMAL * np.median(left))
