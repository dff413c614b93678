"""What a forecast hands out: points with intervals, the law behind them, and its back-test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sparselaw.fitting.fitted_runs import Runs
from sparselaw.fitting.forecast.average import Average
from sparselaw.fitting.forecast.backtest import BackTest
from sparselaw.interval import Interval
from sparselaw.laws import CoupledLaw
from sparselaw.plain import html_table

if TYPE_CHECKING:
    import pandas as pd

NO_END = "the interval has no end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pull:
    """A run, and the share by which it moves the forecast loss, against the same forecast without it."""

    N: float
    D: float
    loss: float
    moves: float

    def as_dict(self) -> dict[str, Any]:
        return {"N": self.N, "D": self.D, "loss": self.loss, "moves": self.moves}


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastPoint:
    """A run not yet made. ``ahead`` is how far it lies beyond the dearest run, in spans of log compute."""

    N: float
    D: float
    loss: Interval
    ahead: float
    pulls: tuple[Pull, ...] = ()
    budget: float | None = None

    def as_dict(self) -> dict[str, Any]:
        result: dict[str, Any] = {} if self.budget is None else {"budget": self.budget}
        return result | {
            "N": self.N,
            "D": self.D,
            "loss": self.loss.plain(NO_END),
            "ahead": self.ahead,
            "pulls": [pull.as_dict() for pull in self.pulls],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Losses of runs not yet made, with 95 % intervals for the loss itself.

    ``status`` is ``ok``, or the first of ``not-converged``, ``no-floor`` (the losses fall by decades),
    ``far`` (a point lies more than 1.5 spans of log compute ahead), ``pooled`` (a column tells groups of
    rows apart) and ``back-test`` (too many of the dearer runs would have been missed). ``noise`` is the
    scatter of a single run, ``discrepancy`` the typical size of what the law does not know; in log loss.
    """

    points: tuple[ForecastPoint, ...]
    law: CoupledLaw
    params: Mapping[str, Interval]
    backtest: tuple[BackTest, ...]
    status: str
    warnings: tuple[str, ...]
    rows_used: int
    noise: float
    discrepancy: float
    dropped: Mapping[str, int] = field(default_factory=dict)
    runs: Runs = field(repr=False)
    average: Average = field(repr=False)

    @property
    def coupling(self) -> Interval:
        """g of the coupled law."""
        return self.params["g"]

    def meaning(self) -> str:
        """What the coupling says, in a sentence."""
        g = self.coupling
        shown = f"coupling g = {g.best:.2f} [{g.low:.2f}, {g.high:.2f}]: "
        if g.high < 1.0:
            return shown + (
                "the scarcer of N and D decides more than in a sum (g = 1, Chinchilla's law), "
                "which would put the floor E too high here"
            )
        if g.low > 1.0:
            return shown + "too small an N and too few data make each other worse than their sum (g = 1)"
        return shown + "these runs do not tell it from a plain sum of both terms (g = 1, Chinchilla's law)"

    def title(self) -> str:
        return f"Forecast by the {self.law.name} law with a smooth discrepancy, {self.rows_used} runs"

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "points": [point.as_dict() for point in self.points],
            "law": self.law.name,
            "params": {name: v.plain(NO_END) for name, v in self.params.items()},
            "coupling": self.coupling.plain(NO_END),
            "coupling_meaning": self.meaning(),
            "noise": self.noise,
            "discrepancy": self.discrepancy,
            "backtest": [test.as_dict() for test in self.backtest],
            "status": self.status,
            "rows_used": self.rows_used,
            "rows_dropped": dict(self.dropped),
            "warnings": list(self.warnings),
        }

    def to_frame(self) -> pd.DataFrame:
        """One row for each point: N, D, low, best, high, ahead (and budget, where asked by budget)."""
        import pandas as pd

        rows = []
        for point in self.points:
            row: dict[str, Any] = {} if point.budget is None else {"budget": point.budget}
            rows.append(row | {"N": point.N, "D": point.D, **point.loss.as_dict(), "ahead": point.ahead})
        return pd.DataFrame(rows)

    def backtest_frame(self) -> pd.DataFrame:
        """One row for each cut."""
        import pandas as pd

        keys = ("cutoff", "fitted", "runs", "covered", "error", "bias", "width", "reason")
        return pd.DataFrame([{key: getattr(test, key) for key in keys} for test in self.backtest])

    def _repr_html_(self) -> str:
        rows = [[f"{p.N:.4g}", f"{p.D:.4g}", str(p.loss)] for p in self.points]
        notes = [f"status: {self.status}", *self.warnings, self.meaning(), *map(in_words, self.backtest)]
        return html_table(self.title(), ["N", "D", "loss, best [95 % interval]"], rows, notes)


def in_words(test: BackTest) -> str:
    """A back-test in a line."""
    stopped = f"stopped at the cheapest {100 * test.cutoff:.0f} % of the runs"
    if test.reason:
        return f"{stopped}: no forecast, {test.reason}"
    return (
        f"{stopped}: {100 * test.covered:.0f} % of the {test.runs} dearer ones inside their interval, "
        f"rms error {100 * test.error:.2g} %"
    )
