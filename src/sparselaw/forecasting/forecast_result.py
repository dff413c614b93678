"""What a forecast hands out: points with intervals, the law behind them, and its back-test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import check_positive
from sparselaw.forecasting.backtest import BackTest
from sparselaw.forecasting.known_runs import KnownRuns
from sparselaw.forecasting.predictive import Predictive
from sparselaw.forecasting.refusals import spans_ahead
from sparselaw.interval import Interval, check_level
from sparselaw.laws import CoupledLaw
from sparselaw.records import html_table

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
    """A run not yet made. ``sd`` is the standard deviation of the loss; ``ahead`` is how far the run lies
    beyond the most expensive one, in spans of log compute."""

    N: float
    D: float
    loss: Interval
    sd: float
    ahead: float
    pulls: tuple[Pull, ...] = ()
    budget: float | None = None

    def as_dict(self) -> dict[str, Any]:
        result: dict[str, Any] = {} if self.budget is None else {"budget": self.budget}
        return result | {
            "N": self.N,
            "D": self.D,
            "loss": self.loss.to_dict(NO_END),
            "sd": self.sd,
            "ahead": self.ahead,
            "pulls": [pull.as_dict() for pull in self.pulls],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Losses of runs not yet made, with intervals for the loss itself.

    ``status`` is ``ok``, or the first of ``not-converged``, ``no-floor`` (the losses fall by decades),
    ``far`` (a point lies more than 1.5 spans of log compute ahead), ``pooled`` (a column tells groups of
    rows apart) and ``back-test`` (it was further off than expected, and the interval is wider for it).
    ``level`` is the share that the intervals of the points are meant to hold; those of ``params`` are 95 %.
    ``noise`` is the scatter of a single run, ``discrepancy`` the size of the wiggles about the law, both in
    log loss.
    """

    points: tuple[ForecastPoint, ...]
    level: float
    law: CoupledLaw
    params: Mapping[str, Interval]
    backtest: tuple[BackTest, ...]
    status: str
    warnings: tuple[str, ...]
    rows_used: int
    noise: float
    discrepancy: float
    dropped: Mapping[str, int] = field(default_factory=dict)
    runs: KnownRuns = field(repr=False)
    predictive: Predictive = field(repr=False)

    def predict(
        self, N: Any, D: Any, level: float | None = None
    ) -> ForecastPoint | tuple[ForecastPoint, ...]:
        """The loss of a run at any other sizes.

        Parameters
        ----------
        N, D
            Sizes of the run, or arrays of them that broadcast.
        level
            Share that the interval is meant to hold; that of the forecast unless given.

        Returns
        -------
        ForecastPoint or tuple of ForecastPoint
            One point for numbers, a tuple for arrays.

        Examples
        --------
        >>> import sparselaw as sl
        >>> runs = {"N": [1e8, 2e8, 4e8] * 4, "D": [b * 1e9 for b in (2, 4, 8, 16) for _ in range(3)]}
        >>> runs["loss"] = [2 + 500 / n**0.35 + 900 / d**0.33 for n, d in zip(runs["N"], runs["D"])]
        >>> found = sl.forecast(runs, at=[(1e9, 3e10)])
        >>> point = found.predict(8e8, 3e10)
        >>> bool(point.loss.low < 2 + 500 / 8e8**0.35 + 900 / 3e10**0.33 < point.loss.high)
        True
        """
        both = np.broadcast_arrays(np.asarray(N, np.float64), np.asarray(D, np.float64))
        n, d = (np.ravel(sizes) for sizes in both)
        for name, sizes in (("N", n), ("D", d)):
            for size in sizes:
                check_positive(name, size)
        level = self.level if level is None else check_level(level)
        losses, sd = self.predictive.intervals(n, d, level), self.predictive.sd(n, d)
        ahead = spans_ahead(self.runs, n, d)
        found = tuple(
            ForecastPoint(
                N=float(n[i]), D=float(d[i]), loss=losses[i], sd=float(sd[i]), ahead=float(ahead[i])
            )
            for i in range(n.size)
        )
        return found[0] if np.ndim(N) == 0 and np.ndim(D) == 0 else found

    @property
    def sd(self) -> FloatArray:
        """(points,): standard deviation of the loss at every point asked for."""
        return np.array([point.sd for point in self.points])

    def quantiles(self, probabilities: Any) -> FloatArray:
        """Quantiles of the loss at the points asked for.

        Parameters
        ----------
        probabilities
            Numbers between 0 and 1.

        Returns
        -------
        array (points, probabilities)
        """
        return self.predictive.quantiles(*self._sizes(), probabilities)

    def sample(self, n: int, *, seed: int = 0) -> FloatArray:
        """Draws of the loss of a run at each point; one draw is of all points at once.

        Parameters
        ----------
        n
            Number of draws.
        seed
            The same seed gives the same draws.

        Returns
        -------
        array (n, points)
        """
        return np.asarray(np.exp(self.predictive.log_draws(*self._sizes(), n, seed=seed)))

    def _sizes(self) -> tuple[FloatArray, FloatArray]:
        return np.array([p.N for p in self.points]), np.array([p.D for p in self.points])

    @property
    def widening(self) -> float:
        """Width of the intervals over what it would be without a back-test."""
        return self.predictive.calibration.widening

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
        return f"Forecast by the {self.law.name} law with a drifting discrepancy, {self.rows_used} runs"

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "points": [point.as_dict() for point in self.points],
            "level": self.level,
            "law": self.law.name,
            "params": {name: v.to_dict(NO_END) for name, v in self.params.items()},
            "coupling": self.coupling.to_dict(NO_END),
            "coupling_meaning": self.meaning(),
            "noise": self.noise,
            "discrepancy": self.discrepancy,
            "backtest": [test.as_dict() for test in self.backtest],
            "backtest_widening": self.widening,
            "status": self.status,
            "rows_used": self.rows_used,
            "rows_dropped": dict(self.dropped),
            "warnings": list(self.warnings),
        }

    def to_frame(self) -> pd.DataFrame:
        """One row for each point: N, D, low, best, high, sd, ahead (and budget, where asked by budget)."""
        import pandas as pd

        rows = []
        for point in self.points:
            row: dict[str, Any] = {} if point.budget is None else {"budget": point.budget}
            rows.append(
                row
                | {"N": point.N, "D": point.D, **point.loss.as_dict(), "sd": point.sd, "ahead": point.ahead}
            )
        return pd.DataFrame(rows)

    def backtest_frame(self) -> pd.DataFrame:
        """One row for each cut."""
        import pandas as pd

        keys = ("cutoff", "fitted", "runs", "covered", "error", "bias", "width", "reason")
        return pd.DataFrame([{key: getattr(test, key) for key in keys} for test in self.backtest])

    def _repr_html_(self) -> str:
        rows = [[f"{p.N:.4g}", f"{p.D:.4g}", str(p.loss)] for p in self.points]
        notes = [
            f"status: {self.status}",
            *self.warnings,
            self.meaning(),
            *(test.words() for test in self.backtest),
        ]
        return html_table(
            self.title(), ["N", "D", f"loss, best [{100 * self.level:g} % interval]"], rows, notes
        )
