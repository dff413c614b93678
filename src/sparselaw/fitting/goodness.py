"""How well a law fits, in per cent of the loss: what a reader wants to know before any parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.fitting.fitted_runs import Runs

WORST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstRow:
    """A run far from the law. ``row`` counts the rows of the table from 1, the header not counted."""

    row: int
    N: float
    D: float
    loss: float
    percent: float  # by how much its loss lies above the law

    def words(self) -> str:
        return f"row {self.row} (N = {self.N:.4g}, D = {self.D:.4g}) {self.percent:+.2g} %"

    def as_dict(self) -> dict[str, Any]:
        return {"row": self.row, "N": self.N, "D": self.D, "loss": self.loss, "percent": self.percent}


@dataclass(frozen=True, slots=True, kw_only=True)
class Goodness:
    """With r = 100 (log loss - log law): ``sd`` is its root mean square, ``mad`` the median of its size."""

    sd: float
    mad: float
    worst: tuple[WorstRow, ...]  # worst first

    def words(self) -> str:
        """One line."""
        return f"residuals: SD {self.sd:.3g} %, half of the runs within {self.mad:.3g} %"

    def worst_words(self) -> str:
        return "worst: " + ", ".join(row.words() for row in self.worst)

    def as_dict(self) -> dict[str, Any]:
        return {"sd": self.sd, "mad": self.mad, "worst": [row.as_dict() for row in self.worst]}


def goodness(residuals: FloatArray, runs: Runs) -> Goodness:
    """Of residuals in log loss, row by row."""
    percent = 100.0 * residuals
    order = np.argsort(-np.abs(percent), kind="stable")[:WORST]
    rows = np.arange(len(runs)) if runs.row is None else runs.row
    worst = tuple(
        WorstRow(
            row=int(rows[i]) + 1,
            N=float(runs.N[i]),
            D=float(runs.D[i]),
            loss=float(runs.loss[i]),
            percent=float(100.0 * np.expm1(residuals[i])),
        )
        for i in order
    )
    return Goodness(
        sd=float(np.sqrt(np.mean(percent**2))), mad=float(np.median(np.abs(percent))), worst=worst
    )
