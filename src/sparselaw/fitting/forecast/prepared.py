"""From a table of runs to a forecast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.errors import InputError, check_positive
from sparselaw.fitting.fitted_runs import Runs
from sparselaw.fitting.forecast.average import Average, average
from sparselaw.fitting.forecast.backtest import BackTest, backtest
from sparselaw.fitting.forecast.forecast_result import Forecast, ForecastPoint, Pull, in_words
from sparselaw.fitting.forecast.refusals import FARTHEST, check_runs, no_floor, spans_ahead
from sparselaw.fitting.rows import Source, as_table, clean_runs
from sparselaw.fitting.select import select

if TYPE_CHECKING:
    from sparselaw.fitting.fitted_law import FittedLaw

SHOWN_PULLS = 5
LOW_COVERAGE = 0.75  # of a back-test: below it the status is not ok


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Runs that allow a forecast, their posterior and their back-test: points are then cheap."""

    runs: Runs
    average: Average
    backtest: tuple[BackTest, ...]
    dropped: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    pooled: tuple[str, ...] = ()  # columns that tell groups of rows apart, in words

    def forecast(self, points: Sequence[tuple[float, float]], budgets: Sequence[float] = ()) -> Forecast:
        """``budgets`` are the ones that the points spend, where they came from budgets."""
        at = check_points(points)
        N, D = at[:, 0], at[:, 1]
        ahead = spans_ahead(self.runs, N, D)
        losses = self.average.losses(N, D)
        pulls = self.average.pulls(N, D)
        found = tuple(
            ForecastPoint(
                N=float(N[i]),
                D=float(D[i]),
                loss=losses[i],
                ahead=float(ahead[i]),
                pulls=self._largest(pulls[i]),
                budget=float(budgets[i]) if budgets else None,
            )
            for i in range(len(at))
        )
        said = self._findings(found)
        return Forecast(
            points=found,
            law=self.average.law(),
            params=self.average.parameters(),
            backtest=self.backtest,
            status=said[0][0] if said else "ok",
            warnings=(*self.notes, *(words for _, words in said)),
            rows_used=len(self.average.used),
            noise=self.average.noise,
            discrepancy=self.average.tau,
            dropped=self.dropped,
            runs=self.runs,
            average=self.average,
        )

    def _largest(self, pulls: FloatArray) -> tuple[Pull, ...]:
        first = np.argsort(-np.abs(pulls), kind="stable")[:SHOWN_PULLS]
        used = self.runs.take(self.average.used)
        return tuple(
            Pull(
                N=float(used.N[i]),
                D=float(used.D[i]),
                loss=float(used.loss[i]),
                moves=float(np.expm1(pulls[i])),
            )
            for i in first
        )

    def _findings(self, points: Sequence[ForecastPoint]) -> list[tuple[str, str]]:
        """(status, words), the gravest first."""
        found = []
        if not self.average.converged:
            found.append(("not-converged", "the law did not converge: the interval may be wrong"))
        unsuited = no_floor(self.runs)
        if unsuited:
            found.append(("no-floor", f"{unsuited}: fit a law without one instead"))
        found += [("far", _far(point)) for point in points if point.ahead > FARTHEST]
        found += [("pooled", words) for words in self.pooled]
        found += [
            ("back-test", f"missed too often before: {in_words(test)}")
            for test in self.backtest
            if test.covered < LOW_COVERAGE
        ]
        return found


def _far(point: ForecastPoint) -> str:
    return (
        f"N = {point.N:.3g}, D = {point.D:.3g} is {point.ahead:.1f} spans of log compute ahead of the runs; "
        f"intervals were checked up to {FARTHEST:g}"
    )


def prepare_forecast(
    runs: Source | FittedLaw,
    *,
    group: str | None = None,
    columns: Mapping[str, str] | None = None,
    where: str | Sequence[str] = (),
    back_tests: bool = True,
) -> Prepared:
    """Reads and judges the runs, and takes everything from them that does not hang on the points."""
    from sparselaw.fitting.fitted_law import FittedLaw

    notes: tuple[str, ...] = ()
    pooled: tuple[str, ...] = ()
    if isinstance(runs, FittedLaw):
        used, dropped = runs.runs, dict(runs.dropped)
    else:
        if where:
            runs = select(as_table(runs), (where,) if isinstance(where, str) else where)
        clean = clean_runs(runs, columns=columns, group=group)
        used, dropped, notes = clean.runs, clean.dropped, clean.notes
        pooled = tuple(column.words() for column in clean.pooled if column.kind != "seed")
    check_runs(used)
    found = average(used)
    thin = len(found.used) < len(used)
    return Prepared(
        runs=used,
        average=found,
        backtest=backtest(used) if back_tests else (),
        dropped=dropped,
        pooled=pooled,
        notes=(*notes, *([f"{len(found.used)} of {len(used)} rows used, evenly along compute"] * thin)),
    )


def forecast_at(
    runs: Source | FittedLaw,
    at: Sequence[tuple[float, float]],
    *,
    group: str | None = None,
    columns: Mapping[str, str] | None = None,
    where: str | Sequence[str] = (),
) -> Forecast:
    """The losses at the points ``at``, (N, D) each."""
    check_points(at)
    return prepare_forecast(runs, group=group, columns=columns, where=where).forecast(at)


def check_points(at: Sequence[tuple[float, float]]) -> FloatArray:
    """(points, 2), all positive."""
    pairs = list(at)
    if not pairs:
        raise InputError("at", "", "has no points", "give (N, D) of at least one run")
    for pair in pairs:
        if not hasattr(pair, "__len__") or len(pair) != 2:
            raise InputError("at", pair, "is not a pair (N, D)", "write at=[(N, D)]")
    return np.array([[check_positive("N", N), check_positive("D", D)] for N, D in pairs])
